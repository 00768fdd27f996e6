# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Paired ratios against figures worked out by hand."""

import math

import pytest

from heapwright.analysis.paired import paired_ratio


def test_the_interval_is_students_on_logarithms() -> None:
    found = paired_ratio([1.0, 1.0, 1.0], [1.0, math.e, math.e**2], 0.95)
    assert found is not None
    assert found.ratio == pytest.approx(math.e)
    assert found.low is not None
    half = 4.302652729749462 / math.sqrt(3)  # t at 0.975 with two degrees of freedom
    assert math.log(found.low) == pytest.approx(1 - half)


def test_figures_without_a_ratio() -> None:
    assert paired_ratio([], [], 0.95) is None
    assert paired_ratio([1.0, 0.0], [1.0, 1.0], 0.95) is None
    with pytest.raises(ValueError, match="no pairs"):
        paired_ratio([1.0], [1.0, 2.0], 0.95)


def test_one_pair_has_no_bounds() -> None:
    found = paired_ratio([2.0], [3.0], 0.95)
    assert found is not None
    assert (found.ratio, found.low, found.high) == (pytest.approx(1.5), None, None)


def test_each_figure_is_compared_with_its_own_partner() -> None:
    """Sorting the figures, or mixing them in another way, would widen the interval."""
    found = paired_ratio([1.0, 3.0, 2.0], [2.0, 6.0, 4.0], 0.95)
    assert found is not None
    assert (found.ratio, found.low, found.high) == tuple(map(pytest.approx, (2.0, 2.0, 2.0)))
    other = paired_ratio([1.0, 3.0, 2.0], [6.0, 2.0, 4.0], 0.95)
    assert other is not None
    assert other.low is not None
    assert other.high is not None
    assert other.low < 0.5
    assert other.high > 6.0
