# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The sentence over all levels of the parameters."""

from typing import Literal

from heapwright.analysis.levels import MOST_LISTED, overall
from heapwright.artefacts.comparison.document import Level, Verdict

Action = Literal["switch", "stay", "undecided"]


def level(threads: int, action: Action, allocator: str | None = None, name: str = "") -> Level:
    return Level(
        parameters={"threads": str(threads)},
        baseline="old",
        responses=(),
        pareto=(),
        verdict=Verdict(
            action=action, allocator=allocator, level=name, reason="because", how=("run: it",)
        ),
    )


def test_one_candidate_at_all_levels_is_named() -> None:
    verdict = overall([level(1, "switch", "", "new"), level(2, "switch", "", "new")])
    assert verdict.reason == "Switch to new at threads=1 and threads=2"
    assert (verdict.action, verdict.allocator, verdict.level) == ("switch", "", "new")
    assert verdict.how == ("at threads=1:", "run: it")


def test_many_levels_are_counted() -> None:
    levels = [level(each, "stay", "glibc") for each in range(MOST_LISTED + 1)]
    assert overall(levels).reason == "Nothing better is shown at all 5 levels: keep glibc"


def test_levels_that_disagree_are_told_apart() -> None:
    verdict = overall([
        level(1, "stay", "glibc"), level(2, "switch", "jemalloc"), level(4, "switch", "jemalloc"),
        level(8, "undecided"),
    ])  # fmt: skip
    assert verdict.action == "undecided"
    assert verdict.allocator is None
    assert verdict.reason == (
        "Undecided: it depends on the level: keep glibc at threads=1; "
        "switch to jemalloc at threads=2 and threads=4; not decided at threads=8"
    )


def test_levels_without_an_answer_have_none_together() -> None:
    verdict = overall([level(1, "undecided"), level(2, "undecided")])
    assert verdict.reason == "Undecided: no level is decided: threads=1 and threads=2"
