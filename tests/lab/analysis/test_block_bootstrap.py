# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The bootstrap over complete blocks: as if each resample were computed by itself."""

import numpy as np
import pytest

from heapwright.analysis.block_bootstrap import (
    ERROR_FLOOR,
    draws,
    largest_t,
    quantile,
    simultaneous,
    standard_errors,
)


def test_each_resample_by_itself() -> None:
    values = np.random.default_rng(1).normal(0, 1, (12, 3))
    weights = draws(12, 50, 7)
    found = largest_t(values, weights)
    usual = standard_errors(values)
    for row, t in zip(weights, found, strict=True):
        drawn = np.repeat(values, row.astype(int), axis=0)
        error = np.sqrt(((drawn - drawn.mean(axis=0)) ** 2).sum(axis=0)) / 12
        error = np.maximum(error, ERROR_FLOOR * usual)
        expected = (np.abs(drawn.mean(axis=0) - values.mean(axis=0)) / error).max()
        assert t == pytest.approx(expected)


def test_draws_are_whole_blocks_and_repeatable() -> None:
    weights = draws(9, 40, 3)
    assert weights.shape == (40, 9)
    assert (weights.sum(axis=1) == 9).all()
    np.testing.assert_array_equal(weights, draws(9, 40, 3))
    assert not np.array_equal(weights, draws(9, 40, 4))


def test_responses_without_scatter_are_left_out() -> None:
    values = np.random.default_rng(2).normal(0, 1, (15, 2))
    fixed = np.column_stack([values, np.full(15, 0.3)])
    weights = draws(15, 500, 1)
    critical, errors = simultaneous(fixed, weights, 0.95)
    assert errors[2] == 0
    assert critical == simultaneous(values, weights, 0.95)[0]
    assert simultaneous(np.ones((15, 2)), weights, 0.95)[0] == 0


def test_the_quantile_is_an_order_statistic() -> None:
    assert quantile(np.arange(1.0, 20.0), 0.95) == 19
    assert quantile(np.arange(1.0, 20.0), 0.5) == 10
    assert quantile(np.arange(1.0, 3.0), 0.99) == 2


def test_intervals_hold_as_often_as_they_say() -> None:
    weights = draws(14, 999, 1)
    generator = np.random.default_rng(5)
    held = 0
    for _ in range(300):
        values = generator.laplace(0, 1, (14, 4))
        critical, errors = simultaneous(values, weights, 0.9)
        held += bool((np.abs(values.mean(axis=0)) <= critical * errors).all())
    assert held >= 300 * 0.84
