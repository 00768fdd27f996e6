# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A fraction of a design by its size: cells chosen by chance, but balanced.

Every level has the same proportion in the fraction as in the whole design (main effects are
balanced). This holds as nearly as whole numbers and the constraints allow. An exchange then spreads
pairs of levels, and three levels of three factors together, as evenly as it can. The same seed
gives the same cells. It goes like this:

1. begin with cells by chance;
2. while a level appears too often, change a cell that has it to one that appears too seldom, if
   that brings the counts nearer. Where constraints forbid that, change it to another cell by
   chance;
3. let two cells exchange their levels of one factor, which keeps the counts of all levels. Do not
   do this if it spreads pairs and threes less evenly; a fixed number of times.

A small fraction is chosen several times, and the most even is kept. Cells are never listed unless
they are few: time and memory are those of the fraction. The idea is that of coordinate exchange
(Meyer and Nachtsheim 1995). It minimises the squared distances of counts from even. Even threes
keep main effects apart from interactions of two.
"""

import random
from dataclasses import dataclass
from itertools import combinations

from heapwright.study.combinations import MOST_STEPS, Cells, Combination
from heapwright.study.evenness import Aims, Counts

EVEN = 1e-9
TRIES = 40
"""Of each step, for each cell."""
MOST_TRIES = 200_000
MOST_STARTS = 40
MOST_STARTED = 400
"""Cells of all starts together: a small fraction is chosen several times."""


@dataclass(frozen=True, slots=True)
class Share:
    """The chosen cells, and how even they are: the largest distances from the aim, in cells."""

    cells: tuple[Combination, ...]
    levels_off: float
    pairs_off: float | None
    """None: there are too many to be counted, or none."""
    threes_off: float | None
    """As for pairs."""


def choose_share(whole: Cells, wanted: int, seed: int) -> Share:
    """`wanted` cells of those that are allowed; fewer if there are fewer."""
    rng = random.Random(f"heapwright/{seed}/fraction")
    listed = whole.exact and whole.count <= MOST_STEPS
    allowed = list(whole.all()) if listed else None
    aims = Aims(whole, wanted, allowed, rng)
    best = _chosen(whole, wanted, allowed, aims, rng)
    for _ in range(1, min(MOST_STARTS, MOST_STARTED // wanted)):
        if best.counts.unevenness() < EVEN:
            break
        another = _chosen(whole, wanted, allowed, aims, rng)
        best = min(best, another, key=lambda each: each.counts.unevenness())
    return Share(
        tuple(sorted(best.cells)),
        best.counts.off(1) or 0.0,
        best.counts.off(2),
        best.counts.off(3),
    )


def _chosen(
    whole: Cells, wanted: int, allowed: list[Combination] | None, aims: Aims, rng: random.Random
) -> "_Chosen":
    if allowed is None:
        cells = _drawn(whole, wanted, rng)
    else:
        cells = rng.sample(allowed, min(wanted, len(allowed)))
    chosen = _Chosen(whole, cells, aims, rng)
    tries = min(TRIES * len(cells), MOST_TRIES)
    chosen.balance_levels(tries)
    chosen.spread(tries)
    return chosen


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


class _Chosen:
    """The cells chosen so far, with counts that follow every change."""

    def __init__(
        self, whole: Cells, cells: list[Combination], aims: Aims, rng: random.Random
    ) -> None:
        self.cells = cells
        self.counts = Counts(cells, aims)
        self._set = set(cells)
        self._whole = whole
        self._rng = rng

    def _free(self, cell: Combination) -> bool:
        return cell not in self._set and self._whole.allowed(cell)

    def _replace(self, place: int, new: Combination) -> None:
        old = self.cells[place]
        self.cells[place] = new
        self._set.remove(old)
        self._set.add(new)
        self.counts.change(old, -1)
        self.counts.change(new, 1)

    def balance_levels(self, tries: int) -> None:
        """Step 2."""
        for attempt in range(tries):
            uneven = [f for f in range(len(self._whole.counts)) if self._spread_of(f) > 1 + 1e-9]
            if not uneven:
                return
            place = self._rng.randrange(len(self.cells))
            old = self.cells[place]
            new = self._changed(old, self._rng.choice(uneven)) if attempt % 4 else None
            if new is None:
                new = self._whole.drawn(self._rng)
            if new != old and self.counts.gain_in_levels(old, new) > 0 and self._free(new):
                self._replace(place, new)

    def _offs(self, factor: int) -> list[float]:
        levels = range(self._whole.counts[factor])
        return [self.counts.level_off(factor, level) for level in levels]

    def _spread_of(self, factor: int) -> float:
        """Above 1, a level could be changed to another and the counts be nearer to the aim."""
        off = self._offs(factor)
        return max(off) - min(off)

    def _changed(self, cell: Combination, factor: int) -> Combination | None:
        """With the rarest level of a factor, if its own is there too often."""
        off = self._offs(factor)
        if off[cell[factor]] <= min(off) + 1:
            return None
        return (*cell[:factor], off.index(min(off)), *cell[factor + 1 :])

    def spread(self, tries: int) -> None:
        """Step 3."""
        factors = len(self._whole.counts)
        if self.counts.largest < 2 or len(self.cells) < 2:
            return
        groups = {
            factor: [
                group
                for size in range(1, self.counts.largest)
                for group in combinations([f for f in range(factors) if f != factor], size)
            ]
            for factor in range(factors)
        }
        for _ in range(min(tries, MOST_TRIES * 10 // len(groups[0]))):
            one, other = self._rng.sample(range(len(self.cells)), 2)
            factor = self._rng.randrange(factors)
            a, b = self.cells[one], self.cells[other]
            if a[factor] == b[factor]:
                continue
            new_a = (*a[:factor], b[factor], *a[factor + 1 :])
            new_b = (*b[:factor], a[factor], *b[factor + 1 :])
            if not self._free(new_a) or not self._free(new_b):
                continue
            if self.counts.gain_by_exchange(a, b, factor, groups[factor]) >= 0:
                self._replace(one, new_a)
                self._replace(other, new_b)
