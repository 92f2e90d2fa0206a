#!/usr/bin/env python3
"""Kill a materializer again and again; every row must be at rest exactly once, and the summaries must agree with the rows.

usage: kill9.py --bin BINARY [--catalog file|postgres] [--kills N] [--events N] [--seed S]

Two lakes get the same raw events. On one the materializer runs undisturbed. On the other it is started and ended with SIGKILL at a
random moment N times; before each start further events arrive, some of them for the second time, so that every run has work to be
killed at. After a last run to the end the decoded tables of both lakes must be equal. The expected state is kept outside the lake:
what was written is known from the events. The seed is printed; exit code 77 without PostgreSQL.

On PostgreSQL a killed writer leaves its lease behind, which others respect until it did not change for half a minute. Between the kills the
lease is freed by hand; after the last one it is not, so the last run also shows the take-over.
"""
import argparse
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent / "bench")]

import gen_lake  # noqa: E402
from support import lake  # noqa: E402
from support.server import Failure, Server, wait_until  # noqa: E402

VEHICLES, DAYS, START = 100, 2, "2026-10-20 00:00:00+00"
FIRST_SNAPSHOTS = 4
TAKE_OVER_SECONDS = 30
LONGEST_SECONDS = 6  # from start to kill; less where an undisturbed run takes less
REDELIVERED = 100  # events of each batch that the next batch brings again
# Rows of a summary that differ from a recompute, of subjects without a mark.
SUMMARY_DIFFERENCES = """
WITH recomputed AS (
    SELECT subject, name, count(*) AS count, min("timestamp") AS first_seen, max("timestamp") AS last_seen FROM lake.{side}
    WHERE subject NOT IN (SELECT subject FROM lake.{side}_dirty_subjects) GROUP BY ALL
),
stored AS (
    SELECT subject, name, count, first_seen, last_seen FROM lake.{side}_latest
    WHERE subject NOT IN (SELECT subject FROM lake.{side}_dirty_subjects)
)
SELECT count(*) FROM ((FROM stored EXCEPT ALL FROM recomputed) UNION ALL (FROM recomputed EXCEPT ALL FROM stored))"""
# The last of the tables that a first start creates.
HAS_TABLES = "SELECT count(*) > 0 FROM duckdb_tables() WHERE database_name = 'lake' AND table_name = 'events_dirty_subjects'"
CURSOR = """SELECT "cursor" FROM lake.ingest_progress WHERE "partition" = 'lake.raw_events#snapshot'"""
FREE_LEASE = """UPDATE lake.ingest_progress SET "cursor" = '-/0' WHERE "partition" = 'lake.raw_events#writer'"""
DECODED = ("signals", "events", "signals_latest", "events_latest")


class Lake:
    """A lake, the events it got so far, and a materializer over it."""

    def __init__(self, arguments, folder, settings):
        folder.mkdir()
        self.catalog = lake.new_catalog(arguments.catalog, folder)
        self._events, self._written = arguments.events, 0
        self.server = Server(arguments.bin, folder / "process", {
            **self.catalog.settings, **settings, "MATERIALIZER_ENABLED": "true", "MATERIALIZER_POLL_INTERVAL": "50ms"})
        self.head = 0

    def append(self, count, snapshots=1):
        """`count` new events in `snapshots` transactions, the first with a part of the batch before. Nobody holds the lease then."""
        connection = lake.connect(self.catalog)
        if not self._written:
            lake.create_raw_events(connection)
        elif self.catalog.is_postgres and connection.execute(HAS_TABLES).fetchone()[0]:
            connection.execute(FREE_LEASE)
        step = gen_lake.step_of(self._events, DAYS)
        for part in range(snapshots):
            first, after = self._written + count * part // snapshots, self._written + count * (part + 1) // snapshots
            again = max(0, first - REDELIVERED) if part == 0 else first
            gen_lake.append(connection, again, after, VEHICLES, step, START)
        self._written += count
        self.head = lake.head_snapshot(connection)
        connection.close()

    def check(self, when):
        """Each summary row equals a recompute, or its subject is marked; holds at every moment. True when raw events are left to decode."""
        connection = lake.connect(self.catalog, read_only=True)
        try:
            if not connection.execute(HAS_TABLES).fetchone()[0]:
                return True
            for side in ("signals", "events"):
                if differing := connection.execute(SUMMARY_DIFFERENCES.format(side=side)).fetchone()[0]:
                    raise Failure(f"{when}: lake.{side}_latest differs from a recompute in {differing} rows of unmarked subjects")
            cursor = connection.execute(CURSOR).fetchone()
            return cursor is None or int(cursor[0]) < self.head
        finally:
            connection.close()

    def tables(self):
        connection = lake.connect(self.catalog, read_only=True)
        try:
            return {name: sorted(map(repr, connection.execute(f"FROM lake.{name}").fetchall())) for name in DECODED}
        finally:
            connection.close()


