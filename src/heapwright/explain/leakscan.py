# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Searches processes of a trace for blocks that no pointer leads to.

A program that is started with `libheapwright-hold.so` and the variable `VARIABLE` connects at its
end and waits. `Listener` answers, runs `heapwright-leakscan`, and lets the program continue. It
never holds a program longer than `PATIENCE_S`.
"""

import json
import socket
import struct
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Self

from heapwright.artefacts.explanation.document import Reachability
from heapwright.base import native
from heapwright.base.scratch import Scratch
from heapwright.explain.evidence import Lost, Place

VARIABLE = "HEAPWRIGHT_HOLD"
LIBRARY = "hold"
PROGRAM = "leakscan"
PATIENCE_S = 120.0
LONGEST_FOLDER = 66
"""The address of a socket has 107 bytes at most."""
CALL = struct.Struct("qqq")
"""Process id, the time in ns of UTC, and the thread that waits."""


@dataclass(frozen=True, slots=True)
class Reach:
    """The result of the search in one process."""

    process: int
    summary: Reachability
    lost: dict[Place, Lost]
    """The blocks that no pointer led to."""
    since_utc_ns: int
    """When it began to wait."""


def look(trace: Path, pid: int, *, stop: bool = False, thread: int | None = None) -> Reach | None:
    """Search the process, which must wait or be stopped meanwhile. None if it is not in the
    trace, or its memory is not readable. `thread` is one that still runs."""
    since = time.time_ns()
    how = ["--stop"] if stop else [] if thread is None else ["--thread", str(thread)]
    words = [str(native.program(PROGRAM)), *how, str(trace), str(pid)]
    try:
        done = subprocess.run(
            words,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
            process_group=0,  # Ctrl-C on the terminal ends the program, not the search
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        return None
    said = json.loads(done.stdout)
    process = int(said["process"])
    return Reach(
        process,
        Reachability.model_validate({name: said[name] for name in Reachability.model_fields}),
        {(process, stack): Lost(*lost) for stack, *lost in said["stacks"]},
        since,
    )


class Listener:
    """Answers the processes of one recorded command; a context manager."""

    def __init__(self, trace: Path) -> None:
        self._trace = trace
        own = tempfile.gettempdir()
        place = own if len(own) <= LONGEST_FOLDER else "/tmp"
        self._folder = Scratch(Path(place))
        self.address = self._folder.path / "hold"
        self._socket = socket.socket(socket.AF_UNIX)
        self._thread = threading.Thread(target=self._answer, daemon=True)
        self._found: dict[int, Reach] = {}

    @property
    def found(self) -> dict[int, Reach]:
        """By process of the trace."""
        return self._found

    def __enter__(self) -> Self:
        self._socket.bind(str(self.address))
        self._socket.listen(16)
        self._thread.start()
        return self

    def _answer(self) -> None:
        while True:
            try:
                line, _ = self._socket.accept()
            except OSError:
                return
            with line:
                said = line.recv(CALL.size)
                if len(said) == CALL.size:
                    pid, since, thread = CALL.unpack(said)
                    reach = look(self._trace, pid, thread=thread)
                    if reach is not None:
                        self._found[reach.process] = replace(reach, since_utc_ns=since)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()
        self._folder.remove()
