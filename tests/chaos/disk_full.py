#!/usr/bin/env python3
"""The lake's data folder is full while dq decodes: passes fail and say why; once there is space, every row is there exactly once.

usage: disk_full.py --bin BINARY [--catalog file|postgres] [--rounds N] [--events N] [--seed S]

The folder is a small file system in memory, in a mount namespace of this process, so that nothing is left behind. Each round brings events,
fills the folder but for a random rest, starts dq, waits for failed passes, makes space, and waits until all is decoded. In the end the
decoded tables must equal those of a lake that always had space. The seed is printed; exit code 77 where no file system may be mounted,
and without PostgreSQL.
"""
import argparse
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from support import lake  # noqa: E402
from support.server import Failure, wait_until  # noqa: E402
from support.twins import Lake, compare, run_undisturbed  # noqa: E402

SIZE = 64 << 20
MOST_LEFT = 256 << 10  # bytes that a full folder may still take; a window of these events needs more
FAILED_PASSES = 3
MOUNTED = "DQ_DISK_FULL_MOUNTS"  # set in a process that has a mount namespace of its own
NAMESPACES = (["unshare", "--mount"], ["unshare", "--user", "--map-root-user", "--mount"])


def enter_namespace():
    """Starts this script anew where it may mount; returns when that is granted or refused."""
    if MOUNTED in os.environ:
        return True
    for namespace in NAMESPACES:
        tried = subprocess.run([*namespace, "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True, check=False)
        if tried.returncode == 0:
            os.execvpe(namespace[0], [*namespace, sys.executable, *sys.argv], {**os.environ, MOUNTED: "1"})
    return False


class Volume:
    """A file system of SIZE bytes with one file to take up its space."""

    def __init__(self, folder):
        folder.mkdir(parents=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", folder], check=True)
        self._folder, self._filler = folder, folder / "filler"

    def _free(self):
        state = os.statvfs(self._folder)
        return state.f_bavail * state.f_frsize

    def fill(self, left):
        with open(self._filler, "wb") as filler:
            os.posix_fallocate(filler.fileno(), 0, self._free() - left)

    def make_space(self):
        self._filler.unlink()

    def files(self):
        return list(self._folder.rglob("*.parquet"))


def failing(server):
    return server.alive() and (server.metric("dq_materializer_pass_errors_total") or 0) >= FAILED_PASSES


def run_full(target, volume, batches, rng):
    errors = set()
    with target.server as server:  # a first start needs space for its tables, or ends
        server.wait_ready()
        server.stop_cleanly()
    for number, count in enumerate(batches, 1):
        target.append(count)
        volume.fill(rng.randrange(MOST_LEFT))
        before = len(target.server.log())
        with target.server as server:
            wait_until(lambda: failing(server), f"{FAILED_PASSES} failed passes with a full folder (round {number})", 60)
            if server.request("/health", port=server.monitoring_port)[0] != 200:
                raise Failure("/health does not answer 200 while passes fail")
            volume.make_space()
            server.wait_decoded(target.head, 60)
            server.stop_cleanly()
        log = server.log()[before:]
        told = [line for line in log.splitlines() if "materializer pass failed" in line]
        if not any("No space left on device" in line for line in told):
            raise Failure(f"no failed pass names the full disk: {told[:1] or log[-2000:]}")
        errors.update(re.sub('"[^"]*"', "…", json.loads(line)["error"].splitlines()[0]) for line in told)
        target.check(f"after round {number}")
    target.server.run_to_rest(target.catalog, target.head)
    return errors


def files_of_nobody(target, volume):
    """Number and bytes of the data files that the catalog does not know: what failed writes leave behind until maintenance deletes it."""
    connection = lake.connect(target.catalog, read_only=True)
    known = " UNION ALL ".join(f"SELECT path FROM __ducklake_metadata_lake.{table}" for table in (
        "ducklake_data_file", "ducklake_delete_file", "ducklake_files_scheduled_for_deletion"))
    names = {pathlib.Path(path).name for (path,) in connection.execute(known).fetchall()}
    connection.close()
    sizes = [path.stat().st_size for path in volume.files() if path.name not in names]
    return len(sizes), sum(sizes)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--catalog", choices=("file", "postgres"), default="file")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--events", type=int, default=6_000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**31))
    arguments = parser.parse_args()
    if arguments.catalog == "postgres" and "DQ_TEST_POSTGRES_DSN" not in os.environ:
        print("left out: no PostgreSQL (DQ_TEST_POSTGRES_DSN); run under scripts/with-postgres.sh")
        return 77
    if not enter_namespace():
        print("left out: no file system may be mounted here")
        return 77
    print(f"seed {arguments.seed}", flush=True)
    rng = random.Random(arguments.seed)
    batches = [arguments.events // arguments.rounds] * arguments.rounds
    folder = pathlib.Path(tempfile.mkdtemp(prefix="dq-disk-full-"))
    lakes, volume = [], None
    try:
        volume = Volume(folder / "full" / "data")
        for name in ("spacious", "full"):
            (folder / name).mkdir(exist_ok=True)
            lakes.append(Lake(arguments.bin, lake.new_catalog(arguments.catalog, folder / name), folder / name, sum(batches)))
        spacious, full = lakes
        run_undisturbed(spacious, [(count, 1) for count in batches])
        errors = run_full(full, volume, batches, rng)
        compare(spacious.tables(), full.tables(), sum(batches))
        left = files_of_nobody(full, volume)
    except Failure as failure:
        print(f"FAILED (seed {arguments.seed}): {failure}")
        return 1
    finally:
        for each in lakes:
            each.server.kill()
            each.catalog.drop()
        if volume:
            subprocess.run(["umount", folder / "full" / "data"], check=False)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{sum(batches)} events, {len(batches)} times full ({'; '.join(sorted(errors))}): all rows once, summaries agree; "
          f"{left[0]} files ({left[1]} bytes) of failed writes left behind")
    return 0


if __name__ == "__main__":
    sys.exit(main())
