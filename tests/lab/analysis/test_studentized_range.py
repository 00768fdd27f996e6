# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The studentised range: printed tables, SciPy's integration, and its limits."""

import numpy as np
import pytest
from scipy import stats

from heapwright.analysis.studentized_range import quantile, survival


@pytest.mark.parametrize(
    ("k", "df", "five_percent", "one_percent"),
    [
        (3, 10, 3.88, 5.27),
        (4, 12, 4.20, 5.50),
        (5, 20, 4.23, 5.29),
        (2, 5, 3.64, 5.70),
        (10, 30, 4.82, 5.76),
    ],
)
def test_printed_tables(k: int, df: int, five_percent: float, one_percent: float) -> None:
    assert quantile(0.95, k, df) == pytest.approx(five_percent, abs=0.006)
    assert quantile(0.99, k, df) == pytest.approx(one_percent, abs=0.006)


@pytest.mark.parametrize(("k", "df"), [(2, 1), (3, 2), (6, 50), (9, 17_496), (36, 2700)])
def test_scipy_integrates_to_the_same(k: int, df: int) -> None:
    values = [0.5, 3.5, 7.0]
    expected = stats.studentized_range.sf(values, k, df)
    assert survival(values, k, df) == pytest.approx(expected, abs=1e-7)


def test_two_means_are_a_t_test() -> None:
    for df in (3, 40, 5000):
        t = float(stats.t.ppf(0.975, df))
        assert quantile(0.95, 2, df) == pytest.approx(t * np.sqrt(2), rel=1e-6)


def test_many_degrees_of_freedom_approach_the_range_itself() -> None:
    known = quantile(0.95, 6, 1e9)
    assert known == pytest.approx(4.030, abs=1e-3)
    assert known < quantile(0.95, 6, 1e5) < quantile(0.95, 6, 1e3)


def test_a_chance_falls_from_one_to_nothing() -> None:
    found = survival(np.linspace(0, 40, 30), 5, 20)
    assert found[0] == pytest.approx(1)
    assert (np.diff(found) <= 0).all()
    assert 0 <= found[-1] < 1e-12
