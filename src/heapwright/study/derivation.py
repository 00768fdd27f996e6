# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Levels of factors from profiled programs, as the factorial study of 2014 found its own.

*Allocations*: Programs are ordered by the number of their allocations. A new group begins where the
next makes more than twice as many. A group's level is its geometric mean, rounded to 1, 2 or 5
times a power of ten. The largest three groups are taken (Costa 2014, table 5.1, so that the study
ends).

*Sizes*: The ladder has the ranges 1..64, 64..512, 512..2048, and on by eights. A program belongs to
the range in which 70 % of its allocations lie (table 5.2). Every range with a program is a level. A
program that is in no range is named, as the published one is. If all are, each has the shortest run
of neighbouring ranges that holds 70 %.

*Pattern*: peak, growing, or both, as the programs show. *Long-lived*: the mean of their shares, in
whole percent. *Threads*, *processors*: powers of two, up to the most threads that a program has.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

from heapwright.artefacts.profile.document import Profile
from heapwright.base.errors import HeapwrightError

GAP = 2.0
"""The factor between the allocations of two neighbours that starts a new group."""
GROUPS = 3
CONCENTRATED = 0.7
EDGES = (0, 64, 512, 2048, 16384, 131072, 1048576)
MOST_THREADS = 64
LARGEST = 1_000_000_000
"""Allocations of one run; the workload's own limit."""


@dataclass(frozen=True, slots=True)
class Program:
    """A profiled program by a name of its own."""

    name: str
    profile: Profile


@dataclass(frozen=True, slots=True)
class CountLevel:
    """A number of allocations, and the programs that make about that number."""

    value: int
    programs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SizeLevel:
    """A range of sizes, and the programs that ask for them."""

    low: int
    high: int
    programs: tuple[str, ...]

    @property
    def least(self) -> int:
        return max(self.low, 1)

    @property
    def name(self) -> str:
        return f"{self.least}..{self.high}"


@dataclass(frozen=True, slots=True)
class Derived:
    """The levels, and what was left out."""

    programs: tuple[str, ...]
    allocations: tuple[CountLevel, ...]
    fewer: tuple[CountLevel, ...]
    """Groups that make fewer allocations, and are not taken."""
    sizes: tuple[SizeLevel, ...]
    spread: tuple[str, ...]
    """Programs that are in no range."""
    patterns: dict[str, tuple[str, ...]]
    long_percent: int
    threads: tuple[int, ...]


def derive_levels(programs: Sequence[Program]) -> Derived:
    """The levels that these programs lead to. Raises HeapwrightError if they lead to none."""
    silent = [each.name for each in programs if each.profile.totals.allocations == 0]
    if silent:
        raise HeapwrightError(
            f"{', '.join(silent)}: a program that allocates nothing has no levels"
        )
    groups = _grouped(programs)
    sizes, spread = _sizes(programs)
    patterns: dict[str, tuple[str, ...]] = {}
    for kind in ("peak", "growing"):
        names = tuple(each.name for each in programs if each.profile.pattern.kind == kind)
        if names:
            patterns[kind] = names
    shares = [
        each.profile.retention.long_count / each.profile.totals.allocations for each in programs
    ]
    return Derived(
        programs=tuple(each.name for each in programs),
        allocations=groups[-GROUPS:],
        fewer=groups[:-GROUPS],
        sizes=sizes,
        spread=spread,
        patterns=patterns or {"peak": ()},
        long_percent=round(100 * sum(shares) / len(shares)),
        threads=_threads(programs),
    )


def _grouped(programs: Sequence[Program]) -> tuple[CountLevel, ...]:
    ordered = sorted(programs, key=lambda each: each.profile.totals.allocations)
    groups = [[ordered[0]]]
    for before, program in pairwise(ordered):
        counts = before.profile.totals.allocations, program.profile.totals.allocations
        if counts[1] > GAP * counts[0]:
            groups.append([])
        groups[-1].append(program)
    levels: dict[int, tuple[str, ...]] = {}
    for group in groups:
        logs = [math.log(each.profile.totals.allocations) for each in group]
        value = min(rounded(math.exp(sum(logs) / len(logs))), LARGEST)
        levels[value] = (*levels.get(value, ()), *(each.name for each in group))
    return tuple(CountLevel(value, names) for value, names in levels.items())


def rounded(value: float) -> int:
    """The nearest of 1, 2, 5, 10, 20 …, by ratio."""
    power = 10.0 ** math.floor(math.log10(value))
    steps: list[float] = [step * power for step in (1, 2, 5, 10)]
    distances = [abs(math.log(step / value)) for step in steps]
    return max(1, round(steps[distances.index(min(distances))]))


def _sizes(programs: Sequence[Program]) -> tuple[tuple[SizeLevel, ...], tuple[str, ...]]:
    found: dict[tuple[int, int], list[str]] = {}
    spread = []
    for program in programs:
        ranges = [
            each for each in pairwise(EDGES) if _share(program.profile, *each) >= CONCENTRATED
        ]
        if ranges:
            found.setdefault(ranges[0], []).append(program.name)
        else:
            spread.append(program)
    if not found:
        for program in spread:
            found.setdefault(_shortest(program.profile), []).append(program.name)
        spread = []
    levels = (SizeLevel(*each, tuple(names)) for each, names in sorted(found.items()))
    return tuple(levels), tuple(each.name for each in spread)


def _share(profile: Profile, low: int, high: int) -> float:
    """Of the allocations, those of more than `low` and at most `high` bytes.

    Buckets end at powers of two, as the edges do; 0 bytes count as the smallest.
    """
    count = sum(
        bucket.count
        for bucket in profile.sizes.histogram
        if bucket.high <= high and (bucket.low >= low or low == 0)
    )
    return count / profile.totals.allocations


def _shortest(profile: Profile) -> tuple[int, int]:
    """The shortest run of neighbouring ranges that holds enough; the whole ladder if none does."""
    runs = sorted(combinations(range(len(EDGES)), 2), key=lambda run: (run[1] - run[0], run))
    for first, last in runs:
        if _share(profile, EDGES[first], EDGES[last]) >= CONCENTRATED:
            return EDGES[first], EDGES[last]
    return EDGES[0], EDGES[-1]


def _threads(programs: Sequence[Program]) -> tuple[int, ...]:
    most = max(sum(thread.allocations > 0 for thread in each.profile.threads) for each in programs)
    levels = [1]
    while levels[-1] < min(max(most, 2), MOST_THREADS):
        levels.append(2 * levels[-1])
    return tuple(levels)
