# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright attach`, after its options are read: check, record, remove, print."""

import platform
import secrets
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.trace.file import STOPPED
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.quantities import several
from heapwright.look.process import is_32_bit, missing_right, read_process
from heapwright.record.attached import Asked, Attached, DeniedError, attach, clear

SUFFIX = ".trace"
MACHINE = "x86_64"


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    pid: int
    output: Path | None
    stacks: bool
    sample: int
    limit: int | None
    seconds: float | None
    system: bool
    clear: bool
    quiet: bool


def run_attach(options: Options) -> ExitCode:
    """Record the process; return the exit status. Raises HeapwrightError for a refused request."""
    if platform.machine() != MACHINE:
        raise HeapwrightError(
            f"attach is for x86-64 processors, and this is {platform.machine()}",
            "start the program under the recorder: heapwright record -- COMMAND",
        )
    process = read_process(options.pid)
    if is_32_bit(options.pid):
        raise HeapwrightError(
            f"process {options.pid} ({process.name}) is a program for 32 bits, "
            "which is not supported"
        )
    try:
        if options.clear:
            return _clear(options)
        return _record(options, process.name)
    except DeniedError as error:
        why, remedy = missing_right(process, verb="attach")
        raise HeapwrightError(
            f"process {options.pid} ({process.name}) cannot be traced: {why}", remedy
        ) from error


def _record(options: Options, name: str) -> ExitCode:
    trace = options.output or Path(f"{name}.{options.pid}{SUFFIX}")
    until = "Ctrl-C ends it" if options.seconds is None else f"for {options.seconds:g} s"

    def begun() -> None:
        if not options.quiet:
            _say(f"heapwright: recording process {options.pid} ({name}); {until}")

    done = attach(
        Asked(
            pid=options.pid,
            trace=trace,
            stacks=options.stacks,
            sample=options.sample,
            salt=secrets.randbits(63),
            limit=options.limit,
            seconds=options.seconds,
            system=options.system,
        ),
        begun,
    )
    if not options.quiet:
        each = f", {done.bytes / done.events:.1f} bytes each" if done.events else ""
        _say(
            f"heapwright: {several(done.events, 'call')} of {several(done.threads, 'thread')}"
            f"{each}, {done.seconds:.1f} s: {trace}"
        )
    for note in (*_problems(options.pid, done), *(() if options.quiet else _notes(done))):
        _say(f"  {note}")
    if done.events and not options.quiet:
        _say(f"next: heapwright profile {shlex.quote(str(trace))}   (sizes, lifetimes and sites)")
    return ExitCode.NOTHING_COMPARED if done.left else ExitCode.OK


def _problems(pid: int, done: Attached) -> Iterator[str]:
    if done.left:
        yield (
            f"the recorder is still loaded into process {pid}, without effect: {done.left}; "
            f"heapwright attach --clear {pid} tries again to unload it"
        )
    if done.stop != "none":
        yield f"recording stopped early: {STOPPED[done.stop]}"


def _notes(done: Attached) -> Iterator[str]:
    """What a reader of the trace has to know."""
    if done.ending == "ended":
        yield "the process ended"
    elif done.ending == "replaced":
        yield "the process executed another program, which was not recorded"
    else:
        yield (
            f"threads were stopped for {done.begin_ms:.1f} ms to begin and "
            f"{done.stop_ms:.1f} ms to end"
        )
    if not done.events and done.stop == "none":
        yield "the trace is empty: the process asked malloc for nothing meanwhile"
    if done.unfollowed:
        were = "was" if done.unfollowed == 1 else "were"
        yield f"{several(done.unfollowed, 'child', 'children')} that it forked {were} not recorded"
    if done.lost:
        were = "was" if done.lost == 1 else "were"
        yield f"{several(done.lost, 'call')} {were} lost, in the middle of the record of another"


def _clear(options: Options) -> ExitCode:
    found = clear(options.pid)
    if found.left:
        _say(f"heapwright: the recorder stays in process {options.pid}: {found.left}")
        return ExitCode.NOTHING_COMPARED
    if not options.quiet:
        what = "the recorder was removed from" if found.cleared else "no recorder is in"
        _say(f"heapwright: {what} process {options.pid}")
    return ExitCode.OK


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)  # noqa: T201
