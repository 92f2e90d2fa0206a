#!/usr/bin/env python3
"""Make a lake of raw events of any size, as an ingest service would leave it.

usage: gen_lake.py FOLDER [--events N] [--snapshots S] [--vehicles V] [--days D] [--start INSTANT] [--catalog DSN]

Every raw event is a status of ten signals (eight numbers, a text, a position), the vehicles taking turns over the whole span; every
20th comes with a behaviour event under the same id. Same arguments, same lake. Run it with scripts/venv-python.sh.
"""
import argparse
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))

from support import lake  # noqa: E402

SIGNALS_PER_EVENT = 10
BEHAVIOUR_EVERY = 20
# Parameters: first event, event after the last, vehicles, start, microseconds between events.
INSERT = f"""
INSERT INTO lake.raw_events
WITH turn AS (
    SELECT i, i % $vehicles AS vehicle, i // $vehicles AS round, $start::TIMESTAMPTZ + to_microseconds(i * $step) AS happened,
           (hash(i) % 10000) / 100.0 AS noise
    FROM range($first, $after) AS numbers(i)
),
described AS (
    SELECT *, 'did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF:' || (vehicle + 1) AS subject,
           'did:erc721:137:0x9c94C395cBcBDe662235E0A9d3bB87Ad708561BA:' || (vehicle + 1) AS producer,
           strftime(happened, '%Y-%m-%dT%H:%M:%S.%gZ') AS instant
    FROM turn
),
payloads AS (
    SELECT *, 'dimo.status' AS type, json_object('signals', [
        json_object('name', 'speed', 'timestamp', instant, 'value', noise),
        json_object('name', 'powertrainCombustionEngineSpeed', 'timestamp', instant, 'value', (600 + noise * 30)::INTEGER),
        json_object('name', 'powertrainFuelSystemRelativeLevel', 'timestamp', instant, 'value', 100 - round % 100),
        json_object('name', 'powertrainTransmissionTravelledDistance', 'timestamp', instant, 'value', 10000 + round),
        json_object('name', 'exteriorAirTemperature', 'timestamp', instant, 'value', round(noise / 4, 2)),
        json_object('name', 'lowVoltageBatteryCurrentVoltage', 'timestamp', instant, 'value', round(11.5 + noise / 50, 3)),
        json_object('name', 'isIgnitionOn', 'timestamp', instant, 'value', (round // 6) % 2),
        json_object('name', 'obdEngineLoad', 'timestamp', instant, 'value', noise),
        json_object('name', 'powertrainFuelSystemSupportedFuelTypes', 'timestamp', instant, 'value', 'GASOLINE'),
        json_object('name', 'currentLocationCoordinates', 'timestamp', instant, 'value',
                    json_object('latitude', 40 + noise / 100, 'longitude', -74 + noise / 100, 'hdop', 1.2))
    ]) AS payload
    FROM described
    UNION ALL
    SELECT *, 'dimo.events', json_object('events', [
        json_object('name', 'behavior.harshBraking', 'timestamp', instant, 'durationNs', 1000000000, 'metadata', '{{}}',
                    'tags', ['behavior.harshbraking'])
    ])
    FROM described WHERE i % {BEHAVIOUR_EVERY} = 0
)
SELECT subject, happened, type, 'e' || i, '0x5555555555555555555555555555555555555555', producer, 'application/json', 'default/v1.0', '{{}}',
       payload::VARCHAR, NULL, NULL, NULL
FROM payloads"""


def append(connection, first, after, vehicles, step, start):
    """One snapshot of the events first … after − 1."""
    connection.execute(INSERT, {"first": first, "after": after, "vehicles": vehicles, "step": step, "start": start})


def step_of(events, days):
    return days * 86_400_000_000 // events


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--snapshots", type=int, default=40)
    parser.add_argument("--vehicles", type=int, default=1000)
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--start", default="2026-10-20 00:00:00+00")
    parser.add_argument("--catalog", help="DSN of a PostgreSQL catalog (default: a file in FOLDER)")
    arguments = parser.parse_args()

    arguments.folder.mkdir(parents=True, exist_ok=True)
    data_path = str(arguments.folder.resolve() / "lakedata")
    catalog = lake.Catalog(arguments.catalog or str(arguments.folder / "catalog.ducklake"), data_path, arguments.catalog or "")
    began = time.monotonic()
    connection = lake.connect(catalog)
    lake.create_raw_events(connection)
    bounds = [arguments.events * snapshot // arguments.snapshots for snapshot in range(arguments.snapshots + 1)]
    for first, after in zip(bounds, bounds[1:]):
        append(connection, first, after, arguments.vehicles, step_of(arguments.events, arguments.days), arguments.start)
    connection.close()
    print(f"{arguments.events} events of {arguments.vehicles} vehicles in {arguments.snapshots} snapshots: "
          f"{time.monotonic() - began:.1f} s, {arguments.folder}")


if __name__ == "__main__":
    main()
