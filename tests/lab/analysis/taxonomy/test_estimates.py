# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Instrument and intervals of a few repetitions, and how they meet a limit."""

import math

import pytest

from heapwright.analysis.taxonomy.estimates import half_width, mean_of, ratio_of
from heapwright.analysis.taxonomy.limits import exceeds
from heapwright.artefacts.taxonomy.document import Estimate


def test_nothing_and_one_value() -> None:
    assert mean_of([]) is None
    one = mean_of([2.0])
    assert one == Estimate(value=2.0, runs=1)
    assert half_width([2.0]) is None


def test_the_interval_is_students() -> None:
    found = mean_of([1.0, 2.0, 3.0])
    assert found is not None
    assert found.value == pytest.approx(2)
    assert found.high == pytest.approx(2 + 4.302653 / math.sqrt(3), rel=1e-6)
    assert found.low == pytest.approx(2 - 4.302653 / math.sqrt(3), rel=1e-6)


def test_ratios_are_averaged_on_the_log_scale() -> None:
    found = ratio_of([math.log(0.5), math.log(2)])
    assert found is not None
    assert found.value == pytest.approx(1)
    assert found.low is not None
    assert found.high is not None
    assert found.low * found.high == pytest.approx(1)


@pytest.mark.parametrize(
    ("low", "high", "judgement"),
    [(2.0, 3.0, True), (0.5, 1.0, False), (0.5, 1.5, None), (None, None, None)],
)
def test_an_interval_across_the_limit_is_no_judgement(
    low: float | None, high: float | None, judgement: bool | None
) -> None:
    assert exceeds(Estimate(value=1.2, low=low, high=high), 1.0) is judgement
