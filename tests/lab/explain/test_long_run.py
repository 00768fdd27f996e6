# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""One word for a long run: growth, retention, elsewhere or steady."""

import pytest

from heapwright.artefacts.explanation.document import Ending, Kind
from heapwright.artefacts.long_run.document import (
    Direction,
    Load,
    LongRun,
    Plan,
    Sample,
    SeriesGrowth,
    SeriesName,
)
from heapwright.artefacts.program.model import ProgramSubject
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import read_environment
from heapwright.base.errors import HeapwrightError
from heapwright.explain.long_run import explain_long_run

MEBI = 2**20


def run_of(
    *growths: SeriesGrowth, held: int = MEBI // 2, other: int = MEBI, **more: object
) -> LongRun:
    plan = Plan(
        program=ProgramSubject(name="small", title="", sha256="0"),
        command=("server", "--quiet"),
        allocator="glibc-no-tcache",
        load=Load(hours=1.0),
        interval_s=60.0,
        environment=read_environment([], {}),
    )
    samples = tuple(
        Sample(
            time_s=at * 60.0,
            resident_bytes=10 * MEBI + held + other,
            anonymous_bytes=10 * MEBI + held,
            live_bytes=10 * MEBI,
            held_bytes=held,
            processes=1,
            busy=True,
        )
        for at in range(60)
    )
    run = LongRun(plan=plan, outcome=Outcome.OK, whole=True, samples=samples, growths=growths)
    return run.model_copy(update=more)


def grown(series: SeriesName, each_hour: int, low: int, high: int) -> SeriesGrowth:
    direction = Direction.GROWS if low > 0 else Direction.LEVEL
    return SeriesGrowth(
        series=series,
        bytes_per_hour=each_hour,
        low=low,
        high=high,
        level_bytes=10 * MEBI,
        rise_bytes=each_hour,
        points=60,
        inflation=1.0,
        direction=direction,
    )


def test_live_memory_that_grows_is_growth() -> None:
    found = explain_long_run(run_of(grown("live", 5 * MEBI, 4 * MEBI, 6 * MEBI)))
    assert found.kind is Kind.GROWTH
    assert found.rise_bytes == 5 * MEBI
    assert found.ending is Ending.RUNNING
    assert "live memory rose by 5.0 MiB" in found.sentence
    assert found.moments[0].other_bytes == MEBI


def test_held_memory_that_grows_alone_is_slow_fragmentation() -> None:
    run = run_of(grown("live", 0, -MEBI, MEBI), grown("held", 2 * MEBI, MEBI, 3 * MEBI))
    found = explain_long_run(run)
    assert found.kind is Kind.RETENTION
    assert "grows by 2.0 MiB an hour (1.0 MiB to 3.0 MiB)" in found.sentence
    assert found.allocator == "glibc"
    assert found.setting is not None


def test_small_growth_is_not_reported() -> None:
    found = explain_long_run(run_of(grown("held", 4096, 2048, 8192)))
    assert found.kind is Kind.STEADY
    assert found.setting is None


def test_most_of_the_heap_held_is_retention_without_any_growth() -> None:
    found = explain_long_run(run_of(held=30 * MEBI))
    assert found.kind is Kind.RETENTION
    assert found.held_share == pytest.approx(0.75)


def test_memory_that_is_not_mallocs() -> None:
    assert explain_long_run(run_of(other=100 * MEBI)).kind is Kind.ELSEWHERE


def test_a_crashed_server_counts_as_killed() -> None:
    found = explain_long_run(run_of(outcome=Outcome.CRASHED))
    assert found.ending is Ending.KILLED


def test_a_run_without_live_bytes_cannot_be_explained() -> None:
    run = run_of()
    silent = tuple(
        each.model_copy(update={"live_bytes": None, "held_bytes": None}) for each in run.samples
    )
    with pytest.raises(HeapwrightError, match="did not report live bytes"):
        explain_long_run(run.model_copy(update={"samples": silent}))
