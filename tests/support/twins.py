"""Two lakes that get the same raw events, one decoded undisturbed, one under what a test does to it; in the end they must be equal."""
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

import gen_lake  # noqa: E402
from support import lake  # noqa: E402
from support.server import Failure, Server  # noqa: E402

VEHICLES, DAYS, START = 100, 2, "2026-10-20 00:00:00+00"
FIRST_SNAPSHOTS = 4
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
    """A lake, the events it got so far, and a materializer over it; its sessions on PostgreSQL bear the name `dq`."""

    def __init__(self, binary, catalog, folder, events, vehicles=VEHICLES, days=DAYS):
        self.catalog, self._events, self._vehicles, self._days, self._written = catalog, events, vehicles, days, 0
        dsn = self.catalog.dsn + (" application_name=dq" if self.catalog.is_postgres else "")
        self.server = Server(binary, folder / "process", {
            **self.catalog.settings, "DUCKLAKE_CATALOG_DSN": dsn, "MATERIALIZER_ENABLED": "true", "MATERIALIZER_POLL_INTERVAL": "50ms",
            "TOKEN_EXCHANGE_ISSUER_URL": "http://127.0.0.1:1", "TOKEN_EXCHANGE_JWK_KEY_SET_URL": "http://127.0.0.1:1/keys"})
        self.head = 0

    def append(self, count, snapshots=1, free_lease=False):
        """`count` new events in `snapshots` transactions, the first with a part of the batch before. `free_lease`: nobody holds it then."""
        connection = lake.connect(self.catalog)
        if not self._written:
            lake.create_raw_events(connection)
        elif free_lease and self.catalog.is_postgres and connection.execute(HAS_TABLES).fetchone()[0]:
            connection.execute(FREE_LEASE)
        step = gen_lake.step_of(self._events, self._days)
        for part in range(snapshots):
            first, after = self._written + count * part // snapshots, self._written + count * (part + 1) // snapshots
            again = max(0, first - REDELIVERED) if part == 0 else first
            gen_lake.append(connection, again, after, self._vehicles, step, START)
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
