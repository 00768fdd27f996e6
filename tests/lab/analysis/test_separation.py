# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Letters and the front follow from the intervals that the verdict reads."""

from collections.abc import Callable, Sequence
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heapwright.analysis.analyse import Analysis, Settings, analyse
from heapwright.analysis.ratio_text import Span
from heapwright.analysis.separation import Point, apart, shown_front
from heapwright.artefacts.comparison.document import Effect, TreatmentInfo
from heapwright.artefacts.run.measured import Run
from heapwright.artefacts.run.provenance import Kind

NAMES = ("glibc", "granary", "jemalloc", "mimalloc", "tcmalloc", "lea")
EQUAL = Span(1, 1, 1)


def comparison(
    make_run: Callable[..., Run], seed: int, blocks: int, error: float, step: float
) -> Analysis:
    """The baseline, five allocators that are faster by `step`, and scatter of the given size."""
    draws = np.random.default_rng(seed)
    runs = [
        make_run(
            name,
            block,
            wall_s=float(np.exp(draws.normal(0, error) - (step if name != "glibc" else 0))),
            peak_rss_bytes=round(4e8 * float(np.exp(draws.normal(0, error / 10)))),
        )
        for block in range(1, blocks + 1)
        for name in NAMES
    ]
    infos = [TreatmentInfo(allocator=n, label=n, kind=Kind.PEER) for n in NAMES]
    return analyse(runs, infos, ("glibc", ""), Settings(0.95, 0.02, None, 1))


def of(found: Analysis, response: str) -> list[Effect]:
    return [each for each in found.effects if each.response == response]


def disjoint(one: Effect, other: Effect) -> bool:
    assert one.low is not None
    assert one.high is not None
    assert other.low is not None
    assert other.high is not None
    return one.high < other.low or other.high < one.low


def test_a_switch_and_one_letter_for_all_never_come_together(
    make_run: Callable[..., Run],
) -> None:
    """A difference that the intervals barely show: all pairs at once would not show it."""
    switches = 0
    for seed in range(40):
        found = comparison(make_run, seed, blocks=5, error=0.15, step=0.3)
        if found.verdict.action != "switch":
            continue
        switches += 1
        groups = {each.allocator: set(each.group) for each in of(found, "time")}
        assert found.verdict.allocator is not None
        assert not groups["glibc"] & groups[found.verdict.allocator]
        assert found.verdict.allocator in found.pareto
        assert "glibc" not in found.pareto
    assert switches > 5


@pytest.mark.parametrize("blocks", [4, 12])
@settings(max_examples=15)
@given(st.integers(0, 999), st.sampled_from([0.0, 0.03, 0.08]))
def test_letters_are_shared_exactly_where_intervals_overlap(
    make_run: Callable[..., Run], blocks: int, seed: int, step: float
) -> None:
    found = comparison(make_run, seed, blocks, 0.03, step)
    for response in ("time", "memory"):
        for one, other in combinations(of(found, response), 2):
            assert disjoint(one, other) != bool(set(one.group) & set(other.group))


def test_apart() -> None:
    low, high = np.array([0.0, -0.2, -0.1]), np.array([0.0, -0.1, 0.1])
    assert apart(low, high).tolist() == [
        [False, True, False],
        [True, False, False],
        [False, False, False],
    ]


def front(*points: tuple[str, Span, Span], margin: float = 0.02) -> Sequence[str]:
    found = shown_front([Point((name, ""), time, memory) for name, time, memory in points], margin)
    return [key[0] for key in found]


def test_an_estimate_alone_leaves_nothing_behind() -> None:
    better = Span(0.97, 0.93, 1.01)
    assert front(("base", EQUAL, EQUAL), ("x", better, better)) == ["x", "base"]


def test_a_difference_within_the_margin_costs_nothing() -> None:
    faster, about_equal = Span(0.9, 0.88, 0.92), Span(1.005, 0.995, 1.015)
    points = (("base", EQUAL, EQUAL), ("x", faster, about_equal))
    assert front(*points) == ["x"]
    assert front(*points, margin=0.0) == ["x", "base"]


def test_each_end_of_a_trade_off_stays() -> None:
    fat = ("fat", Span(0.8, 0.79, 0.81), Span(1.5, 1.4, 1.6))
    lean = ("lean", Span(1.2, 1.1, 1.3), Span(0.5, 0.45, 0.55))
    beaten = ("beaten", Span(1.2, 1.1, 1.3), Span(1.7, 1.6, 1.8))
    assert front(lean, ("base", EQUAL, EQUAL), beaten, fat) == ["fat", "base", "lean"]
