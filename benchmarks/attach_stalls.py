# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The longest stall of a loaded redis-server while `heapwright attach` begins and ends recordings.

A client in a process of its own sets and gets values without a pause and checks each answer. It
does so without recordings first, because the machine itself stalls requests. Then recordings with
call stacks begin and end until there were enough of them, or the time is over. A stall is the time
of one pair of requests.

Exit status: 0; 1 if a request failed, the recorder was left in the server, or a pair took more than
50 ms. It is 1, too, if the client ended early or no recording was made.

Usage: attach_stalls.py [RECORDINGS] [SECONDS]
"""

import json
import multiprocessing
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from heapwright.base import native

RECORDINGS = 500
SECONDS = 170.0
ALONE_SHARE = 0.12
"""Of the time: the client without recordings."""
RECORDED_S = 0.02
GOAL_MS = 50.0
PATIENCE_S = 30.0


@dataclass(frozen=True, slots=True)
class Answers:
    """What a client saw."""

    pairs_ms: list[float]
    failed: int

    def row(self, title: str) -> str:
        order = sorted(self.pairs_ms)
        late = sum(each > GOAL_MS for each in order)
        cells = (
            title,
            f"{2 * len(order):,}",
            f"{self.failed:,}",
            *(
                f"{order[min(int(len(order) * share), len(order) - 1)]:.2f}"
                for share in (0.5, 0.999)
            ),
            f"{order[-1]:.1f}",
            f"{late}",
        )
        return f"| {' | '.join(cells)} |"


@dataclass(frozen=True, slots=True)
class Recordings:
    """How recordings went."""

    count: int
    seconds: float
    begin_ms: float
    """The longest that a thread was stopped to begin."""
    stop_ms: float
    left: int
    """Recordings that left the recorder in the server."""


def connected(path: Path) -> socket.socket:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        client = socket.socket(socket.AF_UNIX)
        try:
            client.connect(str(path))
        except OSError:
            client.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return client


def ask(client: socket.socket, *words: bytes) -> bytes:
    parts = b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)
    client.sendall(b"*%d\r\n%s" % (len(words), parts))
    answer = received(client)
    while not answer.endswith(b"\r\n") or (
        answer.startswith(b"$") and len(answer) < int(answer[1 : answer.index(b"\r")])
    ):
        answer += received(client)
    return answer


def received(client: socket.socket) -> bytes:
    """Raises ConnectionError if the server has closed the connection."""
    part = client.recv(1 << 16)
    if not part:
        raise ConnectionError("the server closed the connection")
    return part


def load(path: Path, control: Connection) -> None:
    """Asks the server until `control` has a word, and sends what it saw there."""
    client = connected(path)
    pairs: list[float] = []
    failed = 0
    while len(pairs) % 64 != 0 or not pairs or not control.poll():
        number = len(pairs)
        key, value = b"key%d" % (number % 500), b"v" * (1 + number * 37 % 3000)
        begun = time.monotonic()
        right = ask(client, b"SET", key, value) == b"+OK\r\n"
        right &= ask(client, b"GET", key) == b"$%d\r\n%s\r\n" % (len(value), value)
        pairs.append((time.monotonic() - begun) * 1e3)
        failed += not right
    control.recv()
    control.send((pairs, failed))


class Client:
    """Asks in a process of its own, which no lock of this one delays."""

    def __init__(self, path: Path) -> None:
        self._control, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=load, args=(path, theirs), daemon=True)
        self._process.start()
        theirs.close()  # so that its end is noticed

    def end(self) -> Answers:
        try:
            self._control.send("end")
            pairs, failed = self._control.recv()
        except (EOFError, ConnectionError):
            sys.exit("attach_stalls.py: the client ended early, because the server did not answer")
        self._process.join()
        return Answers(pairs, failed)


@contextmanager
def server(folder: Path) -> Iterator[tuple[int, Path]]:
    """A redis-server with a private socket and no port."""
    path = folder / "socket"
    words = ["redis-server", "--port", "0", "--unixsocket", str(path), "--dir", str(folder)]
    with subprocess.Popen([*words, "--save", ""], stdout=subprocess.DEVNULL) as process:
        try:
            connected(path).close()
            yield process.pid, path
        finally:
            process.terminate()


def record_once(pid: int, trace: Path) -> dict[str, object]:
    """Begins a recording and ends it. What heapwright-attach says of it."""
    words = [str(native.program("attach")), "--trace", str(trace), "--stacks", "--no-system"]
    words += ["--seconds", str(RECORDED_S), "--library", str(native.library("attached")), str(pid)]
    found = json.loads(subprocess.run(words, capture_output=True, check=True, text=True).stdout)
    assert isinstance(found, dict)
    return found


def record(pid: int, trace: Path, most: int, seconds: float) -> Recordings:
    begun = time.monotonic()
    done: list[dict[str, object]] = []
    while len(done) < most and time.monotonic() - begun < seconds:
        done.append(record_once(pid, trace))
    if not done:
        sys.exit("attach_stalls.py: no recording was made: give at least one, and more seconds")
    return Recordings(
        count=len(done),
        seconds=time.monotonic() - begun,
        begin_ms=max(float(str(each["begin_ms"])) for each in done),
        stop_ms=max(float(str(each["stop_ms"])) for each in done),
        left=sum(bool(each["left"]) for each in done),
    )


def main() -> int:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else RECORDINGS
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    with tempfile.TemporaryDirectory() as name, server(Path(name)) as (pid, path):
        client = Client(path)
        time.sleep(seconds * ALONE_SHARE)
        alone = client.end()
        client = Client(path)
        recordings = record(pid, Path(name) / "t.trace", most, seconds * (1 - ALONE_SHARE))
        meanwhile = client.end()
    print("| redis-server | requests | failed | median ms | p99.9 ms | longest ms | above 50 ms |")
    print("|---|---|---|---|---|---|---|")
    print(alone.row(f"alone, {seconds * ALONE_SHARE:.0f} s"))
    print(meanwhile.row(f"{recordings.count} recordings, {recordings.seconds:.0f} s"))
    print(
        f"Threads were stopped for at most {recordings.begin_ms:.1f} ms to begin and "
        f"{recordings.stop_ms:.1f} ms to end. {recordings.left} recordings left the recorder."
    )
    failed = alone.failed + meanwhile.failed + recordings.left
    return 1 if failed or max(meanwhile.pairs_ms) > GOAL_MS else 0


if __name__ == "__main__":
    sys.exit(main())
