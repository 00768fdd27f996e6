# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The distributions agree with SciPy's, in both tails and for few and many degrees of freedom."""

import math

import numpy as np
import pytest
from scipy import special, stats

from heapwright.analysis.numerics.distributions import (
    fisher_tail,
    normal_cdf,
    normal_quantile,
    normal_quantiles,
    normal_tail,
    student_cdf,
    student_quantile,
    student_tail,
)

FREEDOM = (0.5, 1, 1.5, 2, 3, 10, 33.3, 100, 999, 1e4, 1e6)
CHANCES = (1e-12, 1e-6, 1e-3, 0.025, 0.1, 0.4, 0.5, 0.6, 0.9, 0.975, 0.999, 1 - 1e-9)


def test_the_normal_distribution() -> None:
    values = np.linspace(-37, 8, 91).reshape(7, 13)
    np.testing.assert_allclose(normal_cdf(values), special.ndtr(values), rtol=1e-12)
    assert normal_tail(37.0) == pytest.approx(float(stats.norm.sf(37)), rel=1e-12)
    chances = np.array(CHANCES)
    np.testing.assert_allclose(normal_quantiles(chances), special.ndtri(chances), rtol=1e-12)
    assert normal_quantile(0.975) == normal_quantiles(np.array([0.975]))[0]


@pytest.mark.parametrize("df", FREEDOM)
def test_students_quantile(df: float) -> None:
    for chance in CHANCES:
        expected = float(stats.t.ppf(chance, df))
        assert student_quantile(chance, df) == pytest.approx(expected, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("df", FREEDOM)
def test_students_tails(df: float) -> None:
    for value in (0.0, 0.1, 1.0, 2.0, 5.0, 10.0, 40.0, 1e4, 1e150, math.inf):
        upper = float(stats.t.sf(value, df))
        assert student_tail(value, df) == pytest.approx(upper, rel=1e-10, abs=1e-300)
        assert student_cdf(-value, df) == student_tail(value, df)
        assert student_cdf(value, df) == pytest.approx(1 - upper, rel=1e-12)


def test_t_with_endless_degrees_of_freedom_is_normal() -> None:
    assert student_quantile(0.9, math.inf) == normal_quantile(0.9)
    assert student_tail(1.5, math.inf) == normal_tail(1.5)
    assert student_quantile(0.9, 1e8) == pytest.approx(normal_quantile(0.9), rel=1e-7)


def test_impossible_and_certain_chances_have_no_bound() -> None:
    for df in (3, math.inf):
        assert student_quantile(1.0, df) == math.inf
        assert student_quantile(0.0, df) == -math.inf
    assert normal_quantile(1.0) == math.inf
    assert math.isnan(student_tail(math.nan, 3))
    assert math.isnan(fisher_tail(2, 3, math.nan))
    for chance, df in ((0.975, 0), (0.975, -1), (0.975, math.nan), (math.nan, 3), (1.5, 3)):
        assert math.isnan(student_quantile(chance, df))
    for chance in (math.nan, -0.1, 1.1):
        assert math.isnan(normal_quantile(chance))


@pytest.mark.parametrize("df", [30, 1e6])
def test_quantiles_far_in_the_tail(df: float) -> None:
    for chance in (1e-100, 1e-250, 1e-300):
        expected = float(stats.t.ppf(chance, df))
        assert student_quantile(chance, df) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("chance", [1e-300, 1e-250, 1e-160, 1e-150, 1e-20, 1e-10])
def test_quantiles_of_one_and_two_degrees_of_freedom(chance: float) -> None:
    one = -1 / math.tan(math.pi * chance)
    assert student_quantile(chance, 1) == pytest.approx(one, rel=1e-10)
    two = -(1 - 2 * chance) / math.sqrt(2 * chance * (1 - chance))
    assert student_quantile(chance, 2) == pytest.approx(two, rel=1e-10)


@pytest.mark.parametrize(
    ("df", "value"), [(0.5, 1e170), (1, 1e155), (1, 1e200), (1.5, 1e170), (3, 1e90), (4.5, 1e60)]
)
def test_tails_of_few_degrees_of_freedom(df: float, value: float) -> None:
    """SciPy takes some of these chances as 0. The density is a power there, so its integral is
    exact."""
    constant = math.gamma((df + 1) / 2) / math.gamma(df / 2) / math.sqrt(math.pi * df)
    upper = constant * math.sqrt(df) ** (df + 1) / df * value**-df
    assert student_tail(value, df) == pytest.approx(upper, rel=1e-10)
    assert student_quantile(upper, df) == pytest.approx(-value, rel=1e-9)


def test_a_quantile_beyond_all_numbers_is_infinite() -> None:
    assert student_quantile(1e-250, 0.5) == -math.inf


@pytest.mark.parametrize("first", [1, 2, 7.5, 40, 1000, 1e5])
@pytest.mark.parametrize("second", [1, 3, 10, 200, 1e6])
def test_fishers_tail(first: float, second: float) -> None:
    for value in (1e-6, 0.1, 0.5, 1.0, 1.2, 2.0, 5.0, 30.0, 1000.0):
        expected = float(special.fdtrc(first, second, value))
        assert fisher_tail(first, second, value) == pytest.approx(expected, rel=1e-10, abs=1e-290)
    assert fisher_tail(first, second, 0.0) == 1.0
    assert fisher_tail(first, second, math.inf) == 0.0
