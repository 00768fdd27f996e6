# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Classifies the end of a run. The first rule that fits decides:

1. `timeout`: its time was up, with any exit status.
2. `out-of-memory`: it ended badly, and memory was short. Either the kernel killed a process for
   memory, or its standard error reports it (bad_alloc, MemoryError, "Cannot allocate memory" ...).
3. `crashed`: it died by a signal. A bad end also counts if a process of its tree died by a fault
   (SIGSEGV, SIGABRT ...). An example is a crash of the compiler that g++ reports. An exit status of
   128+n alone, by which a shell passes a signal on, stays `failed`, with a remark.
4. `failed`: its exit status is none of those expected, or it could not be started.
5. `not-interposed`: it ended well, but 1 % or more of the CPU time was under another allocator.
6. `ok`.

A bad end comes before `not-interposed`, because a process that crashes at its start cannot report,
and the crash is the more important fact. Pure functions.
"""

import re
import signal
from dataclasses import dataclass

from heapwright.artefacts.run.measured import Ending, Outcome
from heapwright.experiment.interposition import Interposition
from heapwright.experiment.runner import RawRun

NO_MEMORY = re.compile(
    r"bad_alloc|MemoryError|OutOfMemoryError|cannot allocate memory|\bout of memory\b"
    r"|virtual memory exhausted|memory exhausted",
    re.IGNORECASE,
)
FAULTS = frozenset(
    {
        signal.SIGSEGV,
        signal.SIGABRT,
        signal.SIGBUS,
        signal.SIGILL,
        signal.SIGFPE,
        signal.SIGTRAP,
        signal.SIGSYS,
    }
)
TAIL_LINES = 4
TAIL_CHARACTERS = 600


@dataclass(frozen=True, slots=True)
class Classified:
    """An outcome and its description."""

    outcome: Outcome
    detail: str = ""


def classify(
    raw: RawRun, interposition: Interposition, expected: frozenset[int] = frozenset({0})
) -> Classified:
    """Apply the rules above; `expected` are the exit statuses that count as success.

    Raises ValueError for an interrupted run, which has no outcome.
    """
    if raw.interrupted:
        raise ValueError("an interrupted run has no outcome")
    if raw.timed_out:
        return _named(Outcome.TIMEOUT, "still running when its time was up", raw)
    if raw.spawn_error is not None:
        return Classified(Outcome.FAILED, raw.spawn_error)
    if raw.signal is not None or raw.exit_status not in expected:
        return _bad_ending(raw)
    if not interposition.effective:
        return Classified(Outcome.NOT_INTERPOSED, interposition.detail or "no process reported it")
    return Classified(Outcome.OK, interposition.detail)


def _bad_ending(raw: RawRun) -> Classified:
    ending = _ending_words(raw)
    if raw.oom_kills > 0:
        return _named(Outcome.OUT_OF_MEMORY, f"{ending}; the kernel killed for memory", raw)
    if stated := NO_MEMORY.search(raw.stderr_tail):
        return _named(Outcome.OUT_OF_MEMORY, f"{ending}; it says {stated[0]!r}", raw)
    if raw.signal is not None:
        return _named(Outcome.CRASHED, ending, raw)
    if crashed := _crashed_processes(raw):
        return _named(Outcome.CRASHED, f"{ending}; {crashed}", raw)
    return _named(Outcome.FAILED, ending, raw)


def _ending_words(raw: RawRun) -> str:
    if raw.signal is not None:
        return f"killed by {signal_name(raw.signal)}"
    inner = _shell_signal(raw.exit_status)
    hint = f", which is how a shell reports {signal_name(inner)}" if inner is not None else ""
    return f"exit status {raw.exit_status}{hint}"


def _shell_signal(status: int | None) -> int | None:
    """The signal that an exit status of 128+n stands for, if there is such a signal."""
    if status is None or not 128 < status < 128 + signal.NSIG:
        return None
    return status - 128


def signal_name(number: int | None) -> str:
    """`SIGSEGV` for 11."""
    names = {each.value: each.name for each in signal.Signals}
    return names.get(number or 0, f"signal {number}")


def _crashed_processes(raw: RawRun) -> str:
    """Which programs of the tree died by the signal of a fault."""
    deaths = {
        f"{process.exe.rpartition('/')[2] or 'a short-lived program'} was killed by "
        f"{signal_name(process.signal)}"
        for process in raw.processes
        if process.ending == Ending.KILLED and process.signal in FAULTS
    }
    return ", ".join(sorted(deaths))


def _named(outcome: Outcome, words: str, raw: RawRun) -> Classified:
    lines = [line for line in raw.stderr_tail.splitlines() if line.strip()]
    tail = "\n".join(lines[-TAIL_LINES:])[-TAIL_CHARACTERS:]
    return Classified(outcome, f"{words}\n{tail}" if tail else words)
