# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Looks: when the data are judged, with which confidence, and which rule ends the experiment."""

import math

import pytest

from heapwright.analysis.looks import (
    LookPlan,
    adaptive,
    decide,
    fixed,
    half_width,
    next_look,
    widest,
)
from heapwright.artefacts.comparison.document import Effect, Response


def effect(
    half: float | None, *, response: Response = "time", name: str = "x", ratio: float = 0.9
) -> Effect:
    low, high = (None, None) if half is None else (ratio / (1 + half), ratio * (1 + half))
    return Effect(
        allocator=name, response=response, ratio=ratio, low=low, high=high, group="a", runs=5
    )


BASELINE = Effect(allocator="glibc", response="time", ratio=1, low=1, high=1, group="a", runs=5)


def test_the_error_rate_is_shared_among_the_looks() -> None:
    plan = adaptive(0.03)
    assert plan.looks == (5, 10, 20, 30)
    assert (1 - plan.level) * len(plan.looks) == pytest.approx(0.05)
    assert fixed(7).level == pytest.approx(0.95)


def test_half_width_is_a_fraction_of_the_ratio() -> None:
    assert half_width(effect(0.05)) == pytest.approx(0.05)
    assert half_width(effect(0.05, ratio=3.0)) == pytest.approx(0.05)
    assert half_width(effect(0.0)) == 0
    assert half_width(effect(None)) == math.inf


def test_no_stop_between_looks() -> None:
    decision = decide(adaptive(0.03), 7, [effect(0.001)])
    assert not decision.stop
    assert "10 blocks" in decision.because


def test_stops_at_a_look_when_everything_is_narrow() -> None:
    effects = [BASELINE, effect(0.02), effect(0.03 - 1e-9, response="memory")]
    decision = decide(adaptive(0.03), 5, effects)
    assert decision.stop
    assert decision.because == "after 5 blocks every ratio is known to 3 % or better"


@pytest.mark.parametrize("response", ["time", "memory"])
def test_goes_on_while_one_ratio_is_wide(response: Response) -> None:
    effects = [effect(0.01), effect(0.031, response=response, name="y")]
    decision = decide(adaptive(0.03), 10, effects)
    assert not decision.stop
    assert "3.1 %" in decision.because


def test_processor_time_is_not_judged() -> None:
    assert decide(adaptive(0.03), 5, [effect(0.01), effect(0.5, response="cpu")]).stop


def test_the_last_look_ends_it_and_says_what_was_not_reached() -> None:
    decision = decide(adaptive(0.03), 30, [effect(0.01), effect(0.08, response="memory", name="y")])
    assert decision.stop
    assert decision.because == (
        "the limit of 30 blocks is reached; the widest half-width is 8 % (memory of y), "
        "3 % was required"
    )


def test_unbounded_intervals_are_never_narrow_enough() -> None:
    assert not decide(adaptive(0.5), 5, [effect(None)]).stop
    assert "unknown" in decide(adaptive(0.5), 30, [effect(None)]).because


def test_nothing_left_to_compare_stops_at_the_next_look() -> None:
    decision = decide(adaptive(0.03), 5, [BASELINE])
    assert decision.stop
    assert "nothing is left to compare" in decision.because
    assert widest([BASELINE]) is None


def test_a_fixed_number_of_blocks_ends_at_that_number() -> None:
    assert not decide(fixed(3), 2, [effect(0.001)]).stop
    decision = decide(fixed(3), 3, [effect(0.9)])
    assert decision.stop
    assert decision.because == "the 3 requested blocks are done"
    assert decide(fixed(1), 1, []).because == "the 1 requested block is done"


def test_the_next_look() -> None:
    plan = adaptive(0.03)
    assert [next_look(plan, blocks) for blocks in (0, 5, 29, 30)] == [5, 10, 30, None]


@pytest.mark.parametrize("looks", [(), (5, 5), (10, 5), (0, 5)])
def test_impossible_plans_are_refused(looks: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="look"):
        LookPlan(looks, 0.03, 0.95)


@pytest.mark.parametrize("until", [0.0, -1.0, math.nan])
def test_an_impossible_width_is_refused(until: float) -> None:
    with pytest.raises(ValueError, match="half-width"):
        adaptive(until)
