# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Two-level fractional factorial designs of resolution IV or more.

Each setting has a low and a high level. The first settings form a full factorial. The column of
each further setting is the product of columns of these. Resolution IV separates the effect of each
setting from all interactions of two settings. Some interactions of two then share a column
(aliases).

Source: Box, Hunter and Hunter (1961); Montgomery, Design and Analysis of Experiments, table 8.14.
"""

import itertools
from dataclasses import dataclass
from functools import cached_property

from heapwright.analysis.tuning.space import Cell, Space

MOST_FACTORS = 16
_FIVE = (0b1111,)
"""Five settings in 16 runs have resolution V with the product of four columns."""


@dataclass(frozen=True)
class Fraction:
    """A regular fraction: `masks` has the base columns whose product is the column of each
    factor."""

    base: int
    masks: tuple[int, ...]

    @property
    def runs(self) -> int:
        return 1 << self.base

    @cached_property
    def signs(self) -> tuple[tuple[int, ...], ...]:
        """For each run the level of each factor: -1 low, 1 high."""
        return tuple(
            tuple(column_sign(mask, run) for mask in self.masks) for run in range(self.runs)
        )

    @cached_property
    def resolution(self) -> int | None:
        """The fewest factors whose columns have a constant product; None for a full factorial."""
        for size in range(1, len(self.masks) + 1):
            for chosen in itertools.combinations(self.masks, size):
                product = 0
                for mask in chosen:
                    product ^= mask
                if not product:
                    return size
        return None

    @cached_property
    def chains(self) -> dict[int, tuple[tuple[int, int], ...]]:
        """Interactions of two factors by their column. Those of one column are aliases."""
        found: dict[int, list[tuple[int, int]]] = {}
        for one, other in itertools.combinations(range(len(self.masks)), 2):
            found.setdefault(self.masks[one] ^ self.masks[other], []).append((one, other))
        return {mask: tuple(pairs) for mask, pairs in found.items()}


def column_sign(mask: int, run: int) -> int:
    """The sign of a product of base columns in a run."""
    return -1 if (mask & ~run).bit_count() % 2 else 1


def fraction_for(factors: int) -> Fraction:
    """The smallest known fraction of resolution IV or more. Raises ValueError for too many."""
    if not 1 <= factors <= MOST_FACTORS:
        raise ValueError(f"a design has 1 to {MOST_FACTORS} factors, not {factors}")
    base = factors if factors <= 3 else next(b for b in (3, 4, 5) if factors <= 1 << (b - 1))
    columns = [1 << number for number in range(base)]
    odd = (m for m in range(1 << base) if m.bit_count() % 2 and m.bit_count() >= 3)
    generators = _FIVE if factors == 5 else tuple(sorted(odd, key=int.bit_count))
    return Fraction(base, (*columns, *generators[: factors - base]))


def screening_cells(space: Space, fraction: Fraction) -> tuple[Cell, ...]:
    """The runs of the fraction as cells."""
    return tuple(
        tuple(
            factor.high if sign > 0 else factor.low
            for factor, sign in zip(space.factors, signs, strict=True)
        )
        for signs in fraction.signs
    )
