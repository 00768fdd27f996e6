# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of a redis-server under load: no request fails, and nothing is left in it."""

import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .conftest import agent_range, pointers_into, recording


def connected(path: Path) -> socket.socket:
    """A connection, once the server listens."""
    deadline = time.monotonic() + 30
    while True:
        try:
            client = socket.socket(socket.AF_UNIX)
            client.connect(str(path))
        except OSError:
            client.close()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        else:
            return client


class Load(threading.Thread):
    """Sets and gets values all the time, and checks each answer."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.client = connected(path)
        self.requests = 0
        self.failed = 0
        self.longest_s = 0.0
        self.is_over = threading.Event()

    def run(self) -> None:
        while not self.is_over.is_set():
            value = b"v" * (1 + self.requests * 37 % 3000)
            key = b"key%d" % (self.requests % 500)
            begun = time.monotonic()
            right = self._ask(b"SET", key, value) == b"+OK\r\n"
            right &= self._ask(b"GET", key) == b"$%d\r\n%s\r\n" % (len(value), value)
            self.longest_s = max(self.longest_s, time.monotonic() - begun)
            self.requests += 2
            self.failed += not right

    def _ask(self, *words: bytes) -> bytes:
        parts = b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
        self.client.sendall(b"*%d\r\n%s" % (len(words), parts))
        answer = self.client.recv(1 << 16)
        while not answer.endswith(b"\r\n") or (
            answer.startswith(b"$") and len(answer) < int(answer[1 : answer.index(b"\r")])
        ):
            answer += self.client.recv(1 << 16)
        return answer


@contextmanager
def server(folder: Path) -> Iterator[tuple[int, Path]]:
    """A redis-server with a private socket and no port."""
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("needs redis-server (package redis-server)")
    path = folder / "socket"
    words = [program, "--port", "0", "--unixsocket", str(path), "--dir", str(folder)]
    with subprocess.Popen([*words, "--save", ""], stdout=subprocess.DEVNULL) as process:
        try:
            yield process.pid, path
        finally:
            process.terminate()


def run_cycles(folder: Path, cycles: int) -> Load:
    with server(folder) as (pid, path):
        load = Load(path)
        load.start()
        try:
            for _ in range(cycles):
                with recording(pid, folder / "t.trace", "--stacks", "--no-system") as result:
                    agent = agent_range(pid)
                    time.sleep(0.02)
                assert result["left"] == ""
                assert result["ending"] == "asked"
                assert pointers_into(pid, *agent) == 0
                assert "attached" not in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")
        finally:
            load.is_over.set()
            load.join()
    assert load.failed == 0
    assert load.requests > 2 * cycles
    return load


@pytest.mark.programs
def test_ten_recordings_of_a_loaded_redis(tmp_path: Path) -> None:
    run_cycles(tmp_path, 10)


@pytest.mark.slow
def test_five_hundred_recordings_of_a_loaded_redis(tmp_path: Path) -> None:
    load = run_cycles(tmp_path, 500)
    print(f"{load.requests} requests, the longest pair {load.longest_s * 1e3:.1f} ms")
