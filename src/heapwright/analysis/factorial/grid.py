# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The runs as a box of blocks, combinations and levels, from which whole blocks are drawn.

One factor (the allocators, or a quantity) is set apart. The *combinations* are those of all others.
The average over combinations is a table of blocks and levels, as in a comparison of single
treatments. The blocked model, Tukey's groups and the bootstrap over blocks of `analysis` therefore
apply.

Differences between blocks are removed, so a block with runs from two hosts is one row. A missing
run gets the value of the additive model (Yates 1933). It then neither moves a mean nor adds
scatter, but it costs degrees of freedom.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapwright.analysis.factorial.model import Model
from heapwright.analysis.factorial.observed import Floats, Ints, distinct

MOST_ENTRIES = 8_000_000
"""Size limit of a box (64 MB, three times). Beyond it a study is too sparse for this method."""


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """b blocks as the results have them, C combinations, A levels of the factor set apart.

    values  (b, C, A)  without what blocks differ in; NaN where a treatment has no run at all
    seen    (b, C, A)  where there is a run
    runs    (C, A)     good runs
    combos  (C, F)     numbers of the levels; -1 for the factor that is set apart
    levels  (A,)       numbers of the levels that have runs
    places  (T, 2)     combination and level of each treatment
    """

    column: int
    values: Floats
    seen: NDArray[np.bool_]
    runs: Ints
    combos: Ints
    levels: Ints
    places: Ints

    def by_treatment(self, figures: Ints) -> Ints:
        """A figure per treatment, sorted into (C, A); 0 elsewhere."""
        sorted_in = np.zeros_like(self.runs)
        sorted_in[self.places[:, 0], self.places[:, 1]] = figures
        return sorted_in


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Blocks and levels, averaged over some combinations.

    values    (b, A')  a row a block that has half of the runs at least, or as many as any has
    blocks    (b,)     numbers of these blocks
    levels    (A',)    places in `Grid.levels`
    absent             places of those that have no run in more than half of the combinations
    combos    (C',)    places of the combinations that are averaged
    left_out           combinations that are not, because a level has no run there
    filled             runs of the table that had to be filled in, over its combinations
    share              of the values, what runs have: the others are filled in and scatter not
    """

    values: Floats
    blocks: Ints
    levels: Ints
    absent: Ints
    combos: Ints
    left_out: int
    filled: int
    share: float


def grid(this: Model, column: int) -> Grid | None:
    """Set the factor in `column` apart; None if the box would be too large."""
    observed = this.observed
    others = observed.levels.copy()
    others[:, column] = -1
    combos, combo = distinct(others)
    levels, level = np.unique(observed.levels[:, column], return_inverse=True)
    shape = (len(observed.numbers), len(combos), len(levels))
    if np.prod(shape, dtype=np.float64) > MOST_ENTRIES:
        return None
    values = np.full(shape, np.nan)
    values[:, combo, level] = this.effects
    left, counts = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    where = (observed.repetition, combo[observed.treatment], level[observed.treatment])
    if this.variance != 0:  # else they are rounding
        np.add.at(left, where, this.residuals)
    np.add.at(counts, where, 1)
    seen = counts > 0
    values[seen] += left[seen] / counts[seen]
    places = np.column_stack([combo, level])
    return Grid(column, values, seen, counts.sum(axis=0), combos, levels, places)


def table(box: Grid, combos: Ints) -> Table | None:
    """Average over `combos` (places in the box); None if no level is in any of them."""
    there = box.runs[combos] > 0
    known = there.sum(axis=0)
    levels = np.flatnonzero(2 * known >= len(combos))
    if not len(levels):
        return None
    whole = there[:, levels].all(axis=1)
    if not whole.any():
        return None
    kept = combos[whole]
    part = np.ix_(np.arange(len(box.values)), kept, levels)
    seen = box.seen[part]
    runs = seen.sum(axis=(1, 2))
    blocks = runs >= min(seen[0].size / 2, runs.max())
    missing = int((~seen[blocks]).sum())
    return Table(
        values=np.asarray(box.values[part][blocks].mean(axis=1)),
        blocks=np.flatnonzero(blocks),
        levels=levels,
        absent=np.setdiff1d(np.arange(len(box.levels)), levels),
        combos=kept,
        left_out=len(combos) - len(kept),
        filled=-(-missing // len(kept)),
        share=float(seen[blocks].mean()),
    )


def within(box: Grid, scope: Sequence[tuple[int, int]]) -> Ints:
    """The combinations with these levels, each given as column and number."""
    kept = np.ones(len(box.combos), dtype=bool)
    for column, number in scope:
        kept &= box.combos[:, column] == number
    return np.flatnonzero(kept)
