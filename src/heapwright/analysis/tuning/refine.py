# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The candidates of a race: cells near the optimum that the screening predicts.

A small grid of the active settings races whole. Of a larger one these cells race: the best
predicted corner, and the best cells that change one setting only. Each middle level of an active
setting beside the corner follows, and then the next best corners. Settings without an effect keep
their default. Later rounds race the neighbours of the winner. A last round may race levels outside
of the grid.
"""

import itertools
from collections.abc import Callable, Collection, Sequence

from heapwright.analysis.tuning.space import Cell, Space

MOST_CANDIDATES = 12
"""Of one round, besides the default."""

MOST_ALONE = 4
"""Of them, cells that change one setting only."""

MOST_FINER = 6
"""Cells with a level outside of the grid."""

Predict = Callable[[Cell], float]


def first_candidates(
    space: Space,
    active: Sequence[int],
    predicted: Predict,
    allowed: Callable[[Cell], bool],
    most: int = MOST_CANDIDATES,
) -> list[Cell]:
    """The candidates of the first round, the most promising first; not the default."""
    cells = [cell for cell in _grid(space, active) if cell != space.default]
    ranked = sorted(filter(allowed, cells), key=predicted)
    if len(ranked) <= most:
        return ranked
    best = ranked[0]
    middles = [
        space.with_level(best, factor, level)
        for factor in active
        for level in range(len(space.factors[factor].levels))
        if 0 < level < space.factors[factor].high or level == space.factors[factor].default
    ]
    alone = [
        space.with_level(space.default, factor, level)
        for factor in active
        for level in range(len(space.factors[factor].levels))
    ]
    alone = sorted(filter(allowed, dict.fromkeys(alone)), key=predicted)[:MOST_ALONE]
    chosen = dict.fromkeys([best, *alone, *middles])
    chosen.pop(space.default, None)
    corners = [cell for cell in ranked if _is_corner(space, cell, active)]
    return list(dict.fromkeys([*chosen, *corners, *ranked]))[:most]


def neighbours(
    space: Space, winner: Cell, active: Sequence[int], raced: Collection[Cell]
) -> list[Cell]:
    """Cells one level away from the winner in an active setting, or with one setting less."""
    found = [
        space.with_level(winner, factor, level)
        for factor in active
        for level in (winner[factor] - 1, winner[factor] + 1)
        if 0 <= level <= space.factors[factor].high
    ]
    found += [
        space.with_level(winner, place, factor.default)
        for place, factor in enumerate(space.factors)
        if winner[place] != factor.default
    ]
    return [cell for cell in dict.fromkeys(found) if cell not in raced and cell != space.default]


def finer_cells(space: Space, winner: Cell, active: Sequence[int]) -> list[Cell]:
    """The winner with one level of an active setting replaced by one near it, outside of the
    grid."""
    found = [
        space.with_level(winner, place, level)
        for place in active
        for level, (_, near) in enumerate(
            space.factors[place].finer, len(space.factors[place].levels)
        )
        if near == winner[place]
    ]
    return found[:MOST_FINER]


def simpler(space: Space, winner: Cell, predicted: Predict, allowance: float) -> list[Cell]:
    """The winner with one setting less, two less and so on, as long as the model loses at most the
    allowance, a log ratio."""
    found: list[Cell] = []
    cell, limit = winner, predicted(winner) + allowance
    while len(space.given(cell)) > 1:
        fewer = [
            space.with_level(cell, place, factor.default)
            for place, factor in enumerate(space.factors)
            if cell[place] != factor.default
        ]
        cell = min(fewer, key=predicted)
        if predicted(cell) > limit:
            break
        found.append(cell)
    return found


def _grid(space: Space, active: Sequence[int]) -> list[Cell]:
    """All levels of the active settings, and the default of the others."""
    levels = [
        range(len(factor.levels)) if place in active else (factor.default,)
        for place, factor in enumerate(space.factors)
    ]
    return list(itertools.product(*levels))


def _is_corner(space: Space, cell: Cell, active: Sequence[int]) -> bool:
    return all(cell[factor] in {0, space.factors[factor].high} for factor in active)
