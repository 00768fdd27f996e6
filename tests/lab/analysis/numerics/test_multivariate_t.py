# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The chance agrees with a one-dimensional integral, and with SciPy's randomised integration."""

import numpy as np
import pytest
from scipy import stats

from heapwright.analysis import many_to_one
from heapwright.analysis.numerics import multivariate_t
from heapwright.analysis.numerics.multivariate_t import chance_within


@pytest.mark.parametrize(("p", "df"), [(2, 3), (5, 12), (8, 40), (12, 10), (30, 20)])
def test_equal_correlations_are_dunnetts_case(p: int, df: int) -> None:
    correlation = np.full((p, p), 0.5) + 0.5 * np.eye(p)
    c = many_to_one.quantile(0.95, p, df)
    assert chance_within(c, correlation, df) == pytest.approx(0.95, abs=3e-4)


@pytest.mark.parametrize(("p", "df"), [(2, 4), (4, 20), (6, 4), (9, 12)])
def test_any_correlation(p: int, df: int) -> None:
    factors = np.random.default_rng(p).normal(size=(p, p + 1))
    covariance = factors @ factors.T + 0.5 * np.eye(p)
    scale = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(scale, scale)
    corner = np.full(p, 2.5)
    expected = stats.multivariate_t.cdf(
        corner,
        shape=correlation,
        df=df,
        lower_limit=-corner,
        random_state=np.random.default_rng(1),
    )
    assert chance_within(2.5, correlation, df) == pytest.approx(float(expected), abs=1e-3)


def test_independent_normal_variables_multiply() -> None:
    one = stats.norm.cdf(2) - stats.norm.cdf(-2)
    assert chance_within(2.0, np.eye(3), 1e7) == pytest.approx(float(one) ** 3, abs=1e-9)


def test_a_lattice_has_as_many_dimensions_as_variables_need() -> None:
    points = multivariate_t._lattice(199, 3)  # noqa: SLF001 - all of it takes seconds
    assert points.shape == (199, 3)
    assert len(np.unique(points[:, 0])) == 199
