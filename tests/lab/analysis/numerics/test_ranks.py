# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Ranks, Kendall's tau and the robust slope agree with SciPy's, with and without ties."""

import math

import numpy as np
import pytest
from scipy import stats

from heapwright.analysis.numerics.ranks import average_ranks, kendall, theil_sen


@pytest.mark.parametrize("count", [4, 7, 10, 33, 40])
@pytest.mark.parametrize("decimals", [0, 1, 6], ids=["many ties", "few ties", "no ties"])
def test_scipy_says_the_same(count: int, decimals: int) -> None:
    draws = np.random.default_rng(count)
    y = draws.normal(size=count).round(decimals)
    np.testing.assert_array_equal(average_ranks(y), stats.rankdata(y))
    for x in (np.arange(count), draws.normal(size=count).round(decimals)):
        found, expected = kendall(x, y), stats.kendalltau(x, y)
        assert (found.tau, found.p) == pytest.approx(
            (expected.statistic, expected.pvalue), rel=1e-10, abs=1e-300
        )
        slope, other = theil_sen(y, x), stats.theilslopes(y, x)
        assert (slope.middle, slope.low, slope.high) == pytest.approx(
            (other.slope, other.low_slope, other.high_slope), rel=1e-10, abs=1e-300
        )


def test_two_values_have_no_significant_order() -> None:
    assert kendall([1, 2], [3, 4]).p == 1
    assert kendall([1, 2, 3], [3, 2, 1]).tau == -1


def test_equal_values_have_no_order() -> None:
    found = kendall([1, 2, 3], [5, 5, 5])
    assert math.isnan(found.tau)
    assert math.isnan(found.p)
    assert theil_sen([5, 5, 5], [1, 2, 3]).middle == 0
    assert math.isnan(theil_sen([1, 2, 3], [5, 5, 5]).middle)


def test_infinite_values_have_ranks_and_nan_has_none() -> None:
    values, order = [1, math.inf, math.inf, -math.inf, 0], [1, 4, 3, 2, 5]
    found, expected = kendall(values, order), stats.kendalltau(values, order)
    assert (found.tau, found.p) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-10)
    assert np.isnan(average_ranks([1, math.nan, 3])).all()
    for pair in (([1, math.nan, 3], [1, 2, 3]), ([1, 2, 3], [1, 2, math.nan])):
        assert math.isnan(kendall(*pair).tau)
        assert math.isnan(kendall(*pair).p)
