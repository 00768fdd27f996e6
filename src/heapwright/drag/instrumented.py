# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Drag of a program that was rebuilt: it keeps the account itself, and leaves it when it ends.

Compiled with `flags()`, a program calls libheapwright-drag.so at each of its accesses to memory, in
the way in which it would call a thread sanitizer. Preloaded before the allocator the library sees
the allocations too. The first process of a command of which a part was rebuilt writes the document
(native/drag/account/report.hpp says what is in it).

The command inherits the streams, folder and terminal. What is meant for it by a signal goes to it.
"""

import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.base.interruption import ENDING, await_end, handled
from heapwright.base.scratch import Scratch

LIBRARY = "drag"
HEADER = "heapwright/c/drag.h"
OUTPUT_VARIABLE = "HEAPWRIGHT_DRAG_OUTPUT"
HINT = "compile and link it with $(heapwright drag --flags)"


def flags() -> tuple[str, ...]:
    """What g++ and clang++ are given to rebuild a program, both to compile and to link it.

    Raises HeapwrightError where a part is missing, or lies where the flags of a compiler
    cannot name it.
    """
    library = native.library(LIBRARY)
    folder = str(library.parent)
    if any(each in folder for each in ", \t\n'\"\\"):
        raise HeapwrightError(
            f"no compiler's flags can name the folder {folder}",
            f"install Heapwright, or let {native.VARIABLE} name a link to it, without blanks, "
            "commas and quotes",
        )
    header = native.native_dir() / "include" / HEADER
    if not header.is_file():
        raise native.NativeMissingError(f"{header} is missing", "build and install again")
    return (
        "-g",
        # Chains of calls are followed by the frames.
        "-fno-omit-frame-pointer",
        "-fno-optimize-sibling-calls",
        # The option goes to the compiler itself. Its driver would link a sanitizer.
        "-Wp,-fsanitize=thread",
        # Strings and streams are the program's own, and are rebuilt with it.
        "-include",
        str(header),
        "-Wno-unused-command-line-argument",
        f"-Wl,--push-state,--no-as-needed,{library},--pop-state",
        f"-Wl,-rpath,{folder}",
    )


@dataclass(frozen=True, slots=True)
class Watched:
    """A command that has ended, and the document that it left."""

    document: bytes
    exit_status: int | None
    """None if a signal ended it."""
    signal: int | None
    seconds: float


def watch(
    command: tuple[str, ...],
    preload: str,
    environment: Mapping[str, str],
    cwd: Path | None = None,
) -> Watched:
    """Run the command to its end. `preload` is LD_PRELOAD for it: the library first, then what is
    its own.

    Raises HeapwrightError if it cannot be started, has no part that was rebuilt, or did not come to
    write its document.
    """
    with Scratch() as folder:
        output = folder / "drag.json"
        whole = {**environment, "LD_PRELOAD": preload, OUTPUT_VARIABLE: str(output)}
        began = time.monotonic()
        status = _run(command, whole, cwd)
        seconds = time.monotonic() - began
        document = output.read_bytes() if output.exists() else None
    if document is None:
        early = f", or {_end(status)} before that showed" if status < 0 else ""
        raise HeapwrightError(f"no part of {command[0]} was rebuilt for drag{early}", HINT)
    if not document:
        raise HeapwrightError(
            f"{command[0]} did not come to write its drag: {_end(status)}",
            "the account is written where a process ends by exit, _exit or a return from main",
        )
    return Watched(
        document=document,
        exit_status=None if status < 0 else status,
        signal=-status if status < 0 else None,
        seconds=seconds,
    )


def _end(status: int) -> str:
    if status >= 0:
        return f"it became another program, or left with status {status} in a way of its own"
    try:
        return f"it was ended by {signal.Signals(-status).name}"
    except ValueError:
        return f"it was ended by signal {-status}"


def _run(command: tuple[str, ...], environment: Mapping[str, str], cwd: Path | None) -> int:
    with _passing_on() as start:
        try:
            return await_end(start(command, environment, cwd))
        except OSError as error:
            raise HeapwrightError(
                f"{command[0]} cannot be started: {error.strerror or error}"
            ) from error


def _popen(
    command: tuple[str, ...], environment: Mapping[str, str], cwd: Path | None
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, env=environment, cwd=cwd)


@contextmanager
def _passing_on() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """What starts the command. What is meant for it goes to it, also while it is being started; an
    interrupt it has from the terminal itself."""
    processes: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def pass_on(number: int, frame: FrameType | None) -> None:
        del frame
        for process in processes:
            process.send_signal(number)
        if not processes:
            early.append(number)

    def leave_alone(number: int, frame: FrameType | None) -> None:
        del number, frame

    def start(
        command: tuple[str, ...], environment: Mapping[str, str], cwd: Path | None
    ) -> subprocess.Popen[bytes]:
        processes.append(_popen(command, environment, cwd))
        for number in early:
            processes[0].send_signal(number)
        return processes[0]

    handlers = dict.fromkeys(ENDING, pass_on) | {signal.SIGINT: leave_alone}
    with handled(handlers):
        yield start
