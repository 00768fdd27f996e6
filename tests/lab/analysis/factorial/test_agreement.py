# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Kendall's tau and its interval."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from heapwright.analysis.block_bootstrap import draws
from heapwright.analysis.factorial.agreement import agreement, tau_b

LISTS = st.integers(3, 8).flatmap(
    lambda size: st.tuples(
        *[st.lists(st.integers(0, 5), min_size=size, max_size=size) for _ in range(2)]
    )
)


@given(LISTS)
def test_scipy_says_the_same(lists: tuple[list[int], list[int]]) -> None:
    one, other = lists
    found = tau_b(one, other)
    expected = stats.kendalltau(one, other).statistic
    if found is None:
        assert np.isnan(expected)
    else:
        assert found == pytest.approx(expected)
        assert tau_b(other, one) == pytest.approx(found)
        assert tau_b(one, [-each for each in other]) == pytest.approx(-found)


def measured(order: list[float], error: float, seed: int) -> np.ndarray:
    return np.array(order) + np.random.default_rng(seed).normal(0, error, (20, len(order)))


def test_a_clear_order_has_a_narrow_interval() -> None:
    one, other = measured([1, 2, 3, 4, 5], 0.1, 1), measured([5, 6, 7, 8, 9], 0.1, 2)
    found = agreement(one, other, 0.95, draws(20, 999, 1))
    assert found is not None
    assert (found.tau, found.low, found.high) == (1, 1, 1)
    assert found.p == pytest.approx(2 / 120)


def test_an_order_that_is_all_noise_has_a_wide_one() -> None:
    one, other = measured([0, 0, 0, 0, 0], 1, 1), measured([0, 0, 0, 0, 0], 1, 2)
    found = agreement(one, other, 0.95, draws(20, 999, 1))
    assert found is not None
    assert found.low is not None
    assert found.high is not None
    assert found.low <= found.tau <= found.high
    assert found.high - found.low > 0.5


def test_a_ranking_that_is_given() -> None:
    given_order = np.array([[1.0, 2, 3, 4]])
    found = agreement(given_order, measured([4, 3, 2, 1], 0.1, 1), 0.95, draws(20, 999, 1))
    assert found is not None
    assert (found.tau, found.low, found.high) == (-1, -1, -1)


def test_too_little_to_compare() -> None:
    weights = draws(20, 99, 1)
    assert agreement(measured([1, 2], 0.1, 1), measured([1, 2], 0.1, 2), 0.95, weights) is None
    same = np.ones((20, 4))
    assert agreement(same, measured([1, 2, 3, 4], 0.1, 2), 0.95, weights) is None
    few = agreement(np.array([[1.0, 2, 3]]), np.array([[1.0, 3, 2]]), 0.95, weights)
    assert few is not None
    assert (few.low, few.high) == (None, None)
    assert few.tau == pytest.approx(1 / 3)
