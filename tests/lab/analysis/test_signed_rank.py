# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The interval of the signed ranks agrees with the test, and holds for noise of any shape."""

import math

import numpy as np
import pytest
from scipy import stats

from heapwright.analysis.signed_rank import centre_of, ranks_left_out


@pytest.mark.parametrize(("pairs", "left_out"), [(5, None), (6, 0), (8, 3), (10, 8), (20, 52)])
def test_the_ranks_are_those_of_the_tables(pairs: int, left_out: int | None) -> None:
    assert ranks_left_out(pairs, 0.95) == left_out


def test_the_interval_holds_what_the_test_does_not_reject() -> None:
    values = np.random.default_rng(3).normal(0.3, 1, 12)
    found = centre_of(list(values), 0.95)
    for centre, rejected in ((found.low + 1e-6, False), (found.low - 1e-6, True)):
        p = stats.wilcoxon(values - centre, method="exact").pvalue
        assert (p < 0.05) == rejected


def test_the_interval_holds_with_its_confidence() -> None:
    draws = np.random.default_rng(5)
    missed = 0
    for _ in range(1000):
        found = centre_of(list(draws.standard_t(1.5, 10)), 0.95)
        missed += not found.low <= 0 <= found.high
    assert missed / 1000 < 0.07


def test_equal_differences_have_an_interval_without_width() -> None:
    found = centre_of([0.1] * 8, 0.95)
    assert (found.low, found.estimate, found.high) == (0.1, 0.1, 0.1)


def test_few_pairs_have_no_bounds() -> None:
    found = centre_of([0.1, 0.2], 0.95)
    assert found.estimate == pytest.approx(0.15)
    assert found.low == -math.inf
