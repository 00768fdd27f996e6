# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Change points: false alarms, detection of a step of 5 %, and the place of the change."""

import csv
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from heapwright.analysis.history.changes import changes, steps

Noise = Callable[[np.random.Generator, int], np.ndarray]


def normal(generator: np.random.Generator, count: int) -> np.ndarray:
    return 0.01 * generator.standard_normal(count)


def heavy(generator: np.random.Generator, count: int) -> np.ndarray:
    """Student's t with 3 degrees of freedom, scaled to 1 %."""
    return 0.01 * generator.standard_t(3, count) / 3**0.5


def ties(generator: np.random.Generator, count: int) -> np.ndarray:
    """Exact counts repeat."""
    return 1e-6 * generator.integers(0, 2, count)


NOISES = {"normal": normal, "heavy": heavy, "ties": ties}


@pytest.mark.parametrize("name", NOISES)
def test_false_alarms_stay_below_the_stated_error(name: str) -> None:
    generator = np.random.default_rng(1)
    histories = 1000
    alarms = sum(
        bool(changes(np.exp(NOISES[name](generator, 60)).tolist())) for _ in range(histories)
    )
    assert alarms <= 0.01 * histories


@pytest.mark.parametrize("name", NOISES)
@pytest.mark.parametrize(("before", "least"), [(20, 0.8), (60, 0.95)])
def test_a_step_of_five_percent_is_found_within_ten_documents(
    name: str, before: int, least: float
) -> None:
    generator = np.random.default_rng(2)
    histories = 200
    places = []
    for _ in range(histories):
        values = NOISES[name](generator, before + 10)
        values[before:] += np.log(1.05)
        found = changes(np.exp(values).tolist())
        if found:
            places.append(found[0].at)
            assert 1.02 < found[0].ratio < 1.08
    assert len(places) >= least * histories
    assert abs(float(np.median(places)) - before) <= 1


def test_both_directions_and_several_changes_are_found() -> None:
    generator = np.random.default_rng(3)
    values = normal(generator, 90)
    values[30:] += np.log(1.1)
    values[60:] -= np.log(1.2)
    found = changes(np.exp(values).tolist())
    assert [round(each.at / 30) for each in found] == [1, 2]
    assert found[0].ratio > 1 > found[1].ratio


def test_a_change_within_the_margin_is_not_reported() -> None:
    values = [1.0, 1.0001] * 20 + [1.004, 1.0041] * 10
    assert changes(values)
    assert changes(values, margin=0.01) == []


EXACT = [1000.0] * 8


def places(values: list[float]) -> list[int]:
    return [each.at for each in steps(values, margin=0.001)]


def test_a_step_of_exact_counts_is_found_at_once() -> None:
    """The ranks of 18 values cannot show it with an error of 1 %."""
    values = EXACT + [1009.9] * 10
    assert changes(values) == []
    found = steps(values, margin=0.001)
    assert [(each.at, each.alarm) for each in found] == [(8, 9)]
    assert found[0].ratio == pytest.approx(1.0099)
    assert places([*EXACT, 1009.9]) == [8]
    assert places([*EXACT, *[990.0] * 6, 1000.0]) == [8, 14]


def test_counts_within_the_margin_and_single_counts_are_no_step() -> None:
    assert places([*EXACT, 1000.9, 999.1] * 3) == []
    assert places([*EXACT, 1009.9, 1000.0, 1000.0]) == []
    assert places([*EXACT, 1009.9, 990.0, 1000.0]) == []
    assert places([1000.0] * 4 + [1009.9] * 4) == []


def test_counts_with_noise_are_not_judged_as_exact() -> None:
    generator = np.random.default_rng(5)
    histories = (1000 * np.exp(normal(generator, 60)) for _ in range(1000))
    assert sum(bool(places(each.tolist())) for each in histories) <= 10


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_a_short_series_has_no_change(count: int) -> None:
    assert changes([1.0, 5.0, 1.0, 9.0, 1.0][:count]) == []


def test_recorded_noise_raises_no_more_alarms_than_stated() -> None:
    """Resampled ratios of real runs: the order of a history without a change is random."""
    noise = Path(__file__).parents[1] / "race" / "noise.csv"
    with noise.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    numbers = [
        float(cell) for row in rows[1:] for cell in row if cell.replace(".", "", 1).isdigit()
    ]
    pool = np.log(np.array([each for each in numbers if each > 0]))
    pool = pool - np.median(pool)
    generator = np.random.default_rng(4)
    histories = 300
    alarms = sum(
        bool(changes(np.exp(generator.choice(pool, 60)).tolist())) for _ in range(histories)
    )
    assert alarms <= 0.02 * histories
