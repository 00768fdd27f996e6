# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Start a server under an allocator, wait until it answers, and stop it by its process id."""

import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from .under import Under

START_S = 60
STOP_S = 60


@contextmanager
def running(
    under: Under,
    command: Sequence[str | Path],
    answers: Callable[[], bool],
    extra: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """The server while the block runs; fails when it ends by itself or dies on being stopped."""
    log = under.home / "server.log"
    with log.open("wb") as errors:
        server = subprocess.Popen(
            command,
            env=under.environment(extra),
            cwd=under.home,
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
        )
        try:
            deadline = time.monotonic() + START_S
            while not answers():
                assert server.poll() is None, f"ended with {server.returncode}:\n{log.read_text()}"
                assert time.monotonic() < deadline, f"no answer in {START_S} s:\n{log.read_text()}"
                time.sleep(0.01)  # between two questions; the answer decides
            under.prove_mapped(server.pid)
            yield server
            assert server.poll() is None, f"ended with {server.returncode}:\n{log.read_text()}"
        finally:
            server.terminate()
            try:
                server.wait(STOP_S)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()
                raise


def accepts(address: Path) -> bool:
    """Whether somebody listens on the socket at `address`."""
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(address))
        except OSError:
            return False
        return True
