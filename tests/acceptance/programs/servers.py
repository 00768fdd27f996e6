# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Start a server under an allocator, wait until it answers, and stop it by its process id."""

import os
import signal
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from .under import Launched, Under

START_S = 60


@contextmanager
def running(
    under: Under,
    command: Sequence[str | Path],
    answers: Callable[[Launched], bool],
    *,
    extra: Mapping[str, str] | None = None,
    dies: bool = False,
) -> Iterator[Launched]:
    """The server while the block runs, then SIGTERM to it. Fails when it ends by itself, or when
    the allocator was not in effect. Fails when it does not take the signal as it should (by status
    0, or, if it `dies`, by death from it).
    """
    with under.launch(command, extra=extra) as server:
        deadline = time.monotonic() + START_S
        while not answers(server):
            if server.runner.poll() is not None:
                under.settle(server)  # says why it is over
            assert time.monotonic() < deadline, f"{command}: no answer in {START_S} s"
            time.sleep(0.01)  # between two questions; the answer decides
        yield server
        pid = server.pid()
        if pid is not None:  # otherwise it is dead, and its end is the message
            os.kill(pid, signal.SIGTERM)
        under.settle(server, signal=signal.SIGTERM if dies else None)


def accepts(address: Path) -> bool:
    """Whether a process listens on the socket at `address`."""
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(address))
        except OSError:
            return False
        return True
