#!/usr/bin/env python3
"""Play the golden corpus against a dq binary: the tables it stores and the answers it gives.

usage: run.py --bin BINARY [--catalog file|postgres] [--corpus FOLDER] [--only PREFIX] [--all] [--keep]

The lake of the corpus is made; one process with MATERIALIZER_ENABLED=true decodes it and is stopped; a reading process answers.
Requests that this build does not serve (served.txt) and answers where dq differs on purpose (departures.txt) are left out and counted;
--all leaves out only the latter. Ends with "N passed, N failed, N left out"; exit code 1 when one failed, 77 without PostgreSQL.
"""
import argparse
import gzip
import json
import os
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from golden import answers, tables  # noqa: E402
from support import lake  # noqa: E402
from support.server import Failure, Server  # noqa: E402
from support.tokens import KeyServer  # noqa: E402

RAW_COLUMNS = {"snapshot": "INTEGER", **{name: "VARCHAR" for name in (
    "subject", "time", "type", "id", "source", "producer", "data_content_type", "data_version", "extras", "data")}}


def prefixes(name):
    """The prefixes of request names listed in a file: one a line; what follows ' # ' says why."""
    lines = (line.split(" # ")[0].strip() for line in (HERE / name).read_text().splitlines())
    return tuple(line for line in lines if line and not line.startswith("#"))


def make_lake(catalog, corpus):
    """One transaction a recorded snapshot; the id of the last."""
    connection = lake.connect(catalog)
    lake.create_raw_events(connection)
    connection.execute(f"CREATE TEMP TABLE recorded AS FROM read_json('{corpus / 'raw_events.ndjson.gz'}', "
                       f"format = 'newline_delimited', columns = {RAW_COLUMNS})")
    for (snapshot,) in connection.execute("SELECT DISTINCT snapshot FROM recorded ORDER BY snapshot").fetchall():
        connection.execute("""
            INSERT INTO lake.raw_events
            SELECT subject, "time"::TIMESTAMPTZ, type, id, source, producer, data_content_type, data_version, extras, data, NULL, NULL, NULL
            FROM recorded WHERE snapshot = ?""", [snapshot])
    last = lake.head_snapshot(connection)
    connection.close()
    return last


class Report:
    def __init__(self):
        self.passed, self.failed, self.left_out = 0, 0, 0

    def add(self, name, problem):
        if problem is None:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {name}: {problem}")


def check_tables(arguments, catalog, settings, folder, last, report):
    decoding = {**settings, "MATERIALIZER_ENABLED": "true", "MATERIALIZER_POLL_INTERVAL": "200ms"}
    Server(arguments.bin, folder, decoding).run_to_rest(catalog, last)
    connection = lake.connect(catalog, read_only=True)
    for name, problem in tables.compare(connection, arguments.corpus):
        report.add(name, problem)
    connection.close()


def check_answers(arguments, keys, settings, folder, report):
    served, departures = prefixes("served.txt"), prefixes("departures.txt")
    with Server(arguments.bin, folder, {**settings, "MATERIALIZER_ENABLED": "false", "DUCKLAKE_READ_ONLY": "true"}) as server, \
            gzip.open(arguments.corpus / "queries.jsonl.gz", "rt") as requests:
        server.wait_ready()
        for request in map(json.loads, requests):
            name = request["name"]
            if not name.startswith(arguments.only):
                continue
            if name.startswith(departures) or not (arguments.all or name.startswith(served)):
                report.left_out += 1
                continue
            token = None if request["claims"] is None else keys.token(**request["claims"])
            try:
                problem = answers.compare(request, *server.query(request["query"], request["variables"], token))
            except Failure as failure:
                server.alive()
                problem = str(failure)
            report.add(name, problem)
        report.add("the reader stops cleanly", None if (code := server.stop()) == 0 else f"exit code {code}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--catalog", choices=("file", "postgres"), default="file")
    parser.add_argument("--corpus", type=pathlib.Path, default=lake.ROOT / "data" / "golden" / "a")
    parser.add_argument("--only", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--keep", action="store_true", help="keep the lake and the logs")
    arguments = parser.parse_args()
    if arguments.catalog == "postgres" and "DQ_TEST_POSTGRES_DSN" not in os.environ:
        print("left out: no PostgreSQL (DQ_TEST_POSTGRES_DSN); run under scripts/with-postgres.sh")
        return 77

    folder = pathlib.Path(tempfile.mkdtemp(prefix="dq-golden-"))
    catalog = lake.new_catalog(arguments.catalog, folder)
    report = Report()
    try:
        last = make_lake(catalog, arguments.corpus)
        with KeyServer() as keys:
            settings = {**catalog.settings, **keys.settings}
            check_tables(arguments, catalog, settings, folder, last, report)
            check_answers(arguments, keys, settings, folder, report)
    except Failure as failure:
        report.add("the run", str(failure))
    finally:
        if arguments.keep:
            print(f"kept: {folder}")
        else:
            catalog.drop()
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{report.passed} passed, {report.failed} failed, {report.left_out} left out")
    return report.failed > 0


if __name__ == "__main__":
    sys.exit(main())
