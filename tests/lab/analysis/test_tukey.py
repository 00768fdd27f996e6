# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""All pairs: against the common routine where that is right, and the degenerate cases."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from heapwright.analysis.blocked import BlockedFit, Cells, fit
from heapwright.analysis.tukey import all_pairs

Fitted = Callable[..., BlockedFit]
MakeCells = Callable[[NDArray[np.float64]], Cells]


def test_the_statistic_is_tukeys(make_cells: MakeCells) -> None:
    values = np.random.default_rng(1).normal(0, 1, (6, 4)) + np.arange(4)
    model = fit(make_cells(values))
    pairs = all_pairs(model)
    mean = values.mean(axis=0)
    residual = values - values.mean(axis=1, keepdims=True) - mean + values.mean()
    error = np.sqrt((residual**2).sum() / 15 / 6)
    expected = stats.studentized_range.sf(abs(mean[0] - mean[3]) / error, 4, 15)
    assert pairs.p_values()[0, 3] == pytest.approx(float(expected))
    honest = float(stats.studentized_range.ppf(0.95, 4, 15)) * error
    np.testing.assert_allclose(pairs.half_widths(0.95)[np.triu_indices(4, 1)], honest)


def test_blocks_are_taken_out(make_cells: MakeCells) -> None:
    """The one-way routine sees nothing in data whose blocks differ more than their treatments."""
    draws = np.random.default_rng(2)
    values = draws.normal(0, 1, (8, 1)) + draws.normal([0, 0.1, 0.2], 0.02, (8, 3))
    one_way = stats.tukey_hsd(*values.T).pvalue[0, 2]
    blocked = all_pairs(fit(make_cells(values))).p_values()[0, 2]
    assert one_way > 0.5
    assert blocked < 1e-6


def test_intervals_and_p_values_agree(fitted: Fitted) -> None:
    pairs = all_pairs(fitted(3, 8, 5, 0.2))
    p = pairs.p_values()
    np.testing.assert_array_equal(p < 0.05, pairs.differs(0.95))
    assert pairs.differs(0.95).any()
    assert not pairs.differs(0.95).all()
    np.testing.assert_array_equal(p, p.T)
    np.testing.assert_array_equal(np.diag(p), 1)


def test_without_freedom_nothing_differs(make_cells: MakeCells) -> None:
    pairs = all_pairs(fit(make_cells(np.array([[0.0, 5.0]]))))
    assert not pairs.differs(0.95).any()
    assert np.isinf(pairs.half_widths(0.95)[0, 1])
    assert (pairs.p_values() == 1).all()


def test_without_scatter_everything_unequal_differs(make_cells: MakeCells) -> None:
    pairs = all_pairs(fit(make_cells(np.tile([0.0, 0.1, 0.0], (4, 1)))))
    np.testing.assert_array_equal(pairs.differs(0.95)[0], [False, True, False])
    np.testing.assert_array_equal(pairs.p_values()[0], [1, 0, 1])


def test_the_baseline_alone(make_cells: MakeCells) -> None:
    pairs = all_pairs(fit(make_cells(np.zeros((3, 1)))))
    assert pairs.p_values().tolist() == [[1.0]]
    assert pairs.differs(0.95).tolist() == [[False]]
