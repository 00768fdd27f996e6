# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The screening finds planted effects, and gives intervals that hold."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from heapwright.analysis.tuning.design import fraction_for, screening_cells
from heapwright.analysis.tuning.screen import Screen, screened
from heapwright.analysis.tuning.space import Cell, Factor, Space

SPACE = Space(tuple(Factor(name, ("0", "default", "2"), 1) for name in "abcd"))
FRACTION = fraction_for(4)
CELLS = (*screening_cells(SPACE, FRACTION), SPACE.centre)


def screen_of(
    truth: Callable[[Cell], float], scatter: float, seed: int = 1, blocks: int = 3
) -> Screen:
    draws = np.random.default_rng(seed)
    figures = [
        {cell: math.exp(level + truth(cell) + scatter * draws.standard_normal()) for cell in CELLS}
        for level in draws.normal(0, 1, blocks)
    ]
    return screened(SPACE, FRACTION, figures, 0.95)


def test_an_effect_is_found_whatever_the_level_of_the_blocks() -> None:
    screen = screen_of(lambda cell: 0.05 * (cell[1] - 1), 0.01)
    term = screen.main(1)
    assert term.effect == pytest.approx(0.1, abs=0.02)
    assert term.low < 0.1 < term.high
    assert screen.active(0.02, 4) == (1,)
    assert screen.scatter == pytest.approx(0.01, rel=0.5)


def test_an_interaction_brings_both_settings() -> None:
    screen = screen_of(
        lambda cell: 0.06 * (cell[0] - 1) * (cell[1] - 1) + 0.03 * (cell[0] - 1), 0.005
    )
    assert set(screen.active(0.02, 4)) == {0, 1}


def test_a_middle_level_shows_as_curvature() -> None:
    screen = screen_of(lambda cell: -0.1 * (cell[2] == 1), 0.005)
    assert screen.curvature is not None
    assert screen.curvature.effect == pytest.approx(-0.1, abs=0.02)
    assert screen.curvature.p < 0.01


def test_figures_without_scatter_give_exact_effects() -> None:
    screen = screen_of(lambda cell: 0.05 * (cell[3] - 1), 0.0)
    assert screen.scatter == 0
    assert screen.main(3).low == pytest.approx(0.1)
    assert screen.active(0.02, 4) == (3,)


def test_one_disturbed_run_moves_no_effect_much() -> None:
    def truth(cell: Cell) -> float:
        return 0.05 * (cell[0] - 1)

    plain = screen_of(truth, 0.01)
    draws = np.random.default_rng(1)
    figures = [
        {c: math.exp(level + truth(c) + 0.01 * draws.standard_normal()) for c in CELLS}
        for level in draws.normal(0, 1, 3)
    ]
    figures[1][CELLS[2]] *= 3
    disturbed = screened(SPACE, FRACTION, figures, 0.95)
    assert disturbed.disturbed == 1
    assert disturbed.main(0).effect == pytest.approx(plain.main(0).effect, abs=0.02)


def test_a_cell_that_failed_leaves_the_others() -> None:
    figures = [
        {c: math.exp(0.05 * (c[0] - 1) + 0.001 * n) for c in CELLS if c != CELLS[3]}
        for n in range(3)
    ]
    assert screened(SPACE, FRACTION, figures, 0.95).main(0).effect == pytest.approx(0.1, abs=0.02)


def test_intervals_of_all_settings_hold_at_once() -> None:
    missed = sum(
        any(not t.low <= 0 <= t.high for t in screen_of(lambda _: 0.0, 0.03, s).terms if t.factors)
        for s in range(300)
    )
    assert missed / 300 < 0.12  # 5 % for least squares, some more for Huber's estimate
