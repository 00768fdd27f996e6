# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Scalable or not, from times and from counts."""

import pytest

from heapwright.analysis.taxonomy.scalability import judge_scaling
from heapwright.artefacts.run.workload import Aspect, WorkloadRun

from .conftest import MakeRun


def timed(make_run: MakeRun, speedup: float, scatter: float = 0.01) -> list[WorkloadRun]:
    """Three blocks at one and at four threads."""
    return [
        make_run("x", Aspect.SPEEDUP, threads=threads, block=block, seconds=seconds)
        for block in (1, 2, 3)
        for threads, seconds in ((1, 1.0), (4, 1 / (speedup * (1 + scatter * (block - 2)))))
    ]


def crowded(runs: list[WorkloadRun], number: int) -> list[WorkloadRun]:
    """The same with `number` runs that the system interrupted, and with the others quiet."""
    took = {"wall_s": 2.0, "cpu_s": 1.0}
    return [
        run.model_copy(update={**took, "involuntary_switches": 200 if at < number else 10})
        for at, run in enumerate(runs)
    ]


def counted(make_run: MakeRun, *hand_overs: float) -> list[WorkloadRun]:
    """Hand-overs in a thousand operations, at 1, 2, 4, 64 threads."""
    return [
        make_run("x", Aspect.EVENTS, threads=threads, counts={"hand_overs": each})
        for threads, each in zip((1, 2, 4, 64), hand_overs, strict=True)
    ]


@pytest.mark.parametrize(
    ("speedup", "hand_overs", "scalable", "why"),
    [
        (3.8, (0, 1, 2, 4), True, "by the time, and by the counts"),
        (0.5, (0, 1, 700, 900), False, "by the time, and by the counts"),
        (3.8, (0, 1, 700, 900), False, "by the counts against the time"),
        (0.5, (0, 1, 2, 4), False, "by the time against the counts"),
        (3.8, None, True, "by the time alone"),
        (None, (0, 1, 2, 4), True, "by the counts alone"),
        (None, (0, 1, 700, 900), False, "by the counts; no judgement by the time"),
    ],
)
def test_either_refutes_and_one_supports(
    make_run: MakeRun,
    speedup: float | None,
    hand_overs: tuple[float, ...] | None,
    scalable: bool,
    why: str,
) -> None:
    runs = [] if speedup is None else timed(make_run, speedup)
    runs += [] if hand_overs is None else counted(make_run, *hand_overs)
    found, scaling = judge_scaling(runs, "x")
    assert found is scalable
    assert scaling.why == why


def test_the_speedup_is_the_rate_over_that_of_one_thread(make_run: MakeRun) -> None:
    scaling = judge_scaling(timed(make_run, 3.0), "x")[1]
    assert scaling.threads == 4
    assert scaling.speedup is not None
    assert scaling.speedup.value == pytest.approx(3.0, rel=0.01)
    assert list(scaling.by_threads) == [4]


def test_noise_alone_is_no_judgement(make_run: MakeRun) -> None:
    found, scaling = judge_scaling(timed(make_run, 2.6, 0.5), "x")
    assert found is None
    assert "more repetitions would tell (-n)" in scaling.why


def test_one_repetition_says_how_many_are_needed(make_run: MakeRun) -> None:
    found, scaling = judge_scaling([run for run in timed(make_run, 3.9) if run.block == 1], "x")
    assert found is None
    assert "-n 5" in scaling.why


def test_instrumentation_is_shown_and_not_judged(make_run: MakeRun) -> None:
    figures = {"writes_to_shared_lines": 4000.0}
    found, scaling = judge_scaling([make_run("x", Aspect.SHARING, threads=2, counts=figures)], "x")
    assert found is None
    assert scaling.counted_by == "instrumentation"
    assert scaling.counts[0].per_thousand == figures
    assert scaling.traffic is None


def test_without_runs_nothing_is_reported() -> None:
    found, scaling = judge_scaling([], "x")
    assert found is None
    assert scaling.why


def test_times_of_a_busy_machine_are_not_judged(make_run: MakeRun) -> None:
    """Threads without a processor look like an allocator that does not scale."""
    slow = timed(make_run, 0.5)
    scalable, scaling = judge_scaling(crowded(slow, len(slow) // 2), "x")
    assert scalable is None
    assert scaling.why.startswith("other programs used the processors")
    assert judge_scaling(crowded(slow, 1), "x")[0] is False
    assert judge_scaling(slow, "x")[0] is False, "a document of before has no such figures"
    counts = counted(make_run, 0, 1, 2, 4)
    assert judge_scaling([*crowded(slow, 6), *counts], "x")[1].why == "by the counts alone"


def test_a_thread_that_sleeps_at_a_lock_lacks_no_processor(make_run: MakeRun) -> None:
    run = make_run("x", Aspect.SPEEDUP, threads=4)
    took = {"wall_s": 1.0, "cpu_s": 1.0}
    assert not run.model_copy(update={**took, "involuntary_switches": 5}).crowded
    assert run.model_copy(update={**took, "involuntary_switches": 500}).crowded
    busy = {"wall_s": 1.0, "cpu_s": 3.9, "involuntary_switches": 500}
    assert not run.model_copy(update=busy).crowded
