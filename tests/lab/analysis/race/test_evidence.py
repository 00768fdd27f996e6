# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""E-values of one block: their expectation over the random order is exact, and never above 1."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heapwright.analysis.race.evidence import (
    BETS,
    log_factors_of_pairs,
    log_factors_of_rank,
    log_wealth,
)

SCATTER = 0.05
Values = st.lists(st.floats(-3, 3), min_size=2, max_size=5)


@given(Values)
def test_the_expectation_over_all_orders_is_one(disturbances: list[float]) -> None:
    """Equal candidates: every order of the disturbances is as likely as any other."""
    factors = [
        np.exp(log_factors_of_rank(own, np.array(rivals), SCATTER))
        for own, *rivals in permutations(disturbances)
    ]
    assert np.mean(factors, axis=0) == pytest.approx(np.ones(len(BETS)))


@given(Values, st.data())
def test_a_candidate_that_is_not_slower_gains_nothing(
    disturbances: list[float], data: st.DataObject
) -> None:
    slower_by = np.array([data.draw(st.floats(0, 2)) for _ in disturbances[1:]])
    factors = [
        np.exp(log_factors_of_rank(own, np.array(rivals) + slower_by, SCATTER))
        for own, *rivals in permutations(disturbances)
    ]
    assert (np.mean(factors, axis=0) <= 1 + 1e-9).all()


def test_a_pair_is_a_rank_with_one_rival() -> None:
    of_rank = log_factors_of_rank(0.07, np.array([0.02]), SCATTER)
    assert log_factors_of_pairs(np.array([0.05]), SCATTER)[0] == pytest.approx(of_rank)


@given(st.floats(0, 50))
def test_opposite_differences_average_to_one(difference: float) -> None:
    factors = np.exp(log_factors_of_pairs(np.array([difference, -difference]), SCATTER))
    assert factors.mean(axis=0) == pytest.approx(np.ones(len(BETS)))


def test_one_run_never_ruins_a_bet_and_a_missing_one_changes_nothing() -> None:
    worst = np.exp(log_factors_of_pairs(np.array([-1e6, np.nan]), SCATTER))
    assert worst[0] == pytest.approx([1 - bet.stake for bet in BETS])
    assert worst[1] == pytest.approx(np.ones(len(BETS)))


def test_wealth_is_shared_equally_at_the_start() -> None:
    assert float(log_wealth(np.zeros(len(BETS)))) == pytest.approx(0)
    one_won = np.log(np.array([4.0, 0.0 + 1e-300, 1e-300, 1e-300]))
    assert float(log_wealth(one_won)) == pytest.approx(0)
