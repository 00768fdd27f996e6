# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Budgets and figures become verdicts, and an exceeded budget names its sites."""

import pytest

from heapwright.artefacts.limit.document import Budget, Kind, ProcessFigures, Unit, Verdict
from heapwright.artefacts.profile.document import Profile, Site, Totals
from heapwright.limit.functions import CUT
from heapwright.limit.judge import judged, judged_function, sites_at_fault
from support.documents import made

ALLOCATIONS = Budget(kind=Kind.ALLOCATIONS, unit=Unit.ALLOCATIONS, limit=10)
PEAK = Budget(kind=Kind.PEAK, unit=Unit.BYTES, limit=0)
LEAKS = Budget(kind=Kind.LEAKS, unit=Unit.BLOCKS, limit=0)
IN_WORK = Budget(kind=Kind.NO_ALLOC_IN, unit=Unit.ALLOCATIONS, limit=0, function="work")


def process(number: int, allocations: int = 0, leaked: int | None = 0) -> ProcessFigures:
    return made(
        ProcessFigures,
        process=number,
        allocations=allocations,
        leaked_blocks=leaked,
        leaked_bytes=None if leaked is None else 100 * leaked,
    )


def site(stack: int, allocations: int, *frames: str, at_peak: int = 0) -> Site:
    return made(Site, stack=stack, allocations=allocations, frames=frames, at_peak_bytes=at_peak)


def profile(*sites: Site, allocations: int | None = None) -> Profile:
    total = sum(each.allocations for each in sites) if allocations is None else allocations
    return made(Profile, sites=sites, totals=made(Totals, allocations=total))


@pytest.mark.parametrize(
    ("allocations", "verdict"), [(10, Verdict.WITHIN), (11, Verdict.EXCEEDED), (0, Verdict.WITHIN)]
)
def test_a_figure_may_be_as_large_as_its_limit(allocations: int, verdict: Verdict) -> None:
    found = judged(ALLOCATIONS, [process(0, allocations)])
    assert (found.verdict, found.figure, found.process) == (verdict, allocations, 0)


def test_the_answer_is_that_of_the_process_with_the_largest_figure() -> None:
    found = judged(ALLOCATIONS, [process(0, 3), process(1, 12), process(2, 12)])
    assert (found.verdict, found.figure, found.process) == (Verdict.EXCEEDED, 12, 1)


def test_a_figure_that_may_be_too_small_is_not_within() -> None:
    assert judged(ALLOCATIONS, [process(0, 3)], "stopped early").verdict is Verdict.UNKNOWN
    assert judged(ALLOCATIONS, [process(0, 30)], "stopped early").verdict is Verdict.EXCEEDED
    assert judged(ALLOCATIONS, []).verdict is Verdict.UNKNOWN


def test_a_process_that_was_not_searched_makes_leaks_unknown_unless_another_leaks() -> None:
    unknown = judged(LEAKS, [process(0), process(1, leaked=None)])
    assert (unknown.verdict, "not searched" in unknown.reason) == (Verdict.UNKNOWN, True)
    assert judged(LEAKS, [process(0, leaked=1), process(1, leaked=None)]).figure == 1
    in_bytes = LEAKS.model_copy(update={"unit": Unit.BYTES})
    assert judged(in_bytes, [process(0, leaked=2)]).figure == 200


def test_sites_are_ordered_and_alike_ones_joined() -> None:
    found = profile(site(1, 2, "f", "main"), site(2, 7, "g", "main"), site(3, 1, "f", "main"))
    sites = sites_at_fault(ALLOCATIONS, found)
    assert [(each.place, each.amount) for each in sites] == [("g", 7), ("f", 3)]
    at_peak = profile(site(1, 2, "f", at_peak=50), site(2, 7, "g"))
    assert [each.amount for each in sites_at_fault(PEAK, at_peak)] == [50]
    lost = sites_at_fault(LEAKS, found, {2: (4, 400)})
    assert [(each.place, each.amount) for each in lost] == [("g", 4)]


def test_allocations_below_a_function_count_as_its_own() -> None:
    found = {
        0: profile(site(1, 2, "helper", "app::work(int) (a.cpp:1)", "main"), site(2, 7, "main")),
        1: profile(site(1, 1, "work", "main")),
    }
    answer = judged_function(IN_WORK, found)
    assert (answer.verdict, answer.figure, answer.process) == (Verdict.EXCEEDED, 2, 0)
    assert [each.place for each in answer.sites] == ["helper"]
    assert judged_function(IN_WORK, {0: profile(site(1, 2, "main"))}).verdict is Verdict.WITHIN


def test_hidden_calls_are_not_taken_for_no_calls() -> None:
    without_stack = {0: profile(site(1, 2, "main"), allocations=3)}
    answer = judged_function(IN_WORK, without_stack)
    assert (answer.verdict, answer.reason) == (
        Verdict.UNKNOWN,
        "1 allocation has no recorded stack",
    )
    deep = {0: profile(site(1, 2, "f", CUT))}
    assert judged_function(IN_WORK, deep).verdict is Verdict.UNKNOWN
