# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Growth with its interval: right where it is known, wide enough where neighbours are alike."""

import numpy as np
import pytest
from scipy import signal

from heapwright.analysis.growth import (
    FEWEST,
    POINTS,
    Floats,
    autocorrelation_factor,
    growth,
    thinned,
)

TIMES: Floats = np.linspace(0.0, 4.0, 60)


def alike(seed: int, likeness: float, number: int = 80) -> Floats:
    """A series that each point of is like the one before, around 0."""
    noise = np.random.default_rng(seed).normal(size=number + 100)
    return np.asarray(signal.lfilter([1.0], [1.0, -likeness], noise)[100:], dtype=np.float64)


def test_a_straight_line_is_known_exactly() -> None:
    found = growth(TIMES, 5.0 + 3.0 * TIMES)
    assert found is not None
    assert found.slope == pytest.approx(3.0)
    assert found.low == pytest.approx(3.0)
    assert found.high == pytest.approx(3.0)
    assert found.level == pytest.approx(11.0)


def test_a_constant_series_has_no_growth_and_no_width() -> None:
    found = growth(TIMES, np.full_like(TIMES, 7.0))
    assert found is not None
    assert (found.slope, found.low, found.high, found.inflation) == (0.0, 0.0, 0.0, 1.0)


def test_a_few_peaks_do_not_move_it() -> None:
    values = 2.0 * TIMES
    values[[50, 55, 58]] += 1000.0
    found = growth(TIMES, values)
    assert found is not None
    assert found.slope == pytest.approx(2.0, rel=0.05)


def test_the_interval_is_that_of_the_published_example() -> None:
    # Independent points: Kendall's variance for n = 12 is 12 * 11 * 29 / 18; the ranks follow.
    values = np.array([3.0, 1.0, 4.0, 1.5, 5.0, 9.0, 2.0, 6.0, 5.5, 3.5, 8.0, 9.5])
    times = np.arange(12.0)
    found = growth(times, values)
    assert found is not None
    pairs = sorted((values[j] - values[i]) / (j - i) for i in range(12) for j in range(i + 1, 12))
    reach = 1.959964 * (12 * 11 * 29 / 18 * found.inflation) ** 0.5
    below = sum(each < found.low for each in pairs)
    assert below <= (66 - reach) / 2 <= below + 2
    assert found.low < found.slope < found.high


def test_too_few_points_give_none() -> None:
    assert growth(TIMES[: FEWEST - 1], TIMES[: FEWEST - 1]) is None
    assert growth(TIMES[:FEWEST], TIMES[:FEWEST]) is not None


def test_a_long_series_is_thinned_to_medians() -> None:
    times = np.linspace(0.0, 1.0, 5000)
    at, points = thinned(times, np.where(np.arange(5000) % 10 == 0, 1e9, times))
    assert len(at) == len(points) == POINTS
    assert points.max() < 1.1
    assert (np.diff(at) > 0).all()


def test_a_gap_in_a_series_is_no_point() -> None:
    times = np.concatenate([np.linspace(0.0, 1.0, 300), np.linspace(9.0, 10.0, 300)])
    at, points = thinned(times, times)
    assert len(at) == len(points) < POINTS


def test_likeness_inflates_and_its_absence_does_not() -> None:
    assert autocorrelation_factor(alike(1, 0.8)) > 2.0
    assert autocorrelation_factor(np.tile([1.0, -1.0], 40)) == 1.0
    assert autocorrelation_factor(np.zeros(30)) == 1.0


@pytest.mark.parametrize(("likeness", "at_least"), [(0.0, 0.92), (0.5, 0.84)])
def test_the_interval_holds_the_truth_about_as_often_as_it_says(
    likeness: float, at_least: float
) -> None:
    times: Floats = np.arange(80.0)
    found = [growth(times, alike(seed, likeness) + 0.05 * times) for seed in range(200)]
    held = [each.low <= 0.05 <= each.high for each in found if each is not None]
    assert np.mean(held) >= at_least
