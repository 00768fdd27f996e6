# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Simultaneous intervals: known quantiles, degenerate data, and coverage by simulation."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from heapwright.analysis.blocked import BlockedFit, Cells, fit
from heapwright.analysis.intervals import bootstrap, dunnett, max_t_quantile, simultaneous

Fitted = Callable[..., BlockedFit]
MakeCells = Callable[[NDArray[np.float64]], Cells]


def equal_correlation(p: int) -> NDArray[np.float64]:
    return np.full((p, p), 0.5) + 0.5 * np.eye(p)


def chance_within(c: float, p: int, df: int) -> float:
    """P(|T_1|, ..., |T_p| <= c) for equal correlation 1/2, by quadrature (Dunnett 1955).

    T_j = (Z_j - Z_0) / (sqrt(2) s) with independent normal Z and s^2 distributed as chi^2_df / df.
    """
    z, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    quantiles = (np.arange(4000) + 0.5) / 4000
    s = np.sqrt(stats.chi2.ppf(quantiles, df) / df)
    edge = np.sqrt(2) * c * s[:, None]
    inside = (stats.norm.cdf(z + edge) - stats.norm.cdf(z - edge)) ** p
    return float((inside @ weights).mean())


@pytest.mark.parametrize(
    ("p", "df", "level"),
    [(2, 10, 0.95), (4, 20, 0.95), (8, 20, 0.95), (3, 10, 0.99), (8, 32, 0.9875)],
)
def test_the_quantile_agrees_with_quadrature(p: int, df: int, level: float) -> None:
    c = max_t_quantile(equal_correlation(p), df, level)
    assert chance_within(c, p, df) == pytest.approx(level, abs=5e-4)


def test_one_contrast_is_an_ordinary_t() -> None:
    assert max_t_quantile(np.eye(1), 7, 0.95) == pytest.approx(float(stats.t.ppf(0.975, 7)))


def test_two_treatments_are_a_paired_t_test(make_cells: MakeCells) -> None:
    values = np.random.default_rng(2).normal(0, 1, (6, 2))
    found = dunnett(fit(make_cells(values)), 0.9)
    expected = stats.ttest_rel(values[:, 1], values[:, 0]).confidence_interval(0.9)
    assert (found.low[1], found.high[1]) == pytest.approx((expected.low, expected.high))


def test_the_method_changes_at_ten_blocks(fitted: Fitted) -> None:
    assert simultaneous(fitted(1, 9, 3), 0.95, 1).method == "dunnett-t"
    assert simultaneous(fitted(1, 10, 3), 0.95, 1).method == "dunnett-bootstrap"


def test_ten_blocks_are_not_enough_where_a_treatment_misses_one(make_cells: MakeCells) -> None:
    values = np.random.default_rng(3).normal(0, 1, (10, 3))
    values[4, 2] = np.nan
    assert simultaneous(fit(make_cells(values)), 0.95, 1).method == "dunnett-t"


@pytest.mark.parametrize("blocks", [6, 12])
def test_the_same_seed_gives_the_same_intervals(fitted: Fitted, blocks: int) -> None:
    first, second = (simultaneous(fitted(4, blocks, 4), 0.95, 7) for _ in range(2))
    np.testing.assert_array_equal(first.low, second.low)
    np.testing.assert_array_equal(first.high, second.high)


def test_another_seed_moves_the_bootstrap_little(fitted: Fitted) -> None:
    model = fitted(4, 20, 4)
    first, second = (bootstrap(model, 0.95, seed).critical for seed in (1, 2))
    assert first is not None
    assert second is not None
    assert first != second
    assert first == pytest.approx(second, rel=0.05)


@pytest.mark.parametrize("method", [dunnett, lambda model, level: bootstrap(model, level, 1)])
def test_a_higher_level_widens(
    fitted: Fitted, method: Callable[[BlockedFit, float], object]
) -> None:
    model = fitted(5, 12, 3)
    narrow, wide = (method(model, level) for level in (0.8, 0.99))
    assert (wide.high - wide.low)[1:].min() > (narrow.high - narrow.low)[1:].max()  # type: ignore[attr-defined]


