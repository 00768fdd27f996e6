# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Instructions and cache misses as valgrind's simulators count them, where a machine counts none.

The command runs under cachegrind or callgrind with its allocator preloaded, in a run of its own
that is proven like any other; its time means nothing. The caches are the same on every host, so
that what is counted on one can be held against what is counted on another: 32 KiB of first level
for instructions and for data, 8-way, and 8 MiB of last level, 16-way, lines of 64 bytes. Every
program of the tree is counted. docs/reference/study-results.md says what each event is.
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
"""How many times as long as a plain run a simulated one takes, roughly."""
CACHES = ("--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64")
FILES = "counts.%p"
TOTALS = ("summary:", "totals:")


def refuse_without_valgrind(subject: str = "the study asks for simulated counts") -> None:
    """Raises HeapwrightError where nothing can be simulated; `subject` requires the counts."""
    if shutil.which("valgrind") is None:
        raise HeapwrightError(
            f"{subject}, and valgrind is not installed",
            "apt-get install valgrind",
        )


def words_under(tool: Tool, command: Sequence[str], folder: Path) -> tuple[str, ...]:
    """The command under the tool, which leaves its counts in the folder."""
    output = f"--{tool}-out-file={folder / FILES}"
    return ("valgrind", "-q", f"--tool={tool}", "--trace-children=yes", *CACHES, output, *command)


def counts_in(folder: Path) -> dict[str, float]:
    """The counts of all processes, by event; ValueError in words if there are none."""
    sums: dict[str, float] = {}
    for file in folder.glob(FILES.replace("%p", "*")):
        for event, count in _counts_of(file).items():
            sums[event] = sums.get(event, 0.0) + count
    if not sums:
        raise ValueError("valgrind left no counts")
    return sums


def _counts_of(file: Path) -> dict[str, float]:
    """One process's counts; none where it ended before they were written."""
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
    """An event, or a sum of some as in `D1mr+D1mw`; ValueError in words if one is not counted."""
    names = [name.strip() for name in (event or INSTRUCTIONS).split("+")]
    strange = [name for name in names if name not in counts]
    if strange:
        raise ValueError(f"valgrind counts no {strange[0]}; it counts {', '.join(counts)}")
    return sum(counts[name] for name in names)
