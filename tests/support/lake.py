"""A DuckLake lake as an ingest service leaves it: one catalog (a file or a PostgreSQL database) and a data folder."""
import dataclasses
import os
import pathlib
import subprocess
import uuid

import duckdb

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXTENSIONS = pathlib.Path(os.environ.get("DUCKDB_EXTENSION_DIR") or ROOT / ".deps" / "extensions")

RAW_EVENTS = """
CREATE TABLE IF NOT EXISTS lake.raw_events (
    subject VARCHAR, "time" TIMESTAMP WITH TIME ZONE, type VARCHAR, id VARCHAR, source VARCHAR, producer VARCHAR,
    data_content_type VARCHAR, data_version VARCHAR, extras VARCHAR, data VARCHAR, data_base64 BLOB, data_index_key VARCHAR,
    voids_id VARCHAR)"""
RAW_LAYOUT = (
    'ALTER TABLE lake.raw_events SET PARTITIONED BY (type, year("time"), month("time"), day("time"))',
    'ALTER TABLE lake.raw_events SET SORTED BY (subject, "time")',
)


@dataclasses.dataclass(frozen=True)
class Catalog:
    """Where a lake is; `dsn` is what DUCKLAKE_CATALOG_DSN takes."""
    dsn: str
    data_path: str
    server: str = ""  # DSN of the PostgreSQL server's own database; empty for a file

    @property
    def is_postgres(self):
        return bool(self.server)

    @property
    def settings(self):
        return {"DUCKLAKE_CATALOG_DSN": self.dsn, "DUCKLAKE_DATA_PATH": self.data_path}

    def drop(self):
        if self.is_postgres:
            name = dict(part.split("=", 1) for part in self.dsn.split())["dbname"]
            psql(self.server, f'DROP DATABASE "{name}" WITH (FORCE)')


def psql(dsn, statement):
    """What the statement prints."""
    return subprocess.run(["psql", "-v", "ON_ERROR_STOP=1", "-XqAtc", statement, dsn], check=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True).stdout.strip()


def new_catalog(kind, folder, server=None):
    """A catalog of its own under `folder`; for kind 'postgres' a new database of `server`, by default that in DQ_TEST_POSTGRES_DSN."""
    data_path = str(pathlib.Path(folder) / "data")
    if kind == "file":
        return Catalog(str(pathlib.Path(folder) / "catalog.ducklake"), data_path)
    server = server or os.environ["DQ_TEST_POSTGRES_DSN"]
    name = f"dq_{uuid.uuid4().hex[:12]}"
    psql(server, f'CREATE DATABASE "{name}"')
    parts = [part for part in server.split() if not part.startswith("dbname=")]
    return Catalog(" ".join([*parts, f"dbname={name}"]), data_path, server)


def connect(catalog, read_only=False):
    """An engine of its own with the catalog attached as `lake`. A file catalog must not be open in another process."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    for extension in ["ducklake", *(["postgres_scanner"] if catalog.is_postgres else [])]:
        connection.execute(f"LOAD '{EXTENSIONS / extension}.duckdb_extension'")
    location = f"postgres:{catalog.dsn}" if catalog.is_postgres else catalog.dsn
    options = "READ_ONLY" if read_only else f"DATA_PATH '{catalog.data_path}'"
    connection.execute(f"ATTACH 'ducklake:{location}' AS lake ({options})")
    return connection


def create_raw_events(connection):
    connection.execute(RAW_EVENTS)
    for statement in RAW_LAYOUT:
        connection.execute(statement)


def head_snapshot(connection):
    return connection.execute("SELECT max(snapshot_id) FROM ducklake_snapshots('lake')").fetchone()[0]


def marked_sides(catalog):
    """Which summaries have subjects marked for a recompute. No process may have a file catalog open."""
    connection = connect(catalog, read_only=True)
    try:
        return [side for side in ("signals", "events") if connection.execute(f"SELECT count(*) FROM lake.{side}_dirty_subjects").fetchone()[0]]
    finally:
        connection.close()
