# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Fast or not, from runs against the limit."""

import pytest

from heapwright.analysis.taxonomy.speed import judge_speed
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.workload import Aspect, WorkloadRun

from .conftest import MakeRun


def runs(make_run: MakeRun, ratio: float, scatter: float = 0.01) -> list[WorkloadRun]:
    """Three blocks of two workloads, of which one is slower by itself."""
    made = []
    for block in (1, 2, 3):
        for workload, own in (("loop", 1.0), ("larson", 7.0)):
            drift = 1 + 0.3 * block
            noise = 1 + scatter * (block - 2)
            common = {"workload": workload, "block": block}
            made.append(make_run("limit", Aspect.SPEED, seconds=own * drift, **common))
            seconds = own * drift * ratio * noise
            made.append(make_run("x", Aspect.SPEED, seconds=seconds, **common))
    return made


def test_the_ratio_is_taken_within_blocks(make_run: MakeRun) -> None:
    fast, speed = judge_speed(runs(make_run, 2.0), "x")
    assert fast is True
    assert speed.time is not None
    assert speed.time.value == pytest.approx(2.0, rel=0.01)
    assert speed.time.low is not None
    assert speed.time.high is not None
    assert 1.9 < speed.time.low < speed.time.high < 2.1


def test_slow_and_borderline(make_run: MakeRun) -> None:
    assert judge_speed(runs(make_run, 12.0), "x")[0] is False
    fast, speed = judge_speed(runs(make_run, 6.0, 0.2), "x")
    assert fast is None
    assert "more repetitions would tell (-n)" in speed.why


def test_one_repetition_says_how_many_are_needed(make_run: MakeRun) -> None:
    fast, speed = judge_speed([run for run in runs(make_run, 2.0) if run.block == 1], "x")
    assert fast is None
    assert "-n 5" in speed.why


def test_instructions_are_a_ratio_too(make_run: MakeRun) -> None:
    counted = [
        make_run(name, Aspect.INSTRUCTIONS, counts={"instructions": number})
        for name, number in (("limit", 20_000.0), ("x", 60_000.0))
    ]
    speed = judge_speed([*runs(make_run, 2.0), *counted], "x")[1]
    assert speed.instructions == pytest.approx(3)
    assert speed.instructions_per_operation == {"loop": 60.0}


def test_without_runs_nothing_is_reported(make_run: MakeRun) -> None:
    assert judge_speed([], "x")[0] is None
    bad = make_run("x", Aspect.SPEED, outcome=Outcome.CRASHED)
    fast, speed = judge_speed([bad], "x")
    assert fast is None
    assert "no run of it" in speed.why
    alone = [run for run in runs(make_run, 2.0) if run.allocator == "x"]
    assert "limit" in judge_speed(alone, "x")[1].why


def test_a_block_that_lacks_a_workload_is_left_out(make_run: MakeRun) -> None:
    holed = [
        run
        for run in runs(make_run, 2.0)
        if (run.allocator, run.block, run.workload) != ("x", 1, "larson")
    ]
    speed = judge_speed(holed, "x")[1]
    assert speed.time is not None
    assert speed.time.runs == 2
