"""A dq process under test: started with settings of its own, asked over HTTP, stopped or killed."""
import json
import os
import pathlib
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

from support import lake

VEHICLES = "did:erc721:137:0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF"
# Settings that every deployment gives; a test adds its catalog, keys and role.
COMMON = {
    "DIMO_REGISTRY_CHAIN_ID": "137",
    "VEHICLE_NFT_ADDRESS": "0xbA5738a18d83D41847dfFbDC6101d37C69c9B0cF",
    "AFTERMARKET_NFT_ADDRESS": "0x9c94C395cBcBDe662235E0A9d3bB87Ad708561BA",
    "SYNTHETIC_NFT_ADDRESS": "0x4804e8D1661cd1a1e5dDdE1ff458A7f878c0aC6D",
    "BLOB_BUCKET": "file:///nonexistent",  # a local store: the lake needs no S3
    "LOG_LEVEL": "info",
}
# Above zero once a flush of that summary changed something in this process.
FLUSH_METRIC = {"signals": "dq_materializer_rollup_refresh_seconds", "events": "dq_materializer_event_rollup_refresh_seconds"}
# What a process needs from its surroundings; settings of the person who runs the tests must not leak in.
INHERITED = ("PATH", "HOME", "TMPDIR", "LANG", "LD_LIBRARY_PATH", "DUCKDB_EXTENSION_DIR",
             "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS")


class Failure(Exception):
    """A test's verdict; its text is all that is shown."""


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
    finally:
        for each in sockets:
            each.close()


def wait_until(condition, what, seconds, step=0.02):
    """Asks `condition` again and again until it gives something true; a Failure after `seconds`."""
    end = time.monotonic() + seconds
    while True:
        if value := condition():
            return value
        if time.monotonic() >= end:
            raise Failure(f"{what}: not within {seconds:g} s")
        time.sleep(step)


class Server:
    def __init__(self, binary, folder, settings, arguments=()):
        self._command = [str(pathlib.Path(binary).resolve()), *arguments]
        self._folder = pathlib.Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self.port, self.grpc_port, self.monitoring_port = free_ports(3)
        ports = {"PORT": self.port, "GRPC_PORT": self.grpc_port, "MON_PORT": self.monitoring_port}
        self._environment = {name: os.environ[name] for name in INHERITED if name in os.environ}
        self._environment.update({name: str(value) for name, value in {**COMMON, **ports, **settings}.items()})
        self._process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()

    def start(self):
        with open(self._folder / "log", "ab") as log:
            self._process = subprocess.Popen(self._command, cwd=self._folder, env=self._environment, stdin=subprocess.DEVNULL,
                                             stdout=log, stderr=subprocess.STDOUT)

    def alive(self):
        if self._process.poll() is not None:
            raise Failure(f"dq ended by itself with {self._process.returncode}; the end of its log:\n{self.log()[-3000:]}")
        return True

    def stop(self):
        """SIGTERM; the exit code."""
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failure("dq did not stop within 60 s of SIGTERM") from None

    def kill(self):
        if self._process and self._process.poll() is None:
            self._process.kill()
        if self._process:
            self._process.wait()

    def log(self):
        return (self._folder / "log").read_text("utf-8", "replace")

    def request(self, path, body=None, headers=None, port=None, timeout=60):
        """(status, text); status 0 when nobody answers."""
        url = f"http://127.0.0.1:{port or self.port}{path}"
        data = body.encode() if isinstance(body, str) else body
        try:
            with urllib.request.urlopen(urllib.request.Request(url, data, headers or {}), timeout=timeout) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()
        except OSError:
            return 0, ""

    def ready(self):
        return self.alive() and self.request("/ready", timeout=5)[0] == 200

    def wait_ready(self, seconds=60):
        wait_until(self.ready, "/ready", seconds)

    def query(self, text, variables=None, token=None):
        """(status, decoded body) of a GraphQL request."""
        headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
        status, body = self.request("/query", json.dumps({"query": text, "variables": variables or {}}), headers)
        try:
            return status, json.loads(body)
        except ValueError:
            raise Failure(f"/query answered {status} and no JSON: {body[:200]!r}") from None

    def metric(self, name):
        """Value of a metric without labels; None while it is absent."""
        _, text = self.request("/metrics", port=self.monitoring_port, timeout=5)
        return next((float(line.split()[-1]) for line in text.splitlines() if line.startswith(name + " ")), None)

    def wait_decoded(self, snapshot, seconds=120):
        """Waits until everything up to `snapshot` is decoded. Summaries may still be due: their subjects are marked then."""
        def decoded():
            self.alive()
            cursor = self.metric("dq_materializer_cursor_snapshot_id")
            return cursor is not None and cursor >= snapshot

        wait_until(decoded, f"decoding up to snapshot {snapshot}", seconds, step=0.1)

    def stop_cleanly(self):
        if code := self.stop():
            raise Failure(f"dq ended with {code} after SIGTERM; the end of its log:\n{self.log()[-3000:]}")

    def run_to_rest(self, catalog, snapshot, seconds=120):
        """Runs the materializer until everything up to `snapshot` is decoded and no subject is marked; it is stopped then.

        Marks are seen only from outside, with the process stopped: where some are left it is started once more, until it has flushed.
        """
        with self:
            self.wait_decoded(snapshot, seconds)
            self.stop_cleanly()
        for _ in range(3):
            if not (marked := lake.marked_sides(catalog)):
                return
            with self:
                wait_until(lambda: self.alive() and all(self.metric(FLUSH_METRIC[side]) for side in marked), f"flush of {marked}", seconds)
                self.stop_cleanly()
        raise Failure(f"{lake.marked_sides(catalog)} still have marked subjects after three flushes")
