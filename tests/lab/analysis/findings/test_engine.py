# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The rule engine: where an interval lies, and how answers combine."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heapwright.analysis.findings.engine import (
    Interval,
    Region,
    estimate,
    every,
    judge,
    number,
    some,
)
from heapwright.analysis.findings.sample import SOLE_BLOCK, Sample
from heapwright.artefacts.study_analysis.answers import Answer

HOLDS, FAILS, UNKNOWN = Answer.HOLDS, Answer.FAILS, Answer.UNKNOWN
OPPOSITE = {HOLDS: FAILS, FAILS: HOLDS, UNKNOWN: UNKNOWN}
ends = st.lists(st.integers(-3, 3), min_size=2, max_size=2).map(sorted).map(tuple)


@pytest.mark.parametrize(
    ("interval", "region", "answer"),
    [
        ((1.1, 1.2), Region(above=1), HOLDS),
        ((1.0, 1.2), Region(above=1), UNKNOWN),
        ((0.9, 1.0), Region(above=1), FAILS),
        ((0.9, 1.2), Region(above=1), UNKNOWN),
        ((0.9, 1.0), Region(below=1), UNKNOWN),
        ((1.0, 1.2), Region(below=1), FAILS),
        ((0.9, 1.0), Region(below=1, closed=True), HOLDS),
        ((1.0, 1.2), Region(below=1, closed=True), UNKNOWN),
        ((1.1, 1.2), Region(below=1, closed=True), FAILS),
        ((1.0, 1.2), Region(above=1, closed=True), HOLDS),
        ((0.9, 1.1), Region(0.8, 1.2), HOLDS),
        ((1.3, 1.4), Region(0.8, 1.2), FAILS),
        ((1.3, 1.4), Region(0.8, 1.2, outside=True), HOLDS),
        ((0.9, 1.1), Region(0.8, 1.2, outside=True), FAILS),
        ((0.0, 9.0), Region(), HOLDS),
        ((math.nan, math.nan), Region(0, 1), UNKNOWN),
        (None, Region(), UNKNOWN),
    ],
)
def test_where_an_interval_lies(interval: Interval | None, region: Region, answer: Answer) -> None:
    assert judge(interval, region) is answer


@given(ends, ends, st.booleans())
def test_outside_is_the_opposite(interval: Interval, bounds: Interval, closed: bool) -> None:
    inside = judge(interval, Region(*bounds, closed=closed))
    assert judge(interval, Region(*bounds, closed=closed, outside=True)) is OPPOSITE[inside]


@given(st.lists(st.sampled_from([HOLDS, FAILS, UNKNOWN])))
def test_every_and_some_are_duals(answers: list[Answer]) -> None:
    assert some(answers) is OPPOSITE[every(OPPOSITE[each] for each in answers)]


def test_without_rules_the_answer_is_unknown() -> None:
    assert (every([]), some([])) == (UNKNOWN, UNKNOWN)
    assert every([HOLDS, UNKNOWN]) is UNKNOWN
    assert every([HOLDS, UNKNOWN, FAILS]) is FAILS
    assert some([FAILS, UNKNOWN]) is UNKNOWN


def test_an_estimate_has_the_scatter_of_its_blocks() -> None:
    found = estimate(Sample(np.log([1.0, 2.0, 4.0]), ("left out",)), 0.95)
    assert found.value == pytest.approx(2)
    assert found.interval is not None
    assert found.interval[0] < 2 < found.interval[1]
    assert (found.blocks, found.notes) == (3, ("left out",))


def test_one_block_has_no_interval() -> None:
    found = estimate(Sample(np.array([3.0])), 0.95, logarithm=False)
    assert (found.value, found.interval, found.notes) == (3, None, (SOLE_BLOCK,))


def test_a_logarithm_has_a_number_as_far_as_numbers_go() -> None:
    assert number(1e9) == number(700) < math.inf
    assert number(-1e9) > 0
