# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""When a stand-in agrees with its original, differs from it, or cannot be told."""

from collections.abc import Sequence

import pytest

from heapwright.analysis.validation import (
    answer_of,
    checks_of,
    sentence_of,
    verdict_of,
)
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.workload import Aspect, WorkloadRun
from heapwright.artefacts.validation.document import Answer, Check

MIB = 2.0**20


def run(
    allocator: str,
    aspect: Aspect,
    block: int = 1,
    *,
    threads: int = 1,
    peak: float = 0.0,
    live: float = MIB,
    takes: float | None = None,
    seconds: float = 1.0,
    outcome: Outcome = Outcome.OK,
) -> WorkloadRun:
    return WorkloadRun.model_validate(
        {
            "allocator": allocator,
            "aspect": aspect,
            "workload": "larson",
            "threads": threads,
            "block": block,
            "outcome": outcome,
            "counts": {} if takes is None else {"lock_takes": takes, "lock_hand_overs": 0.0},
            "line": None
            if outcome is not Outcome.OK
            else {
                "workload": "larson",
                "threads": threads,
                "seed": 1,
                "operations": 1000,
                "seconds": seconds,
                "memory": [[0, live, peak]],
            },
        }
    )


def peaks(original: float, stand_in: float, fixed: tuple[float, float]) -> list[WorkloadRun]:
    return [
        made
        for block in (1, 2, 3)
        for name, peak, own in (("o", original, fixed[0]), ("s", stand_in, fixed[1]))
        for made in (
            run(name, Aspect.FIXED, block, peak=own),
            run(name, Aspect.PEAK, block, peak=own + peak),
        )
    ]


def only(runs: Sequence[WorkloadRun], *, locks: bool = False) -> Check:
    (check,) = checks_of(runs, "o", "s", locks=locks)
    return check


def test_fixed_parts_do_not_count() -> None:
    check = only(peaks(20 * MIB, 20 * MIB, (1 * MIB, 9 * MIB)))
    assert (check.what, check.answer) == ("peak memory", "agrees")
    assert check.original == pytest.approx(20 * MIB)


@pytest.mark.parametrize(
    ("original", "stand_in", "answer"),
    [
        (20 * MIB, 18.5 * MIB, "agrees"),
        (20 * MIB, 16 * MIB, "differs"),
        (16 * MIB, 20 * MIB, "differs"),
        (0.6 * MIB, 0.2 * MIB, "agrees"),
        (0.0, 2 * MIB, "differs"),
    ],
)
def test_peaks_agree_within_a_tenth_or_the_floor(
    original: float, stand_in: float, answer: Answer
) -> None:
    assert only(peaks(original, stand_in, (MIB, MIB))).answer == answer


def test_peaks_are_compared_for_each_live_byte() -> None:
    runs = [
        made
        for block in (1, 2, 3)
        for name, more in (("o", 2.0), ("s", 1.0))
        for made in (
            run(name, Aspect.FIXED, block),
            run(name, Aspect.PEAK, block, peak=10 * more * MIB, live=5 * more * MIB),
        )
    ]
    assert only(runs).answer == "agrees"


@pytest.mark.parametrize(("stand_in", "answer"), [(1000.0, "agrees"), (500.0, "differs")])
def test_locks_for_a_thousand_operations(stand_in: float, answer: Answer) -> None:
    runs = [
        run(name, Aspect.EVENTS, block, takes=takes)
        for block in (1, 2, 3)
        for name, takes in (("o", 1000.0), ("s", stand_in))
    ]
    takes, hand_overs = checks_of(runs, "o", "s", locks=True)
    assert (takes.what, takes.answer) == ("lock acquisitions", answer)
    assert (hand_overs.what, hand_overs.answer) == ("lock hand-overs", "agrees")
    assert not checks_of(runs, "o", "s", locks=False)


def test_a_speedup_is_over_one_thread_of_the_same_block() -> None:
    runs = [
        run(name, Aspect.SPEEDUP, block, threads=threads, seconds=block * seconds)
        for block in (1, 2, 3)
        for name, faster in (("o", 0.5), ("s", 1.0))
        for threads, seconds in ((1, 1.0), (2, faster))
    ]
    check = only(runs)
    assert (check.what, check.threads, check.answer) == ("speedup", 2, "differs")
    assert check.original == pytest.approx(2.0)
    assert check.stand_in == pytest.approx(1.0)


def test_a_run_that_ends_badly_under_one_only() -> None:
    crashed = run("o", Aspect.PEAK, outcome=Outcome.CRASHED)
    check = only([crashed, run("s", Aspect.PEAK)])
    assert (check.what, check.answer) == ("end of runs", "differs")
    assert check.why.startswith("original: crashed")
    assert not checks_of([crashed, run("s", Aspect.PEAK, outcome=Outcome.FAILED)], "o", "s",
                         locks=False)  # fmt: skip


@pytest.mark.parametrize(
    ("logarithms", "answer"),
    [
        ([0.0], "undecided"),
        ([1.0], "undecided"),
        ([0.01, 0.0, -0.01], "agrees"),
        ([0.5, 0.5, 0.5], "differs"),
        ([-0.5, -0.5, -0.5], "differs"),
        ([0.3, 0.0, -0.3], "undecided"),
        ([0.3, 0.2, 0.25], "undecided"),
    ],
)
def test_an_answer_needs_its_whole_interval(logarithms: list[float], answer: Answer) -> None:
    assert answer_of(logarithms, 1.10) == answer


def check(answer: Answer, workload: str = "loop") -> Check:
    return Check(what="peak memory", workload=workload, threads=1, answer=answer)


def test_one_difference_decides_and_is_named() -> None:
    checks = [check("agrees"), check("differs", "larson"), check("differs", "phong")]
    assert verdict_of(checks, ()) == "differs"
    sentence = sentence_of("differs", "o.so", "s", checks, ())
    assert sentence == "s differs from o.so in peak memory (larson, phong)."


def test_too_many_undecided_comparisons_are_no_agreement() -> None:
    agreeing = [check("agrees"), check("agrees"), check("undecided")]
    assert verdict_of(agreeing, ()) == "agrees"
    assert "2 of 3 comparisons" in sentence_of("agrees", "o.so", "s", agreeing, ())
    assert verdict_of([*agreeing, check("undecided")], ()) == "undecided"
