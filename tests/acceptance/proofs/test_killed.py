# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A database server under load is killed, and so is its recorder's launcher: the trace is whole up
to the last call of each thread."""

import os
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .recording import needed, plain_environment, profiled, recorder_words

CLIENTS = 4
ANSWERS = 2000
START_S = 60


def connected(address: Path) -> socket.socket | None:
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(10)
    try:
        client.connect(str(address))
    except OSError:
        client.close()
        return None
    return client


def load(address: Path, number: int, done: list[int]) -> None:
    """Sets, appends and deletes of all sizes until the server is gone."""
    client = connected(address)
    assert client is not None
    turn = 0
    try:
        while True:
            turn += 1
            key = f"key-{number}-{turn % 500}"
            words = ["SET", key, "x" * (turn * 7919 % 5000)] if turn % 3 else ["DEL", key]
            parts = [f"*{len(words)}\r\n", *(f"${len(w)}\r\n{w}\r\n" for w in words)]
            client.sendall("".join(parts).encode())
            if not client.recv(1 << 16):
                break
            done[number] = turn
    except OSError:
        pass
    finally:
        client.close()


@contextmanager
def server(trace: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A Redis of its own: a socket in a folder, no port, nothing saved; under the recorder."""
    program = needed("redis-server", "redis-server")
    # A socket's path has to be short, which the folders of pytest are not.
    with tempfile.TemporaryDirectory(prefix="hw-", dir="/tmp") as folder:
        address = Path(folder) / "socket"
        command = [
            *recorder_words(trace),
            *(program, "--port", "0", "--unixsocket", str(address), "--save", ""),
            *("--appendonly", "no", "--dir", folder, "--io-threads", "2", "--logfile", "log"),
        ]
        launched = subprocess.Popen(
            command, env=plain_environment(), stdin=subprocess.DEVNULL, start_new_session=True
        )
        try:
            deadline = time.monotonic() + START_S
            while (client := connected(address)) is None:
                assert launched.poll() is None, "the server did not start"
                assert time.monotonic() < deadline, f"no answer in {START_S} s"
                time.sleep(0.01)
            client.close()
            yield launched, address
        finally:
            kill(server_pid(launched))
            launched.wait(timeout=60)


def server_pid(launched: subprocess.Popen[bytes]) -> int | None:
    children = Path(f"/proc/{launched.pid}/task/{launched.pid}/children")
    try:
        return next((int(pid) for pid in children.read_text(encoding="ascii").split()), None)
    except FileNotFoundError:
        return None


def kill(pid: int | None) -> None:
    if pid is not None:
        os.kill(pid, signal.SIGKILL)


@pytest.mark.programs
@pytest.mark.parametrize("launcher", ["survives", "dies first"])
def test_a_server_killed_under_load(launcher: str, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    done = [0] * CLIENTS
    with server(trace) as (launched, address):
        clients = [
            threading.Thread(target=load, args=(address, number, done)) for number in range(CLIENTS)
        ]
        for client in clients:
            client.start()
        deadline = time.monotonic() + START_S
        while sum(done) < ANSWERS:  # the load decides when, not the clock
            assert time.monotonic() < deadline, f"{sum(done)} answers in {START_S} s"
            time.sleep(0.01)
        pid = server_pid(launched)
        assert pid is not None
        if launcher == "dies first":
            launched.kill()
            launched.wait(timeout=60)
        os.kill(pid, signal.SIGKILL)
        for client in clients:
            client.join(timeout=60)
    answered = sum(done)
    assert answered >= ANSWERS
    profile = profiled(trace)
    detail = profile.routines.detail
    assert profile.provenance.lost == 0
    # Each answered command had its memory before the answer went out, so nothing of it is missing.
    assert sum(each.calls for each in detail.values()) >= answered * 2
    assert profile.totals.unknown_frees == profile.totals.overwritten == 0
    assert profile.totals.never_freed_bytes > 100_000
    assert profile.provenance.processes[0].command[0].endswith("redis-server")
    assert profile.system is not None
