# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From runs to a race: which figure decides it, and its state after the blocks that were run.

The figure is chosen from the warm-up alone, so the choice cannot favour a result. Processor time
decides if a program keeps one processor busy. It then equals the wall time on an idle machine. Wall
time decides if the program waits, because waiting costs no processor time. It also decides for
several processors at once, because the user waits for the slowest of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from heapwright.analysis.blocked import value_of
from heapwright.analysis.race.race import Figures, Race, Rules
from heapwright.artefacts.comparison.document import Key
from heapwright.artefacts.run.measured import Outcome, Run

Deciding = Literal["time", "cpu"]

BUSY = (0.9, 1.1)
"""Processor time over wall time of a program that keeps one processor busy."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The fields of a run that a race reads: the deciding figure, and peak memory."""

    figure: Deciding
    cap_bytes: int | None = None
    judges_memory: bool = True


def deciding_figure(runs: Iterable[Run]) -> Deciding:
    """Which figure decides, from the good warm-up runs under all allocators.

    A run that lost its processor more often than it gave it up was held back by others: it did not
    wait. Of the other runs, the one with the largest share of processor time counts.
    """
    good = [run for run in runs if run.warmup and run.outcome is Outcome.OK and run.wall_s]
    cpu = [value_of(run, "cpu") for run in good]
    pairs = [(run, value) for run, value in zip(good, cpu, strict=True) if value is not None]
    shares = [value / (run.wall_s or value) for run, value in pairs]
    if not shares or max(shares) > BUSY[1]:
        return "time"
    held_back = [_is_held_back(run) for run, _ in pairs]
    return "cpu" if max(shares) >= BUSY[0] or all(held_back) else "time"


def deciding_figure_of(groups: Iterable[Sequence[Run]]) -> Deciding:
    """Which figure decides between several commands, from the runs of each.

    Processor time decides only if it would decide for each command. A command that waits less than
    another is better, and only wall time shows that.
    """
    figures = [
        deciding_figure(runs) for runs in groups if any(run.outcome is Outcome.OK for run in runs)
    ]
    return "cpu" if figures and set(figures) == {"cpu"} else "time"


def _is_held_back(run: Run) -> bool:
    if run.voluntary_switches is None or run.involuntary_switches is None:
        return False
    return run.involuntary_switches > run.voluntary_switches


def race_of(
    runs: Sequence[Run],
    treatments: Sequence[Key],
    rules: Rules,
    reading: Reading,
) -> Race:
    """The race after all complete blocks in `runs`; the first of `treatments` is the baseline."""
    race = Race(treatments, rules)
    for block in sorted({run.block for run in runs}):
        advance(race, [run for run in runs if run.block == block], reading)
    return race


def advance(race: Race, block_runs: Sequence[Run], reading: Reading) -> None:
    """Give a race the runs of one block. A warm-up only shows failures."""
    figures: dict[Key, Figures] = {}
    for run in block_runs:
        key = (run.allocator, run.level)
        value = value_of(run, reading.figure)
        memory = value_of(run, "memory")
        if run.outcome is not Outcome.OK:
            race.fail(key, run.block)
        elif reading.cap_bytes is not None and (memory is None or memory > reading.cap_bytes):
            race.fail(key, run.block, "over the cap")
        elif not run.warmup and value is not None:
            figures[key] = Figures(value, memory if reading.judges_memory else None)
    if figures:
        race.observe(block_runs[0].block, figures)
