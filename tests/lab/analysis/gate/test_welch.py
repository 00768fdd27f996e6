# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The interval against SciPy's own Welch test; how often answers are right, by simulation."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from heapwright.analysis.gate.welch import (
    HIGHEST_DRIFT,
    POWER,
    Difference,
    Sample,
    neighbours_correlation,
)

from .constructed import logs

LIMITS = (math.log(0.97), math.log(1.03))
EXPERIMENTS = 600


def difference(first: list[float], second: list[float]) -> Difference:
    return Difference(Sample.of(np.array(first)), Sample.of(np.array(second)))


@given(
    st.lists(st.floats(-3, 3), min_size=2, max_size=7, unique=True),
    st.lists(st.floats(-3, 3), min_size=2, max_size=7, unique=True),
    st.sampled_from([0.8, 0.9, 0.99]),
)
def test_without_drift_it_is_welch(first: list[float], second: list[float], level: float) -> None:
    if np.std(first) < 1e-6 or np.std(second) < 1e-6:
        return
    known = stats.ttest_ind(second, first, equal_var=False).confidence_interval(level)
    found = difference(first, second).interval(level)
    assert found == pytest.approx((known.low, known.high), rel=1e-6, abs=1e-9)


@pytest.mark.parametrize(
    ("shift", "scatter", "answer"),
    [
        (0.0, 0.01, "within"),
        (0.1, 0.01, "above"),
        (-0.1, 0.01, "below"),
        (0.0, 0.1, "open"),
        (0.03, 0.01, "open"),
        (0.01, 0.0, "within"),
        (math.log(1.03), 0.0, "within"),
        (0.031, 0.0, "above"),
    ],
)
def test_answers(shift: float, scatter: float, answer: str) -> None:
    asked = difference(logs(0, scatter), logs(shift, scatter))
    assert asked.answer(0.9, *LIMITS) == answer


def test_one_run_says_nothing_of_scatter() -> None:
    asked = difference([0.0], logs(0.5, 0.01))
    assert asked.interval(0.9) == (-math.inf, math.inf)
    assert asked.answer(0.9, *LIMITS) == "open"
    assert asked.blocks_needed(0.9, *LIMITS) is None


@pytest.mark.parametrize("truth", [0.0, math.log(1.03), 0.08])
def test_wrong_answers_are_rare_and_the_number_of_blocks_suffices(truth: float) -> None:
    """At the margin both "within" and "above" are wrong to say; elsewhere one of them is right."""
    draws = np.random.default_rng(11)
    scatter, blocks = 0.02, 12
    given_answers = []
    for _ in range(EXPERIMENTS):
        first, second = draws.normal(0, scatter, (2, blocks))
        given_answers.append(difference(list(first), list(second + truth)).answer(0.9, *LIMITS))
    share = {each: given_answers.count(each) / EXPERIMENTS for each in set(given_answers)}
    if truth == 0.0:
        assert share.get("above", 0) + share.get("below", 0) <= 0.01
    elif truth == 0.08:
        assert share["above"] > 0.95
    else:
        assert share.get("above", 0) <= 0.07
        assert share.get("within", 0) <= 0.07
        assert share.get("below", 0) == 0


@pytest.mark.parametrize(("shift", "right"), [(0.0, "within"), (0.05, "above"), (-0.06, "below")])
def test_as_many_blocks_as_it_says_answer_as_often_as_it_says(shift: float, right: str) -> None:
    scatter = 0.04
    needed = difference(logs(0, scatter), logs(shift, scatter)).blocks_needed(0.9, *LIMITS)
    assert needed is not None
    draws = np.random.default_rng(3)
    hits = 0
    for _ in range(EXPERIMENTS):
        first, second = draws.normal(0, scatter, (2, needed))
        # Fresh independent runs: what is planned for has no drift either.
        asked = Difference(_plain(first), _plain(second + shift))
        hits += asked.answer(0.9, *LIMITS) == right
    assert hits / EXPERIMENTS == pytest.approx(POWER, abs=0.06)


def _plain(values: NDArray[np.float64]) -> Sample:
    return Sample(float(values.mean()), float(values.std(ddof=1)), len(values), len(values))


def test_more_scatter_needs_more_blocks_and_the_margin_itself_too_many() -> None:
    needs = [
        difference(logs(0, scatter), logs(0, scatter)).blocks_needed(0.9, *LIMITS)
        for scatter in (0.01, 0.03, 0.09)
    ]
    assert None not in needs
    assert needs == sorted(need for need in needs if need is not None)
    assert needs[0] != needs[2]
    at_margin = difference(logs(0, 0.05), logs(LIMITS[1], 0.05))
    assert at_margin.blocks_needed(0.9, *LIMITS) is None


def test_drift_makes_runs_count_for_less() -> None:
    rising = Sample.of(np.linspace(0, 1, 20))
    steady = Sample.of(np.array(logs(0, 1, 20)))
    assert rising.effective < 5
    assert steady.effective == 20


def test_correlation_of_neighbours() -> None:
    draws = np.random.default_rng(1)
    values = np.zeros(4000)
    for number in range(1, len(values)):
        values[number] = 0.6 * values[number - 1] + draws.normal()
    assert neighbours_correlation(values) == pytest.approx(0.6, abs=0.05)
    assert neighbours_correlation(np.arange(1000.0)) == HIGHEST_DRIFT
    assert neighbours_correlation(np.ones(10)) == 0
    assert neighbours_correlation(np.array([1.0, -1.0] * 10)) == 0


def test_drifting_samples_of_the_same_thing_are_seldom_called_different() -> None:
    """Random walks around nothing: without the correction this is wrong about half the time."""
    draws = np.random.default_rng(5)
    wrong = plain = 0
    for _ in range(EXPERIMENTS):
        noise = draws.normal(0, 0.03, (2, 40))
        for number in range(1, 40):
            noise[:, number] += 0.7 * noise[:, number - 1]
        asked = difference(list(noise[0]), list(noise[1]))
        wrong += asked.answer(0.9, 0.0, 0.0) != "open"
        plain += Difference(_plain(noise[0]), _plain(noise[1])).answer(0.9, 0.0, 0.0) != "open"
    assert plain / EXPERIMENTS > 0.3
    assert wrong / EXPERIMENTS < 0.2
