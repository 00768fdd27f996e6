# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The blocked model: cells from runs, holes, and the cases without scatter or freedom."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from heapwright.analysis.blocked import (
    Cells,
    comparable,
    fit,
    scatter_is_unequal,
    tabulate,
    value_of,
)
from heapwright.artefacts.run.measured import Outcome, Run

MakeRun = Callable[..., Run]
MakeCells = Callable[[NDArray[np.float64]], Cells]
NAN = float("nan")


def test_cells_hold_good_measured_runs_only(make_run: MakeRun) -> None:
    runs = [
        make_run("a", 0, warmup=True, wall_s=9.0),
        make_run("a", 1, wall_s=2.0),
        make_run("b", 1, wall_s=3.0),
        make_run("a", 2, wall_s=2.5),
        make_run("b", 2, wall_s=0.01, outcome=Outcome.CRASHED),
        make_run("other", 2, wall_s=7.0),
        make_run("b", 3, wall_s=None),
    ]
    cells = tabulate(runs, "time", [("a", ""), ("b", "")])
    expected = np.log([[2.0, 3.0], [2.5, NAN]])
    np.testing.assert_array_equal(cells.log_values, expected)


def test_levels_of_an_allocator_are_treatments_of_their_own(make_run: MakeRun) -> None:
    runs = [make_run("a", 1), make_run("a", 1, level="X=1", wall_s=4.0)]
    cells = tabulate(runs, "time", [("a", ""), ("a", "X=1")])
    np.testing.assert_allclose(cells.log_values, np.log([[1.0, 4.0]]))


def test_two_runs_in_one_cell_are_refused(make_run: MakeRun) -> None:
    with pytest.raises(ValueError, match="block 1 has two good runs of a"):
        tabulate([make_run("a", 1), make_run("a", 1)], "time", [("a", "")])


def test_the_three_responses(make_run: MakeRun) -> None:
    run = make_run("a", 1, wall_s=2.0, user_s=1.0, sys_s=0.5, peak_rss_bytes=4096)
    assert [value_of(run, r) for r in ("time", "memory", "cpu")] == [2.0, 4096, 1.5]
    without = make_run("a", 1, wall_s=None, user_s=0.0, sys_s=0.0, peak_rss_bytes=None)
    assert [value_of(without, r) for r in ("time", "memory", "cpu")] == [None, None, None]
    assert value_of(make_run("a", 1, user_s=None), "cpu") is None


def test_complete_blocks_give_the_mean_log_ratio(make_cells: MakeCells) -> None:
    values = np.random.default_rng(3).normal(0, 1, (7, 4))
    model = fit(make_cells(values))
    np.testing.assert_allclose(model.effects, (values - values[:, :1]).mean(axis=0))
    np.testing.assert_allclose(np.diag(model.unscaled)[1:], 2 / 7)
    assert model.unscaled[1, 2] == pytest.approx(1 / 7)
    assert model.df == 6 * 3


def test_holes_agree_with_ordinary_least_squares(make_cells: MakeCells) -> None:
    draws = np.random.default_rng(4)
    values = draws.normal(0, 1, (9, 5))
    values[draws.random(values.shape) < 0.25] = np.nan
    cells = comparable(make_cells(values))
    model = fit(cells)
    rows, columns = np.nonzero(cells.seen)
    design = np.zeros((len(rows), 9 + 4))
    design[np.arange(len(rows)), rows] = 1
    for row, column in enumerate(columns):
        if column:
            design[row, 9 + column - 1] = 1
    answer, squares, rank, _ = np.linalg.lstsq(design, cells.log_values[cells.seen], rcond=None)
    assert rank == 13
    np.testing.assert_allclose(model.effects[1:], answer[9:])
    assert model.df == len(rows) - 13
    assert model.sigma == pytest.approx(float(np.sqrt(squares[0] / model.df)))
    covariance = np.linalg.inv(design.T @ design)[9:, 9:]
    np.testing.assert_allclose(model.unscaled[1:, 1:], covariance)


def test_the_sums_of_squares_add_up(make_cells: MakeCells) -> None:
    values = np.random.default_rng(5).normal(0, 1, (6, 3))
    model = fit(make_cells(values))
    total = ((values - values.mean()) ** 2).sum()
    assert sum(term.sum_of_squares for term in model.anova) == pytest.approx(total)
    assert sum(term.eta_squared or 0 for term in model.anova) == pytest.approx(1)
    assert [term.df for term in model.anova] == [5, 2, 10]


def test_unequal_scatter_is_seen_and_equal_scatter_is_not(make_cells: MakeCells) -> None:
    errors = np.random.default_rng(6).normal(0, 0.01, (9, 6))
    assert not scatter_is_unequal(fit(make_cells(errors)))
    assert scatter_is_unequal(fit(make_cells(errors * 3.0 ** np.arange(6))))
    for too_few in (errors[:1], errors[:2], errors[:, :2], np.zeros((9, 6))):
        assert not scatter_is_unequal(fit(make_cells(too_few)))


def test_one_block_has_estimates_but_no_scatter(make_cells: MakeCells) -> None:
    model = fit(make_cells(np.log([[1.0, 2.0, 4.0]])))
    np.testing.assert_allclose(np.exp(model.effects), [1, 2, 4])
    assert model.df == 0
    assert np.isnan(model.sigma)
    assert all(term.f is None for term in model.anova)


def test_constant_ratios_have_no_scatter_at_all(make_cells: MakeCells) -> None:
    values = np.log(np.outer([100e6, 130e6, 90e6, 100e6], [1.0, 1.1, 0.7]))
    model = fit(make_cells(values))
    assert model.sigma == 0
    assert model.df == 6
    assert model.anova[1].f is None


def test_a_treatment_with_one_good_run_is_estimated_from_it(make_cells: MakeCells) -> None:
    values = np.log([[1.0, 2.0, 3.0], [1.1, 2.3, NAN], [0.9, 1.7, NAN]])
    model = fit(comparable(make_cells(values)))
    assert model.runs.tolist() == [3, 3, 1]
    assert model.df == 7 - 3 - 2


def test_a_treatment_without_a_common_block_is_left_out(make_cells: MakeCells) -> None:
    values = np.array([[0.0, 1.0, NAN, NAN], [NAN, 1.0, 2.0, NAN], [NAN, NAN, NAN, 3.0]])
    cells = comparable(make_cells(values))
    assert [name for name, _ in cells.treatments] == ["t0", "t1", "t2"]
    assert cells.log_values.shape == (2, 3)
    with pytest.raises(ValueError, match="shares no block"):
        fit(make_cells(np.array([[0.0, 1.0, NAN, NAN], [NAN, NAN, 2.0, 3.0]])))


def test_without_the_baseline_nothing_is_comparable(make_cells: MakeCells) -> None:
    cells = comparable(make_cells(np.array([[NAN, 1.0, 2.0], [NAN, 1.5, 2.0]])))
    assert [name for name, _ in cells.treatments] == ["t0"]
    assert cells.log_values.shape == (0, 1)
