#!/usr/bin/env python3
"""Kill a materializer, its sessions or its catalog server again and again; every row must be at rest exactly once, and the summaries
must agree with the rows.

usage: kill9.py --bin BINARY [--catalog file|postgres] [--victim process|backend|server] [--kills N] [--events N] [--seed S]

Two lakes get the same raw events. On one the materializer runs undisturbed. On the other something is killed N times; before each kill
further events arrive, some of them for the second time, so that there is work to be killed at. In the end the decoded tables of both
lakes must be equal. The expected state is kept outside the lake: what was written is known from the events. The seed is printed; exit
code 77 without PostgreSQL.

process: dq itself, by SIGKILL at a random moment after its start. On PostgreSQL a killed writer leaves its lease behind, which others respect
until it did not change for half a minute. Between the kills the lease is freed by hand; after the last one it is not, so the last run
also shows the take-over.
backend (PostgreSQL): every session of dq, by pg_terminate_backend, in turn at a random moment and in the middle of a commit. dq stays
alive and goes on by itself.
server (PostgreSQL, one of the test's own): the whole server stops at once and is away for some seconds. Likewise.
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
sys.path.insert(0, str(HERE.parent))

from support import lake  # noqa: E402
from support.postgres import PostgresServer  # noqa: E402
from support.server import Failure, wait_until  # noqa: E402
from support.twins import FIRST_SNAPSHOTS, Lake, compare, run_undisturbed  # noqa: E402

TAKE_OVER_SECONDS = 30
LONGEST_SECONDS = 6  # from start to kill; less where an undisturbed run takes less
AWAY_SECONDS = 5
# Defaults of --kills and --events: each a minute at most.
SIZES = {"process": (20, 20_000), "backend": (10, 6_000), "server": (2, 4_000)}
# What is told of a run that was cut off, and the metrics.
TOLD = {"failed passes": "pass_errors_total", "windows repeated": 'lost_races_total{reason="conflict"}',
        "commits landed without an acknowledgement": "landed_commits_total"}
# Ends dq's sessions as soon as one of them has written something, which DuckLake does only in a commit; gives their number.
IN_COMMIT = """
CREATE FUNCTION pg_temp.end_in_commit() RETURNS integer LANGUAGE plpgsql AS $$
DECLARE ended integer;
BEGIN
    FOR turn IN 1 .. 2000 LOOP
        PERFORM pg_stat_clear_snapshot();
        IF EXISTS (SELECT FROM pg_stat_activity WHERE application_name = 'dq' AND backend_xid IS NOT NULL) THEN
            SELECT count(pg_terminate_backend(pid)) INTO ended FROM pg_stat_activity WHERE application_name = 'dq';
            RETURN ended;
        END IF;
        PERFORM pg_sleep(0.001);
    END LOOP;
    RETURN 0;
