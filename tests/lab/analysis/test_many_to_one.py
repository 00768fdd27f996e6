# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Dunnett's quantile: printed tables, and the general integral that it is a case of."""

import numpy as np
import pytest
from scipy import stats

from heapwright.analysis.many_to_one import chance_within, quantile


@pytest.mark.parametrize(
    ("p", "df", "printed"),
    [(2, 10, 2.57), (3, 10, 2.76), (4, 20, 2.65), (5, 20, 2.73), (2, 60, 2.27), (8, 20, 2.90)],
)
def test_printed_tables(p: int, df: int, printed: float) -> None:
    assert quantile(0.95, p, df) == pytest.approx(printed, abs=0.006)


@pytest.mark.parametrize(("p", "df"), [(2, 5), (4, 12), (6, 40)])
def test_the_multivariate_t_distribution(p: int, df: int) -> None:
    corner = np.full(p, quantile(0.95, p, df))
    inside = stats.multivariate_t.cdf(
        corner,
        shape=np.full((p, p), 0.5) + 0.5 * np.eye(p),
        df=df,
        lower_limit=-corner,
        random_state=np.random.default_rng(1),
    )
    assert float(inside) == pytest.approx(0.95, abs=1e-3)


def test_one_contrast_is_an_ordinary_t() -> None:
    t = float(stats.t.ppf(0.975, 9))
    assert quantile(0.95, 1, 9) == pytest.approx(t, rel=1e-12)
    assert chance_within(t, 1, 9) == pytest.approx(0.95, abs=1e-9)


def test_more_contrasts_need_wider_intervals() -> None:
    found = [quantile(0.95, p, 20) for p in (1, 2, 4, 8, 16)]
    assert found == sorted(found)
    assert found[-1] < float(stats.t.ppf(1 - 0.05 / 32, 20))
