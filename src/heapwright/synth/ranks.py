# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether two rankings of the same things agree."""

from collections.abc import Sequence
from itertools import combinations

Pair = tuple[float | None, float | None]


def kendall_tau(pairs: Sequence[Pair]) -> float | None:
    """Kendall's tau-b of the pairs that are whole: 1 the same order, -1 the opposite, null without
    two things that differ in both (Kendall 1945).
    """
    whole = [(one, other) for one, other in pairs if one is not None and other is not None]
    agreeing = differing = tied_one = tied_other = 0
    for (a, b), (c, d) in combinations(whole, 2):
        first, second = (a > c) - (a < c), (b > d) - (b < d)
        agreeing += first * second > 0
        differing += first * second < 0
        tied_one += first == 0 and second != 0
        tied_other += second == 0 and first != 0
    untied = agreeing + differing
    scale: float = ((untied + tied_one) * (untied + tied_other)) ** 0.5
    return (agreeing - differing) / scale if scale else None


def same_first(pairs: Sequence[Pair]) -> bool | None:
    """Whether the smallest of the first figures is at the place of the smallest of the second."""
    whole = [(one, other) for one, other in pairs if one is not None and other is not None]
    if len(whole) < 2:
        return None
    places = range(len(whole))
    return min(places, key=lambda at: whole[at][0]) == min(places, key=lambda at: whole[at][1])
