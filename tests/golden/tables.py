"""The decoded tables against their recording."""
import csv
import dataclasses
import gzip
import math

INSTANT = "strftime({0}, '%Y-%m-%dT%H:%M:%S.%fZ')"


@dataclasses.dataclass(frozen=True)
class Table:
    name: str
    key: tuple
    texts: tuple
    numbers: tuple
    instants: tuple
    # Rows that a reader sees: duplicates at rest are allowed where each read picks one of them by this column.
    pick_lowest: str = ""

    @property
    def columns(self):
        return (*self.key, *self.texts, *self.numbers)

    def sql(self):
        shown = ", ".join(INSTANT.format(column) if column in self.instants else
                          f"to_json({column})::VARCHAR" if column == "tags" else f'"{column}"' for column in self.columns)
        picked = f" QUALIFY row_number() OVER (PARTITION BY {', '.join(self.key)} ORDER BY {self.pick_lowest}) = 1" if self.pick_lowest else ""
        return f"SELECT {shown} FROM lake.{self.name}{picked}"

    def recorded(self, folder):
        rows = {}
        with gzip.open(folder / f"{self.name}.csv.gz", "rt", newline="") as file:
            for line in csv.DictReader(file):
                key = tuple(line[column] for column in self.key)
                if self.pick_lowest and key in rows and rows[key][self.pick_lowest] <= line[self.pick_lowest]:
                    continue
                rows[key] = line
        return rows


VALUE = ("value_number", "loc_lat", "loc_lon", "loc_hdop", "loc_heading")
TABLES = (
    Table("signals", ("subject", "name", "timestamp"), ("cloud_event_id", "source", "producer", "value_string"),
          ("subject_bucket", *VALUE), ("timestamp",), pick_lowest="cloud_event_id"),
    Table("events", ("subject", "name", "timestamp", "source", "cloud_event_id"), ("producer", "type", "data_version", "metadata", "tags"),
          ("subject_bucket", "duration_ns"), ("timestamp",)),
    Table("signals_latest", ("subject", "name"), ("timestamp", "loc_ts", "first_seen", "last_seen", "value_string"),
          ("subject_bucket", "count", *VALUE), ("timestamp", "loc_ts", "first_seen", "last_seen")),
    Table("events_latest", ("subject", "name"), ("first_seen", "last_seen"), ("subject_bucket", "count"), ("first_seen", "last_seen")),
)
ONE_ROW_PER_KEY = ("signals_latest", "events_latest")


def _same(table, column, wanted, given):
    if column in table.numbers:
        return given is not None and wanted != "" and math.isclose(float(wanted), given, rel_tol=1e-12, abs_tol=1e-12)
    return ("" if given is None else given) == wanted


def compare(connection, folder):
    """Yields (name, problem or None) for each check of each table."""
    for table in TABLES:
        wanted = table.recorded(folder)
        given = {row[:len(table.key)]: dict(zip(table.columns, row)) for row in connection.execute(table.sql()).fetchall()}
        problems = [f"missing {key}" for key in wanted.keys() - given.keys()]
        problems += [f"not recorded {key}" for key in given.keys() - wanted.keys()]
        for key in wanted.keys() & given.keys():
            problems += [f"{key} {column}: {wanted[key][column]!r} recorded, {given[key][column]!r} stored"
                         for column in (*table.texts, *table.numbers)
                         if not _same(table, column, wanted[key][column], given[key][column])]
        yield f"table {table.name} ({len(wanted)} keys)", f"{len(problems)} differ: {sorted(problems)[:4]}" if problems else None
    for name in ONE_ROW_PER_KEY:
        rows, keys = connection.execute(f"SELECT count(*), count(DISTINCT (subject, name)) FROM lake.{name}").fetchone()
        yield f"one row per key in {name}", None if rows == keys else f"{rows} rows, {keys} keys"
