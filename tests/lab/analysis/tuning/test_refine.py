# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The candidates of a race lie near the optimum, and the model predicts cells without runs."""

import itertools

import numpy as np
import pytest

from heapwright.analysis.tuning.refine import (
    MOST_CANDIDATES,
    finer_cells,
    first_candidates,
    neighbours,
    simpler,
)
from heapwright.analysis.tuning.space import Cell, Factor, Space, fewest_settings
from heapwright.analysis.tuning.surface import surface

SPACE = Space(tuple(Factor(name, ("0", "default", "2"), 1) for name in "abcd"))


def anything(_cell: Cell) -> bool:
    return True


def level_sum(cell: Cell) -> float:
    return float(sum(cell))


def test_a_small_grid_races_whole_without_the_default() -> None:
    found = first_candidates(SPACE, [0, 2], level_sum, anything)
    assert len(found) == 8
    assert found[0] == (0, 1, 0, 1)
    assert SPACE.default not in found
    assert all(cell[1] == cell[3] == 1 for cell in found)


def test_a_large_grid_races_the_best_corner_single_settings_and_middle_levels() -> None:
    found = first_candidates(SPACE, [0, 1, 2], level_sum, anything)
    assert len(found) == MOST_CANDIDATES
    assert found[0] == (0, 0, 0, 1)
    assert set(found[1:4]) == {(0, 1, 1, 1), (1, 0, 1, 1), (1, 1, 0, 1)}
    assert set(found[4:7]) == {(1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1)}


def test_settings_that_gain_little_are_taken_away_one_by_one() -> None:
    def predicted(cell: Cell) -> float:
        return 0.1 * (cell[0] - 1) + 0.001 * (cell[1] - 1) + 0.002 * (cell[2] - 1)

    found = simpler(SPACE, (0, 0, 0, 1), predicted, 0.01)
    assert found == [(0, 1, 0, 1), (0, 1, 1, 1)]
    assert simpler(SPACE, (0, 0, 0, 1), predicted, 0.0) == []


def test_cells_that_are_not_allowed_are_left_out() -> None:
    found = first_candidates(SPACE, [0, 2], level_sum, lambda cell: cell[0] != 0)
    assert found
    assert all(cell[0] != 0 for cell in found)


def test_neighbours_differ_by_one_level_or_one_setting() -> None:
    winner = (0, 1, 2, 0)
    found = neighbours(SPACE, winner, [0, 2], {winner, (0, 1, 1, 0)})
    assert set(found) == {(1, 1, 2, 0), (0, 1, 2, 1)}


def test_finer_levels_are_raced_near_the_winner_alone() -> None:
    finer = (("1", 0), ("8", 2))
    space = Space(tuple(Factor(name, ("0", "default", "2"), 1, finer) for name in "abcd"))
    found = finer_cells(space, (0, 1, 2, 2), [0, 1, 2])
    assert [space.label(cell) for cell in found] == ["a=1, c=2, d=2", "a=0, c=8, d=2"]
    assert [space.size, len(found[0])] == [81, 4]
    assert fewest_settings(space, [found[0], (0, 1, 2, 2)]) == (0, 1, 2, 2)


def test_of_equals_the_cell_with_the_fewest_settings_is_taken() -> None:
    assert fewest_settings(SPACE, [(0, 0, 1, 1), (1, 0, 1, 1), (1, 1, 1, 2)]) == (1, 0, 1, 1)


def test_the_model_predicts_a_cell_that_was_never_run() -> None:
    def truth(cell: Cell) -> float:
        return (
            (0.0, -0.1, 0.05)[cell[0]] + 0.03 * (cell[2] - 1) + 0.04 * (cell[0] - 1) * (cell[2] - 1)
        )

    draws = np.random.default_rng(1)
    hidden = (2, 1, 0, 1)
    cells = [c for c in itertools.product(range(3), repeat=4) if c != hidden]
    blocks = [
        {cells[i]: level + truth(cells[i]) + draws.normal(0, 0.01) for i in chosen}
        for level in (0.0, 1.0, -2.0)
        for chosen in [draws.choice(len(cells), 40, replace=False)]
    ]
    predicted = surface(SPACE, [0, 2], [(0, 2)], blocks)
    assert predicted(SPACE.default) == 0
    assert predicted(hidden) == pytest.approx(truth(hidden) - truth(SPACE.default), abs=0.02)


def test_a_model_of_one_run_predicts_no_difference() -> None:
    predicted = surface(SPACE, [0], [], [{SPACE.default: 1.0}])
    assert predicted((0, 1, 1, 1)) == pytest.approx(0, abs=1e-9)
