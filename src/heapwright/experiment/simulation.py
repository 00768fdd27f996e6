# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Instructions and cache misses as valgrind's simulators count them, for machines without counters.

The command runs under cachegrind or callgrind with its allocator preloaded. This is a separate run
that is proven like any other; its time is meaningless. The simulated caches are the same on every
host, so counts of different hosts can be compared. They have 32 KiB of first level for instructions
and for data, 8-way, and 8 MiB of last level, 16-way, with lines of 64 bytes. Every program of the
tree is counted. docs/reference/study-results.md defines each event.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from heapwright.base.errors import HeapwrightError

Tool = Literal["callgrind", "cachegrind"]
TOOLS: tuple[Tool, ...] = ("callgrind", "cachegrind")
INSTRUCTIONS = "Ir"
SLOWDOWN = 50.0
"""Approximate slowdown of a simulated run."""
CACHES = ("--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64")
FILES = "counts.%p"
TOTALS = ("summary:", "totals:")


def refuse_without_valgrind(subject: str = "the study asks for simulated counts") -> None:
    """Raises HeapwrightError if nothing can be simulated. `subject` is the part that requires
    the counts."""
    if shutil.which("valgrind") is None:
        raise HeapwrightError(
            f"{subject}, and valgrind is not installed",
            "apt-get install valgrind",
        )


def words_under(tool: Tool, command: Sequence[str], folder: Path) -> tuple[str, ...]:
    """The command under the tool, which writes its counts into the folder."""
    output = f"--{tool}-out-file={folder / FILES}"
    return ("valgrind", "-q", f"--tool={tool}", "--trace-children=yes", *CACHES, output, *command)


def counts_in(folder: Path) -> dict[str, float]:
    """The counts of all processes, by event. Raises ValueError if there are none."""
    sums: dict[str, float] = {}
    for file in folder.glob(FILES.replace("%p", "*")):
        for event, count in _counts_of(file).items():
            sums[event] = sums.get(event, 0.0) + count
    if not sums:
        raise ValueError("valgrind left no counts")
    return sums


def _counts_of(file: Path) -> dict[str, float]:
    """The counts of one process; empty if it ended before they were written."""
    events: list[str] = []
    totals: list[float] = []
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith("events:"):
                events = line.split()[1:]
            elif line.startswith(TOTALS):
                totals = [float(word) for word in line.split()[1:]]
    totals += [0.0] * (len(events) - len(totals))  # callgrind leaves out zeroes at the end
    return dict(zip(events, totals, strict=True)) if any(totals) else {}


def event_in(counts: Mapping[str, float], event: str | None) -> float:
    """An event, or a sum such as `D1mr+D1mw`. Raises ValueError for an event that is not
    counted."""
    names = [name.strip() for name in (event or INSTRUCTIONS).split("+")]
    strange = [name for name in names if name not in counts]
    if strange:
        raise ValueError(f"valgrind counts no {strange[0]}; it counts {', '.join(counts)}")
    return sum(counts[name] for name in names)
