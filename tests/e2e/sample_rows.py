#!/usr/bin/env python3
"""The sample cars through `dq ingest`, one dq process and its GraphQL: as many values per signal as an independent reading of the files.

usage: sample_rows.py --bin BINARY

What must come out is worked out here from the files by the rules of the default module, in a page of Python: a signal counts when its
event was not seen before, its payload is well formed, its name is known and its value has the right type and is finite; a reader sees
one value per name and instant. Every car is checked, so are the latest values and that (0, 0) is nowhere the latest place.
"""
import argparse
import collections
import csv
import gzip
import json
import math
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from support import lake  # noqa: E402
from support.server import VEHICLES, Failure, Server, wait_until  # noqa: E402
from support.tokens import EVERY_PRIVILEGE, KeyServer  # noqa: E402

SAMPLE = lake.ROOT / "data" / "sample"
CARS = {"combustion": 1, "electric": 2, "dirty": 3}
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
FUTURE = "2099"
SUMMARY = "query ($subject: String!) { dataSummary(subject: $subject) { numberOfSignals signalDataSummary { name numberOfSignals } " \
          "eventDataSummary { name numberOfEvents } } }"
LATEST = "query ($subject: String!) { signalsLatest(subject: $subject) { speed { timestamp value } " \
         "currentLocationCoordinates { timestamp value { latitude longitude } } } }"


def value_types():
    with open(lake.ROOT / "data" / "signals.csv", newline="") as file:
        return {line["name"]: line["value_type"] for line in csv.DictReader(file)}


def good_value(kind, value):
    if kind == "float":
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                return False
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return isinstance(value, {"string": str, "location": dict}[kind])


def well_formed(item):
    # A null element is an error of that element alone; anything else that is no signal spoils its whole payload.
    return item is None or isinstance(item, dict) and isinstance(item.get("name"), str) and INSTANT.fullmatch(item.get("timestamp", ""))


def read_car(name, types):
    """({signal: {instant: [(event id, value)]}}, {event: number}) of a file, repeated events once."""
    signals = collections.defaultdict(lambda: collections.defaultdict(list))
    events, seen = collections.Counter(), set()
    with gzip.open(SAMPLE / f"{name}.ndjson.gz", "rt") as file:
        for event in map(json.loads, file):
            if event["id"] in seen:
                continue
            seen.add(event["id"])
            items = event["data"].get("signals", [])
            if all(map(well_formed, items)):
                for item in filter(None, items):
                    if item["name"] in types and good_value(types[item["name"]], item.get("value")) and item["timestamp"] < FUTURE:
                        signals[item["name"]][item["timestamp"]].append((event["id"], item["value"]))
            for item in event["data"].get("events", []):
                events[item["name"]] += item["name"].startswith(("behavior.harsh", "behavior.extreme", "safety."))
    return signals, {event: number for event, number in events.items() if number}


def expected_latest(signals):
    """Newest speed, and newest place that is one. Of equal instants the lowest event id counts."""
    instant = max(signals["speed"])
    places = {when: [value for _, value in sorted(found, key=lambda pair: pair[0]) if value["latitude"] or value["longitude"]]
              for when, found in signals["currentLocationCoordinates"].items()}
    place = max(when for when, values in places.items() if values)
    return instant, min(signals["speed"][instant], key=lambda pair: pair[0])[1], place, places[place][0]


def same_instant(given, wanted):
    return given is not None and given.rstrip("Z").split(".")[0] == wanted.rstrip("Z").split(".")[0]


def check_car(server, keys, name, signals, events):
    subject = f"{VEHICLES}:{CARS[name]}"
    token = keys.token(asset=subject, permissions=EVERY_PRIVILEGE)
    wanted = {"signals": {signal: len(instants) for signal, instants in signals.items()}, "events": events}
    given = {}

    def complete():
        server.alive()
        status, body = server.query(SUMMARY, {"subject": subject}, token)
        if status != 200 or body.get("errors"):
            raise Failure(f"{name}: dataSummary answered {status} {str(body)[:300]}")
        summary = body["data"]["dataSummary"]
        given["signals"] = {line["name"]: line["numberOfSignals"] for line in summary["signalDataSummary"]}
        given["events"] = {line["name"]: line["numberOfEvents"] for line in summary["eventDataSummary"]}
        return given == wanted and summary["numberOfSignals"] == sum(wanted["signals"].values())

    try:
        wait_until(complete, f"{name}: the summary", 30, step=0.1)
    except Failure as failure:
        differing = {part: {key: (wanted[part].get(key), given[part].get(key)) for key in {*wanted[part], *given[part]}
                            if wanted[part].get(key) != given[part].get(key)} for part in wanted if part in given}
        raise Failure(f"{failure}; (wanted, given) {differing}") from None

    _, body = server.query(LATEST, {"subject": subject}, token)
    latest = body["data"]["signalsLatest"]
    instant, speed, place, coordinates = expected_latest(signals)
    location = latest["currentLocationCoordinates"]
    if not (same_instant(latest["speed"]["timestamp"], instant) and latest["speed"]["value"] == speed):
        raise Failure(f"{name}: latest speed {latest['speed']}, wanted {speed} at {instant}")
    if not (same_instant(location["timestamp"], place) and location["value"]["latitude"] == coordinates["latitude"]
            and location["value"]["longitude"] == coordinates["longitude"]):
        raise Failure(f"{name}: latest place {location}, wanted {coordinates} at {place}")
    return sum(wanted["signals"].values()), sum(events.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="dq-sample-"))
    catalog = lake.new_catalog("file", folder)
    types = value_types()
    try:
        with KeyServer() as keys, Server(arguments.bin, folder / "process", {
                **catalog.settings, **keys.settings, "MATERIALIZER_ENABLED": "true", "MATERIALIZER_POLL_INTERVAL": "200ms"}) as server:
            server.wait_ready()
            done = subprocess.run(
                [arguments.bin, "ingest", "--trust-source", "--to", f"http://127.0.0.1:{server.port}",
                 *(str(SAMPLE / f"{name}.ndjson.gz") for name in CARS)], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
            if done.returncode:
                raise Failure(f"dq ingest ended with {done.returncode}: {done.stdout[-1000:]} {done.stderr[-1000:]}")
            for name in CARS:
                values, events = check_car(server, keys, name, *read_car(name, types))
                print(f"{name}: {values} values, {events} events")
            if code := server.stop():
                raise Failure(f"exit code {code}")
    except Failure as failure:
        print(f"FAILED: {failure}")
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
