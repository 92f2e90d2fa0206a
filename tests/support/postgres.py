"""A PostgreSQL server of a test's own, which may be stopped and started again; scripts/with-postgres.sh is for those that only use one."""
import os
import pathlib
import shutil
import signal
import subprocess

from support.server import Failure, free_ports, wait_until


def _programs():
    found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name.split(".")[0]))
    folder = found[-1] if found else pathlib.Path(shutil.which("postgres") or "/nonexistent/postgres").parent
    return folder if (folder / "initdb").exists() else None


class PostgresServer:
    """Listens on 127.0.0.1 only, keeps its data under `folder` and its port over restarts; what it acknowledged outlives stop()."""

    @staticmethod
    def available():
        return _programs() is not None

    def __init__(self, folder):
        self._folder, self._programs, self._process = pathlib.Path(folder), _programs(), None
        self._port = free_ports(1)[0]
        # PostgreSQL refuses to run as root.
        self._as_server_user = ["setpriv", "--pdeathsig", "INT"]
        if os.geteuid() == 0:
            self._as_server_user += ["--reuid=postgres", "--regid=postgres", "--init-groups"]
        self._folder.mkdir()
        if os.geteuid() == 0:
            shutil.chown(self._folder, "postgres", "postgres")
        self._run("initdb", "-D", self._folder / "data", "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")

    @property
    def dsn(self):
        return f"host=127.0.0.1 port={self._port} user=postgres dbname=postgres"

    def _run(self, program, *arguments):
        done = subprocess.run([*self._as_server_user, self._programs / program, *map(str, arguments)], cwd=self._folder,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failure(f"{program}: {done.stdout}{done.stderr}")

    def start(self):
        # The machine never loses power here, so nothing need reach the disk; commits are written before they are acknowledged.
        options = ["listen_addresses=127.0.0.1", "max_connections=100", "fsync=off", "synchronous_commit=on", "full_page_writes=off"]
        with open(self._folder.parent / "postgres.log", "ab") as log:
            self._process = subprocess.Popen(
                [*self._as_server_user, self._programs / "postgres", "-D", self._folder / "data", "-p", str(self._port), "-k", self._folder,
                 *(part for option in options for part in ("-c", option))],
                cwd=self._folder, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        wait_until(self._answers, "PostgreSQL", 30)

    def _answers(self):
        if self._process.poll() is not None:
            raise Failure(f"PostgreSQL ended with {self._process.returncode}: {(self._folder.parent / 'postgres.log').read_text()[-2000:]}")
        return subprocess.run([self._programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self._port), "-U", "postgres"],
                              check=False).returncode == 0

    def stop(self):
        """At once, without a checkpoint and without a word to its sessions: what `pg_ctl stop -m immediate` does."""
        if self._process and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
        if self._process:
            self._process.wait()
