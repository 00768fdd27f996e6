# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What stands for the time of the replays, for the choice of the finalists and for the page."""

from collections.abc import Mapping
from statistics import median
from typing import Protocol

FAULT = 2500
"""Instructions that stand for a page fault: about what Linux needs for one, in user mode's time."""


class Measured(Protocol):
    """The figures of a replay."""

    @property
    def seconds(self) -> float | None: ...
    @property
    def instructions(self) -> int | None: ...
    @property
    def faults(self) -> int | None: ...
    @property
    def peak_bytes(self) -> int | None: ...


def counts_decide(replays: Mapping[str, Measured]) -> bool:
    """Whether the instructions of most measured replays were counted."""
    timed = [each for each in replays.values() if each.seconds is not None]
    return 2 * sum(each.instructions is not None for each in timed) > len(timed)


def costs(replays: Mapping[str, Measured]) -> dict[str, float]:
    """What stands for the time of each measured replay.

    Instructions, and `FAULT` for each page fault, if `counts_decide`. Those that were not counted
    then have their time at the median rate of the counted ones. Else the times.
    """
    timed = {name: each for name, each in replays.items() if each.seconds is not None}
    counted = {
        name: float(each.instructions + FAULT * (each.faults or 0))
        for name, each in timed.items()
        if each.instructions is not None
    }
    times = {name: each.seconds or 0.0 for name, each in timed.items()}
    if not counts_decide(replays):
        return times
    rate = median(cost / max(times[name], 1e-6) for name, cost in counted.items())
    return {name: counted.get(name, rate * times[name]) for name in timed}