def run_undisturbed(target, batches):
    for count, snapshots in batches:
        target.append(count, snapshots)
    began = time.monotonic()
    target.server.start()
    target.server.wait_decoded(target.head)
    took = time.monotonic() - began
    target.server.stop_cleanly()
    target.server.run_to_rest(target.catalog, target.head)
    return took


def run_killed(target, batches, rng, longest):
    moments, at_work = [], 0
    for number, (count, snapshots) in enumerate(batches, 1):
        target.append(count, snapshots)
        target.server.start()
        # From the moment the process is created: starting up, creating tables and resuming are killed at too.
        moment = rng.uniform(0, longest)
        end = time.monotonic() + moment
        wait_until(lambda: target.server.alive() and time.monotonic() >= end, "the moment of the kill", moment + 30, step=0.001)
        target.server.kill()
        at_work += target.check(f"after kill {number}")
        moments.append(moment)
    target.server.run_to_rest(target.catalog, target.head, 120 + TAKE_OVER_SECONDS)
    return moments, at_work


def compare(wanted, given, events):
    expected = {"signals": events * gen_lake.SIGNALS_PER_EVENT,
                "events": (events + gen_lake.BEHAVIOUR_EVERY - 1) // gen_lake.BEHAVIOUR_EVERY}
    for name, rows in expected.items():
        if len(given[name]) != rows:
            raise Failure(f"lake.{name} holds {len(given[name])} rows, {rows} were sent")
    for name in DECODED:
        if wanted[name] != given[name]:
            lost, added = set(wanted[name]) - set(given[name]), set(given[name]) - set(wanted[name])
            raise Failure(f"lake.{name} differs from the undisturbed lake: {len(lost)} rows lost, {len(added)} others, "
                          f"such as {[*sorted(lost)[:1], *sorted(added)[:1]]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--catalog", choices=("file", "postgres"), default="file")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    arguments = parser.parse_args()
    if arguments.catalog == "postgres" and "DQ_TEST_POSTGRES_DSN" not in os.environ:
        print("left out: no PostgreSQL (DQ_TEST_POSTGRES_DSN); run under scripts/with-postgres.sh")
        return 77
    print(f"seed {arguments.seed}", flush=True)
    rng = random.Random(arguments.seed)
    # Half of the events before the first start, the rest spread over the others.
    later = arguments.events // 2 // max(1, arguments.kills - 1)
    batches = [(arguments.events - later * (arguments.kills - 1), FIRST_SNAPSHOTS), *[(later, 1)] * (arguments.kills - 1)]

    folder = pathlib.Path(tempfile.mkdtemp(prefix="dq-kill9-"))
    settings = {"TOKEN_EXCHANGE_ISSUER_URL": "http://127.0.0.1:1", "TOKEN_EXCHANGE_JWK_KEY_SET_URL": "http://127.0.0.1:1/keys"}
    lakes = []
    try:
        lakes += [Lake(arguments, folder / name, settings) for name in ("undisturbed", "killed")]
        undisturbed, killed = lakes
        took = run_undisturbed(undisturbed, batches)
        moments, at_work = run_killed(killed, batches, rng, min(took, LONGEST_SECONDS))
        for each in lakes:
            each.check("at rest")
        compare(undisturbed.tables(), killed.tables(), arguments.events)
    except Failure as failure:
        print(f"FAILED (seed {arguments.seed}): {failure}")
        return 1
    finally:
        for each in lakes:
            each.server.kill()
            each.catalog.drop()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{arguments.events} events, undisturbed {took:.1f} s; {len(moments)} kills after {min(moments):.2f} … {max(moments):.2f} s, "
          f"{at_work} with events left to decode: all rows once, summaries agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
