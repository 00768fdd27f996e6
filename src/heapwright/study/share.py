# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A fraction of a design by its size: cells chosen by chance, but balanced.

Every level is in the fraction in the proportion in which it is in the whole design (main effects
are balanced), as nearly as whole numbers and the constraints let it be; pairs of levels are then
spread as evenly as an exchange gets them. The same seed gives the same cells. It goes like this:

1. begin with cells by chance;
2. while a level is there too often, change a cell that has it to one that is there too seldom
   (another cell by chance, where constraints forbid that), if that brings the counts nearer;
3. let two cells exchange their levels of one factor, which keeps the counts of all levels, if that
   spreads pairs more evenly; a fixed number of times.

Cells are never listed unless they are few: time and memory are those of the fraction. The idea is
that of coordinate exchange (Meyer and Nachtsheim 1995) with the counts of levels and of pairs as
what is made small.
"""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from heapwright.study.combinations import MOST_STEPS, SAMPLE, Cells, Combination

TRIES = 40
"""Of each step, for each cell."""
MOST_TRIES = 200_000


@dataclass(frozen=True, slots=True)
class Share:
    """The chosen cells, and how even they are: the largest distances from the aim, in cells."""

    cells: tuple[Combination, ...]
    levels_off: float
    pairs_off: float


def choose_share(whole: Cells, wanted: int, seed: int) -> Share:
    """`wanted` cells of those that are allowed; fewer if there are not so many."""
    rng = random.Random(f"heapwright/{seed}/fraction")
    listed = whole.exact and whole.count <= MOST_STEPS
    allowed = list(whole.all()) if listed else None
    aims = _Aims(whole, allowed, rng)
    if allowed is not None:
        cells = rng.sample(allowed, min(wanted, len(allowed)))
    else:
        cells = _drawn(whole, wanted, rng)
    chosen = _Chosen(whole, cells, aims, rng)
    tries = min(MOST_TRIES, TRIES * len(cells))
    chosen.balance_levels(tries)
    chosen.spread_pairs(tries)
    return Share(tuple(sorted(chosen.cells)), chosen.levels_off(), chosen.pairs_off())


def _drawn(whole: Cells, wanted: int, rng: random.Random) -> list[Combination]:
    """Cells of a design too large to be listed; with levels in even numbers to begin with."""
    columns = []
    for count in whole.counts:
        column = [place % count for place in range(wanted)]
        rng.shuffle(column)
        columns.append(column)
    cells: dict[Combination, None] = {}
    for cell in zip(*columns, strict=True):
        if cell not in cells and whole.allowed(cell):
            cells[cell] = None
    while len(cells) < wanted:  # ends soon: there are many times as many that are allowed
        cells[whole.drawn(rng)] = None
    return list(cells)


class _Aims:
    """The share of cells in which each level, and each pair of levels, should be."""

    def __init__(self, whole: Cells, allowed: list[Combination] | None, rng: random.Random) -> None:
        self._counts = whole.counts
        self._levels: Counter[tuple[int, int]] = Counter()
        self._pairs: Counter[tuple[int, int, int, int]] = Counter()
        self._of = 0
        if whole.constrained:
            sample = allowed or [whole.drawn(rng) for _ in range(SAMPLE)]
            self._of = len(sample)
            for cell in sample:
                self._levels.update(enumerate(cell))
                self._pairs.update(_pairs(cell))

    def level(self, factor: int, level: int) -> float:
        if not self._of:
            return 1 / self._counts[factor]
        return self._levels[factor, level] / self._of

    def pair(self, key: tuple[int, int, int, int]) -> float:
        if not self._of:
            return 1 / (self._counts[key[0]] * self._counts[key[1]])
        return self._pairs[key] / self._of


def _pairs(cell: Combination) -> Iterator[tuple[int, int, int, int]]:
    for one, other in combinations(range(len(cell)), 2):
        yield one, other, cell[one], cell[other]


class _Chosen:
    """The cells chosen so far, with counts that follow every change."""

    def __init__(
        self, whole: Cells, cells: list[Combination], aims: _Aims, rng: random.Random
    ) -> None:
        self.cells = cells
        self._set = set(cells)
        self._whole = whole
        self._rng = rng
        self._size = len(cells)
        self._aims = aims
        self._levels = Counter(pair for cell in cells for pair in enumerate(cell))
        self._pairs = Counter(pair for cell in cells for pair in _pairs(cell))

    def _off(self, factor: int, level: int) -> float:
        return self._levels[factor, level] - self._aims.level(factor, level) * self._size

    def levels_off(self) -> float:
        counts = self._whole.counts
        return max(abs(self._off(f, each)) for f in range(len(counts)) for each in range(counts[f]))

    def pairs_off(self) -> float:
        counts = self._whole.counts
        return max(
            (
                abs(self._pairs[f, g, a, b] - self._aims.pair((f, g, a, b)) * self._size)
                for f, g in combinations(range(len(counts)), 2)
                for a in range(counts[f])
                for b in range(counts[g])
            ),
            default=0.0,
        )

    def _free(self, cell: Combination) -> bool:
        return cell not in self._set and self._whole.allowed(cell)

    def _replace(self, place: int, new: Combination) -> None:
        old = self.cells[place]
        self.cells[place] = new
        self._set.remove(old)
        self._set.add(new)
        self._levels.subtract(enumerate(old))
        self._levels.update(enumerate(new))
        self._pairs.subtract(_pairs(old))
        self._pairs.update(_pairs(new))

    def balance_levels(self, tries: int) -> None:
        """Step 2."""
        for attempt in range(tries):
            uneven = [f for f in range(len(self._whole.counts)) if self._uneven(f)]
            if not uneven:
                return
            place = self._rng.randrange(self._size)
            old = self.cells[place]
            if attempt % 4 and (new := self._changed(old, self._rng.choice(uneven))):
                pass
            else:
                new = self._whole.drawn(self._rng)
            if new != old and self._gain(old, new) > 0 and self._free(new):
                self._replace(place, new)

    def _uneven(self, factor: int) -> bool:
        """Whether a level could be moved to another and the counts be nearer to the aim."""
        off = [self._off(factor, level) for level in range(self._whole.counts[factor])]
        return max(off) - min(off) > 1 + 1e-9

    def _changed(self, cell: Combination, factor: int) -> Combination | None:
        off = [self._off(factor, level) for level in range(self._whole.counts[factor])]
        if off[cell[factor]] <= min(off) + 1:
            return None
        return (*cell[:factor], off.index(min(off)), *cell[factor + 1 :])

    def _gain(self, old: Combination, new: Combination) -> float:
        """By how much the squared distances from the aim shrink."""
        gain = 0.0
        for factor, (before, after) in enumerate(zip(old, new, strict=True)):
            if before != after:
                gain += 2 * (self._off(factor, before) - self._off(factor, after) - 1)
        return gain

    def spread_pairs(self, tries: int) -> None:
        """Step 3."""
        factors = len(self._whole.counts)
        if factors < 2 or self._size < 2:
            return
        for _ in range(tries):
            one, other = self._rng.sample(range(self._size), 2)
            factor = self._rng.randrange(factors)
            a, b = self.cells[one], self.cells[other]
            if a[factor] == b[factor]:
                continue
            new_a = (*a[:factor], b[factor], *a[factor + 1 :])
            new_b = (*b[:factor], a[factor], *b[factor + 1 :])
            if self._spreads(a, b, factor) and self._free(new_a) and self._free(new_b):
                self._replace(one, new_a)
                self._replace(other, new_b)

    def _spreads(self, a: Combination, b: Combination, factor: int) -> bool:
        """Whether exchanging the levels of `factor` makes the pairs more even."""
        gain = 0.0
        for other in range(len(a)):
            if other == factor or a[other] == b[other]:
                continue
            losing = (self._pair_off(factor, x[factor], other, x[other]) for x in (a, b))
            winning = (
                self._pair_off(factor, x[factor], other, y[other]) for x, y in ((a, b), (b, a))
            )
            gain += sum(2 * off - 1 for off in losing) - sum(2 * off + 1 for off in winning)
        return gain > 0

    def _pair_off(self, factor: int, level: int, other: int, other_level: int) -> float:
        key = (factor, other, level, other_level)
        if factor > other:
            key = (other, factor, other_level, level)
        return self._pairs[key] - self._aims.pair(key) * self._size