END $$;
SELECT pg_temp.end_in_commit()"""
AT_ONCE = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'dq'"


def run_killed(target, batches, rng, longest):
    moments, at_work = [], 0
    for number, (count, snapshots) in enumerate(batches, 1):
        target.append(count, snapshots, free_lease=True)
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


def run_cut_off(target, batches, rng, cut):
    """dq runs from the first batch to rest; `cut(number)` is called at random moments after each batch, and gives how much it ended."""
    ended = []
    for number, (count, snapshots) in enumerate(batches):
        target.append(count, snapshots)
        if not number:
            target.server.start()
            wait_until(lambda: target.server.alive() and target.server.metric("dq_materializer_cursor_snapshot_id"), "the first pass", 60)
        moment = time.monotonic() + rng.uniform(0, 0.5)
        wait_until(lambda: target.server.alive() and time.monotonic() >= moment, "the moment of the cut", 30, step=0.001)
        ended.append(cut(number))
        target.server.alive()
        target.check(f"after cut {number + 1}")
    target.server.wait_decoded(target.head, 60)
    wait_until(lambda: target.server.alive() and not lake.marked_sides(target.catalog), "summaries of all subjects", 60, step=0.1)
    errors = {told: target.server.metric(f"dq_materializer_{name}") or 0 for told, name in TOLD.items()}
    target.server.stop_cleanly()
    return ended, errors


def end_sessions(target, number):
    """In turn at once and in a commit; a commit that does not come within two seconds ends none."""
    return int(lake.psql(target.catalog.server, IN_COMMIT if number % 2 else AT_ONCE).splitlines()[-1])


def restart(target, postgres):
    postgres.stop()
    end = time.monotonic() + AWAY_SECONDS
    wait_until(lambda: target.server.alive() and time.monotonic() >= end, "the server's absence", AWAY_SECONDS + 30)
    postgres.start()
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--catalog", choices=("file", "postgres"), default="file")
    parser.add_argument("--victim", choices=SIZES, default="process")
    parser.add_argument("--kills", type=int)
    parser.add_argument("--events", type=int)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    arguments = parser.parse_args()
    kills, events = SIZES[arguments.victim]
    arguments.kills, arguments.events = arguments.kills or kills, arguments.events or events
    if arguments.victim != "process":
        arguments.catalog = "postgres"
    if arguments.victim == "server" and not PostgresServer.available():
        print("left out: PostgreSQL's server programs are missing")
        return 77
    if arguments.victim != "server" and arguments.catalog == "postgres" and "DQ_TEST_POSTGRES_DSN" not in os.environ:
        print("left out: no PostgreSQL (DQ_TEST_POSTGRES_DSN); run under scripts/with-postgres.sh")
        return 77
    print(f"seed {arguments.seed}", flush=True)
    rng = random.Random(arguments.seed)
    # Half of the events before the first start, the rest spread over the others.
    later = arguments.events // 2 // max(1, arguments.kills - 1)
    batches = [(arguments.events - later * (arguments.kills - 1), FIRST_SNAPSHOTS), *[(later, 1)] * (arguments.kills - 1)]

    folder = pathlib.Path(tempfile.mkdtemp(prefix="dq-kill9-"))
    lakes, postgres = [], None
    try:
        if arguments.victim == "server":
            folder.chmod(0o755)  # the server runs as another user
            postgres = PostgresServer(folder / "postgres")
            postgres.start()
        for name in ("undisturbed", "killed"):
            catalog = lake.new_catalog(arguments.catalog, folder / name, postgres and postgres.dsn)
            lakes.append(Lake(arguments.bin, catalog, folder / name, arguments.events))
        undisturbed, killed = lakes
        took = run_undisturbed(undisturbed, batches)
        if arguments.victim == "process":
            moments, at_work = run_killed(killed, batches, rng, min(took, LONGEST_SECONDS))
            told = f"{len(moments)} kills after {min(moments):.2f} … {max(moments):.2f} s, {at_work} with events left to decode"
        else:
            cut = (lambda number: end_sessions(killed, number)) if arguments.victim == "backend" else (lambda _: restart(killed, postgres))
            ended, errors = run_cut_off(killed, batches, rng, cut)
            what = f"sessions ended {ended}" if arguments.victim == "backend" else f"{len(ended)} restarts of the server"
            told = "; ".join([what, *(f"{count:g} {name}" for name, count in errors.items())])
        for each in lakes:
            each.check("at rest")
        compare(undisturbed.tables(), killed.tables(), arguments.events)
    except Failure as failure:
        print(f"FAILED (seed {arguments.seed}): {failure}")
        return 1
    finally:
        for each in lakes:
            each.server.kill()
            if not postgres:
                each.catalog.drop()
        if postgres:
            postgres.stop()
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{arguments.events} events, undisturbed {took:.1f} s; {told}: all rows once, summaries agree")
    return 0


if __name__ == "__main__":
    sys.exit(main())