def test_one_block_bounds_nothing(make_cells: MakeCells) -> None:
    found = simultaneous(fit(make_cells(np.array([[0.0, 0.1]]))), 0.95, 1)
    assert found.method == "none"
    assert found.critical is None
    assert (found.low[1], found.high[1]) == (-np.inf, np.inf)
    assert (found.low[0], found.high[0]) == (0, 0)


@pytest.mark.parametrize("blocks", [5, 12])
def test_no_scatter_leaves_no_width(make_cells: MakeCells, blocks: int) -> None:
    model = fit(make_cells(np.tile(np.log([100e6, 90e6, 100e6]), (blocks, 1))))
    found = simultaneous(model, 0.95, 1)
    np.testing.assert_allclose(found.low, np.log([1, 0.9, 1]), atol=1e-12)
    np.testing.assert_array_equal(found.low, found.high)


def test_one_constant_treatment_does_not_spoil_the_others(make_cells: MakeCells) -> None:
    values = np.zeros((12, 3))
    values[:, 1] = np.random.default_rng(6).normal(0.1, 0.02, 12)
    values[:, 2] = -0.2
    found = bootstrap(fit(make_cells(values)), 0.95, 1)
    assert found.low[2] == pytest.approx(-0.2)
    assert found.high[2] == pytest.approx(-0.2)
    assert 0.01 < found.high[1] - found.low[1] < 0.06


def test_a_single_outlier_widens_within_reason(make_cells: MakeCells) -> None:
    """Peak memory, constant but for one block: a plain bootstrap t would be unbounded here."""
    values = np.zeros((30, 2))
    values[:, 1] = np.random.default_rng(7).normal(0, 1e-6, 30)
    values[11, 1] = 0.10
    found = bootstrap(fit(make_cells(values)), 0.95, 1)
    assert found.critical is not None
    assert found.critical < 4
    assert found.low[1] < 0 < found.high[1]


def test_the_bootstrap_leaves_out_resamples_that_say_nothing(make_cells: MakeCells) -> None:
    values = np.random.default_rng(8).normal(0, 1, (12, 3))
    values[2:, 2] = np.nan
    found = bootstrap(fit(make_cells(values)), 0.9, 1)
    assert np.isfinite(found.low).all()
    assert np.isfinite(found.high).all()


def test_a_level_outside_0_to_1_is_refused(fitted: Fitted) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        simultaneous(fitted(1, 5, 2), 1.0, 1)


def covered(low: NDArray[np.float64], high: NDArray[np.float64]) -> bool:
    """All true effects are 0 in the simulations."""
    return bool(((low <= 0) & (high >= 0)).all())


# With 400 experiments the standard error of a coverage of 95 % is 1.1 %; the bounds lie 3 off.
def test_dunnett_holds_what_it_promises(make_cells: MakeCells) -> None:
    draws = np.random.default_rng(9)
    hits = 0
    for _ in range(400):
        values = draws.normal(0, 0.1, (5, 1)) + draws.normal(0, 0.03, (5, 5))
        found = dunnett(fit(make_cells(values)), 0.95)
        hits += covered(found.low, found.high)
    assert 0.915 <= hits / 400 <= 0.985


def test_the_bootstrap_holds_what_it_promises_on_skewed_unequal_scatter(
    make_cells: MakeCells,
) -> None:
    draws = np.random.default_rng(10)
    scale = np.array([0.01, 0.01, 0.03, 0.06])
    hits = 0
    for number in range(400):
        values = draws.normal(0, 0.1, (15, 1)) + scale * draws.lognormal(0, 0.8, (15, 4))
        values -= scale * np.exp(0.32)
        found = bootstrap(fit(make_cells(values)), 0.95, number, resamples=499)
        hits += covered(found.low, found.high)
    assert 0.915 <= hits / 400 <= 0.999
