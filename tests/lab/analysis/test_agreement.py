# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Agreement of rankings: tau-b as the reference has it, and intervals that know what can be
decided.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from heapwright.analysis.agreement import (
    agreement,
    interval,
    over_programs,
    same_best,
    tau_b,
    with_itself,
)

CLEAR = [[1.0, 1.01, 0.99], [2.0, 2.02, 1.98], [3.0, 3.03, 2.97], [4.0, 4.04, 3.96]]
ALIKE = [[1.0, 1.3, 0.8], [1.1, 0.7, 1.2], [0.9, 1.2, 1.0], [1.2, 0.8, 1.05]]


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=8))
def test_tau_is_the_reference_s(pairs: list[tuple[int, int]]) -> None:
    one, other = (np.array([each], dtype=float) for each in zip(*pairs, strict=True))
    expected = stats.kendalltau(one[0], other[0]).statistic
    assert tau_b(one, other)[0] == pytest.approx(expected, nan_ok=True)


def test_the_same_order_and_the_opposite() -> None:
    same = agreement(CLEAR, [[10 * x for x in each] for each in CLEAR], 0.95, 1)
    assert (same.tau, same.low, same.high) == (1.0, 1.0, 1.0)
    opposite = agreement(CLEAR, CLEAR[::-1], 0.95, 1)
    assert opposite.tau == -1.0
    assert same_best(CLEAR, CLEAR)
    assert not same_best(CLEAR, CLEAR[::-1])


def test_indistinguishable_runs_do_not_agree() -> None:
    clear, alike = with_itself(CLEAR, 0.95, 1), with_itself(ALIKE, 0.95, 1)
    assert clear.tau == 1.0
    assert alike.tau is not None
    assert alike.low is not None
    assert alike.tau < 0.8
    assert alike.low < 0


def test_the_same_seed_gives_the_same_interval() -> None:
    assert agreement(ALIKE, CLEAR, 0.9, 7) == agreement(ALIKE, CLEAR, 0.9, 7)


def test_no_ranking_has_no_tau() -> None:
    tied = [[1.0, 1.0], [1.0, 1.0]]
    assert agreement(tied, tied, 0.95, 1).tau is None
    assert interval(0.5, np.array([np.nan]), 0.95).tau is None


def test_means_over_programs() -> None:
    assert over_programs([], 0.95).tau is None
    alone = over_programs([0.5], 0.95)
    assert (alone.tau, alone.low) == (0.5, None)
    values = [0.2, 0.6, 0.4]
    found = over_programs(values, 0.95)
    expected = stats.t.interval(0.95, 2, np.mean(values), stats.sem(values))
    assert found.tau == pytest.approx(0.4)
    assert found.low == pytest.approx(expected[0])
    assert found.high == pytest.approx(expected[1])
    assert over_programs([1.0, 1.0, 0.2], 0.95).high == 1.0
