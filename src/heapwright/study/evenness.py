# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How evenly levels, pairs of levels, and threes are spread over chosen cells.

What is counted is known by a key: the factors, then their levels. The aim of each is its share
among all cells that are allowed. It is exact without constraints, and for levels. For pairs and
threes under constraints it is from a sample, if there are many cells. Distances are in cells.
"""

import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from math import comb, prod

from heapwright.study.combinations import SAMPLE, Cells, Combination

MOST_COUNTED = 3_000_000
"""Keys of one size, in all cells or that there can be; of more, threes or pairs are not counted."""

SAMPLED = 5_000
"""Cells from which the shares of pairs and threes are found, under constraints."""
WEIGHTS = {1: 100, 2: 6, 3: 1}
"""Of the squared distances of levels, pairs and threes: what is lower comes first."""

Key = tuple[int, ...]


def keys_of(cell: Combination, size: int) -> Iterator[Key]:
    """The keys of combinations of this number of factors."""
    for factors in combinations(range(len(cell)), size):
        yield (*factors, *[cell[factor] for factor in factors])


class Aims:
    """The share of cells in which each key should be."""

    def __init__(
        self, whole: Cells, wanted: int, allowed: list[Combination] | None, rng: random.Random
    ) -> None:
        self.counts = whole.counts
        self.largest = 1
        while self.largest < min(3, len(self.counts)) and self._countable(self.largest + 1, wanted):
            self.largest += 1
        self._shares: dict[Key, float] | None = None
        if not whole.constrained:
            return
        sample = allowed or [whole.drawn(rng) for _ in range(SAMPLE)]
        self._shares = _shares(sample, [1])
        if len(sample) > SAMPLED:
            sample = rng.sample(sample, SAMPLED)
        self._shares |= _shares(sample, range(2, self.largest + 1))

    def _countable(self, size: int, cells: int) -> bool:
        groups = comb(len(self.counts), size)
        if groups * cells > MOST_COUNTED:
            return False
        return sum(map(prod, combinations(self.counts, size))) <= MOST_COUNTED

    def share(self, key: Key) -> float:
        if self._shares is not None:
            return self._shares.get(key, 0.0)
        return 1 / prod([self.counts[factor] for factor in key[: len(key) // 2]])

    def keys(self, size: int) -> Iterator[Key]:
        """All possible combinations of this number of factors."""
        for factors in combinations(range(len(self.counts)), size):
            for levels in product(*(range(self.counts[factor]) for factor in factors)):
                yield (*factors, *levels)


def _shares(cells: Sequence[Combination], sizes: Sequence[int]) -> dict[Key, float]:
    counts = Counter(key for cell in cells for size in sizes for key in keys_of(cell, size))
    return {key: count / len(cells) for key, count in counts.items()}


class Counts:
    """How often each key is in the cells, against the aim; follows every change."""

    def __init__(self, cells: Sequence[Combination], aims: Aims) -> None:
        self.largest = aims.largest
        self._aims = aims
        self._size = len(cells)
        self._counts: Counter[Key] = Counter()
        for cell in cells:
            self.change(cell, 1)

    def change(self, cell: Combination, by: int) -> None:
        for size in range(1, self.largest + 1):
            for key in keys_of(cell, size):
                self._counts[key] += by

    def _off(self, key: Key) -> float:
        return self._counts[key] - self._aims.share(key) * self._size

    def level_off(self, factor: int, level: int) -> float:
        return self._off((factor, level))

    def off(self, size: int) -> float | None:
        """The largest distance from the aim; None if this number is not counted together."""
        if size > self.largest:
            return None
        return max((abs(self._off(key)) for key in self._aims.keys(size)), default=None)

    def unevenness(self) -> float:
        """The weighted sum of all squared distances."""
        sizes = range(1, self.largest + 1)
        return sum(
            WEIGHTS[size] * self._off(key) ** 2 for size in sizes for key in self._aims.keys(size)
        )

    def gain_in_levels(self, old: Combination, new: Combination) -> float:
        """By how much squared distances of levels shrink if `new` takes the place of `old`."""
        return sum(
            2 * (self.level_off(factor, before) - self.level_off(factor, after) - 1)
            for factor, (before, after) in enumerate(zip(old, new, strict=True))
            if before != after
        )

    def gain_by_exchange(
        self, a: Combination, b: Combination, factor: int, groups: Sequence[tuple[int, ...]]
    ) -> float:
        """By how much `unevenness` shrinks if two cells exchange their levels of `factor`.

        `groups` are the factors that are counted together with it.
        """
        gain = 0.0
        for group in groups:
            levels_a = [a[each] for each in group]
            levels_b = [b[each] for each in group]
            if levels_a == levels_b:
                continue
            for level, before, after in (
                (a[factor], levels_a, levels_b),
                (b[factor], levels_b, levels_a),
            ):
                losing = self._off(_key(factor, level, group, before))
                winning = self._off(_key(factor, level, group, after))
                gain += WEIGHTS[len(group) + 1] * 2 * (losing - winning - 1)
        return gain


def _key(factor: int, level: int, group: tuple[int, ...], levels: Sequence[int]) -> Key:
    """With the factors in order."""
    place = sum(other < factor for other in group)
    return (
        *group[:place],
        factor,
        *group[place:],
        *levels[:place],
        level,
        *levels[place:],
    )
