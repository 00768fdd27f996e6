# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The verdict in words."""

import pytest

from heapwright.analysis.factorial.verdict_text import verdict
from heapwright.artefacts.study_analysis.document import (
    Better,
    Ranking,
    RankingEntry,
    ResponseAnalysis,
)


def response(
    *entries: tuple[str, str, float | None],
    better: Better = "lower",
    absent: tuple[str, ...] = (),
    failed: int = 0,
) -> ResponseAnalysis:
    """Entries are allocator, group and ratio to the baseline."""
    ranking = Ranking(
        scope={},
        cells=1,
        blocks=3,
        df=2,
        method="dunnett-t",
        absent=absent,
        entries=tuple(
            RankingEntry(
                allocator=name,
                place=place,
                mean=1.0,
                percent_over_best=25.0 * (place - 1),
                group=group,
                ratio=ratio,
                low=None if ratio is None else ratio - 0.1,
                high=None if ratio is None else ratio + 0.1,
                runs=3,
                failed=failed,
            )
            for place, (name, group, ratio) in enumerate(entries, 1)
        ),
    )
    return ResponseAnalysis(
        name="time", better=better, scale="log", runs=9, cells=(), rankings=(ranking,)
    )


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (
            response(("x", "a", 0.5), ("y", "b", 0.6), ("base", "c", 1.0)),
            "In time, x is best; y, the next, is 25.0 % above it; "
            "it is itself 50.0 % below base (ratio 0.400 to 0.600).",
        ),
        (
            response(("x", "a", 0.5), ("base", "b", 1.0)),
            "In time, x is best, 50.0 % below base (ratio 0.400 to 0.600).",
        ),
        (
            response(("x", "a", 0.9), ("base", "a", 1.0), ("y", "b", 1.2)),
            "In time, it is undecided which is best: x has the lowest mean, "
            "but the runs cannot tell it from base (25.0 % above).",
        ),
        (
            response(("base", "a", 1.0), ("x", "b", 1.25)),
            "In time, base is best; x, the next, is 25.0 % above it.",
        ),
        (
            response(("x", "a", 1.5), ("base", "b", 1.0), better="higher"),
            "In time, x is best, 50.0 % above base (ratio 1.400 to 1.600).",
        ),
        (
            response(("x", "a", None), ("y", "b", None), better="higher"),
            "In time, x is best; y, the next, is 25.0 % below it.",
        ),
        (
            response(("x", "a", None), ("y", "b", None), absent=("z",)),
            "In time, x is best; y, the next, is 25.0 % above it. "
            "z had too few good runs to be ranked.",
        ),
        (
            response(("x", "a", None), ("y", "a", None), failed=1),
            "In time, it is undecided which is best: x has the lowest mean, "
            "but the runs cannot tell it from y (25.0 % above). Some runs of x and y failed.",
        ),
    ],
)
def test_one_response(found: ResponseAnalysis, text: str) -> None:
    assert verdict([found], "base").text == text


@pytest.mark.parametrize("names", [("x", "base"), ("base", "x"), ("x", "y")])
def test_no_difference_needs_intervals_within_the_margin(names: tuple[str, str]) -> None:
    tied = response(*((name, "a", 1.0) for name in names), ("z", "b", 2.0))
    assert "undecided which is best" in verdict([tied], "base", 0.02).text
    assert verdict([tied], "base", 0.25).text.startswith(
        f"In time, {names[0]} is best, no different from {names[1]} by more than 25 %"
    )


def test_those_that_share_a_letter_with_the_best_are_best() -> None:
    found = verdict([response(("x", "a", 1.0), ("y", "ab", 1.1), ("z", "b", 1.2))], "x")
    assert found.best[0].allocators == ("x", "y")


def test_two_responses_without_a_common_best_allocator() -> None:
    other = response(("y", "a", None), ("x", "b", None)).model_copy(update={"name": "memory"})
    found = verdict([response(("x", "a", None), ("y", "b", None)), other], "")
    assert found.text.endswith("No allocator is best in both time and memory.")
    assert [each.response for each in found.best] == ["time", "memory"]


def test_nothing_to_say() -> None:
    alone = response(("x", "a", 1.0))
    assert "one allocator only" in verdict([alone], "x").text
    undirected = response(("x", "a", 1.0), ("y", "b", 1.0), better="none")
    assert verdict([undirected], "x").text.startswith("Nothing is ranked")
    assert "No good run" in verdict([undirected.model_copy(update={"runs": 0})], "x").text


def test_a_difference_that_does_not_matter_is_called_so() -> None:
    found = response(("x", "a", None), ("y", "b", None))
    assert "does not matter" not in verdict([found], "", 0.02).text
    assert verdict([found], "", 0.25).text == (
        "In time, x is best; y, the next, is 25.0 % above it "
        "(a difference within 25 % does not matter)."
    )
