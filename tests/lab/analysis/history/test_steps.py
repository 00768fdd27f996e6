# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Counts that repeat: a step is a change without statistics, and scatter is none."""

from heapwright.analysis.history.changes import changes, fewest_documents
from heapwright.analysis.history.series import changes_of, too_few
from heapwright.analysis.history.steps import steps
from heapwright.artefacts.history.model import Point, Series


def series(values: list[float], *, spread: float | None, response: str = "instructions") -> Series:
    points = [
        Point(f"2026-01-{number + 1:02}", f"r{number + 1}", f"{number}.json", value, spread)
        for number, value in enumerate(values)
    ]
    return Series(("program",), "a processor", "glibc", response, "", "", points)


def test_a_step_below_one_percent_is_found_where_it_is() -> None:
    counted = series([30_379_000.0] * 8 + [30_681_000.0] * 10, spread=0.0)
    (change,) = changes_of([counted], error=0.01)
    assert (change.before.revision, change.first.revision) == ("r8", "r9")
    assert round(change.found.ratio, 4) == 1.0099
    assert changes_of([counted], error=0.01, margin=0.01) == []


def test_two_documents_are_enough_for_a_count_that_repeats() -> None:
    (change,) = changes_of([series([1e6, 1.01e6], spread=0.0)], error=0.01)
    assert change.found.at == 1


def test_a_change_that_is_taken_back_is_two_changes() -> None:
    found = steps([1e6] * 3 + [1.1e6] + [1e6] * 3, [0.0] * 7, margin=0.001)
    assert [(each.at, round(each.ratio, 3)) for each in found] == [(3, 1.1), (4, 0.909)]


def test_the_scatter_of_the_documents_is_no_change() -> None:
    wobble = [1e6 * (1 + 0.002 * (number % 3)) for number in range(12)]
    found = steps(wobble[2:], [0.0] * 10, margin=0.005)
    assert found == []


def test_counts_that_do_not_repeat_are_left_to_the_ranks() -> None:
    values = [1e6, 1.02e6, 0.99e6, 1.03e6, 1.01e6, 0.98e6]
    assert changes_of([series(values, spread=0.02)], error=0.01) == []
    assert changes_of([series(values, spread=None)], error=0.01) == []


def test_cache_misses_are_left_to_the_ranks() -> None:
    assert changes_of([series([100.0, 110.0], spread=0.0, response="l1_misses")], error=0.01) == []


def test_the_note_gives_the_number_of_documents_that_suffices() -> None:
    few = series([1.0] * 11, spread=None, response="time")
    fewest = fewest_documents(0.01)
    assert f"It takes {fewest}" in too_few([few], error=0.01)
    assert changes([1.0] * (fewest // 2) + [2.0] * (fewest // 2), error=0.01)
    assert not changes([1.0] * (fewest // 2 - 1) + [2.0] * (fewest // 2 - 1), error=0.01)
    many = series([1.0] * fewest, spread=None, response="time")
    assert too_few([many], error=0.01) == ""
    assert too_few([series([1.0], spread=0.0)], error=0.01) == ""
