#!/usr/bin/env python3
"""One process ingests, decodes and serves over one catalog file: a query sees new rows within two poll intervals, without a restart.

usage: fresh_rows.py --bin BINARY
"""
import argparse
import datetime
import json
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from support import lake  # noqa: E402
from support.server import VEHICLES, Failure, Server, wait_until  # noqa: E402
from support.tokens import EVERY_PRIVILEGE, KeyServer  # noqa: E402

POLL_SECONDS = 5.0
ROUNDS = 3
SUBJECT = f"{VEHICLES}:7"
SOURCE = "0x5555555555555555555555555555555555555555"
QUERY = """query ($subject: String!, $from: Time!, $to: Time!) {
    signalsLatest(subject: $subject) { lastSeen speed { timestamp value } }
    signals(subject: $subject, interval: "1m", from: $from, to: $to) { timestamp speed(agg: MAX) }
    events(subject: $subject, from: $from, to: $to) { timestamp name }
    dataSummary(subject: $subject) { numberOfSignals }
}"""
START = datetime.datetime(2026, 10, 5, 8, 0, tzinfo=datetime.timezone.utc)


def instant(minute):
    return (START + datetime.timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:%SZ")


def cloud_events(number):
    """The status and the behaviour event of one minute."""
    common = {"specversion": "1.0", "id": f"fresh-{number}", "source": SOURCE, "subject": SUBJECT, "time": instant(number),
              "producer": "did:erc721:137:0x9c94C395cBcBDe662235E0A9d3bB87Ad708561BA:7", "datacontenttype": "application/json",
              "dataversion": "default/v1.0"}
    speed = {"name": "speed", "timestamp": instant(number), "value": 50 + number}
    braking = {"name": "behavior.harshBraking", "timestamp": instant(number), "durationNs": 1, "metadata": "", "tags": []}
    return [{**common, "type": "dimo.status", "data": {"signals": [speed]}},
            {**common, "type": "dimo.events", "data": {"events": [braking]}}]


def ingest(server, number):
    status, body = server.request("/v1/events", json.dumps(cloud_events(number)), {"Content-Type": "application/cloudevents-batch+json"})
    if status != 200:
        raise Failure(f"POST /v1/events: {status} {body[:300]}")


def expected(count):
    minutes = range(count)
    return {
        "signalsLatest": {"lastSeen": instant(count - 1), "speed": {"timestamp": instant(count - 1), "value": 49 + count}},
        "signals": [{"timestamp": instant(minute), "speed": 50 + minute} for minute in minutes],
        "events": [{"timestamp": instant(minute), "name": "behavior.harshBraking"} for minute in reversed(minutes)],
        "dataSummary": {"numberOfSignals": count},
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="dq-fresh-"))
    catalog = lake.new_catalog("file", folder)
    waits = []
    try:
        with KeyServer() as keys, Server(arguments.bin, folder / "process", {
                **catalog.settings, **keys.settings, "MATERIALIZER_ENABLED": "true",
                "MATERIALIZER_POLL_INTERVAL": f"{int(POLL_SECONDS * 1000)}ms"}) as server:
            token = keys.token(asset=SUBJECT, permissions=EVERY_PRIVILEGE)
            server.wait_ready()
            for number in range(ROUNDS):
                ingest(server, number)
                began = time.monotonic()
                answer = {}

                def arrived():
                    server.alive()
                    status, body = server.query(QUERY, {"subject": SUBJECT, "from": instant(0), "to": instant(ROUNDS)}, token)
                    answer.update(status=status, body=body)
                    return status == 200 and body.get("data") == expected(number + 1) and not body.get("errors")

                try:
                    wait_until(arrived, f"row {number + 1} in the answer", 2 * POLL_SECONDS, step=0.05)
                except Failure as failure:
                    raise Failure(f"{failure}; last answer: {json.dumps(answer)[:1500]}") from None
                waits.append(time.monotonic() - began)
            if code := server.stop():
                raise Failure(f"exit code {code}")
    except Failure as failure:
        print(f"FAILED: {failure}")
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{ROUNDS} rounds, poll interval {POLL_SECONDS:g} s: rows seen after {', '.join(f'{wait:.2f}' for wait in waits)} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
