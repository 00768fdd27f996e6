# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From runs to rows."""

import pytest

from heapwright.analysis.taxonomy.rows import conclude, object_bytes
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.artefacts.run.workload import Aspect, WorkloadRun

from .conftest import MakeRun

ALLOCATOR = Allocator(name="private", kind=Kind.COMPOSED)


def memory(make_run: MakeRun, growth: float, per_thread: float) -> list[WorkloadRun]:
    made = []
    for block in (1, 2, 3):
        points = [[at, 4096, 65536 + growth * at * 32] for at in range(0, 100_000, 500)]
        made.append(make_run("private", Aspect.TIME, block=block, size=64, memory=points))
        for threads in (1, 2, 4, 8):
            most = (1 + per_thread * (threads - 1)) * 2**20
            series = [[1, 2**20, most], [2, 0, most / 2]]
            made.append(
                make_run(
                    "private", Aspect.THREADS, threads=threads, block=block, size=64, memory=series
                )
            )
    return made


@pytest.mark.parametrize(
    ("growth", "per_thread", "blowup"),
    [(1.0, 1.0, "unbounded"), (0.0, 1.0, "linear"), (0.0, 0.01, "none")],
)
def test_blowup_from_the_series(
    make_run: MakeRun, growth: float, per_thread: float, blowup: str
) -> None:
    (row,) = conclude(memory(make_run, growth, per_thread), [ALLOCATOR])
    assert row.blowup == blowup
    assert row.growth.over_time.x
    assert len(row.growth.over_threads.x) == 4
    assert [each.column for each in row.disagreements] == ["blowup"][: blowup != "unbounded"]


def test_a_failure_is_a_result_with_a_name(make_run: MakeRun) -> None:
    runs = [
        make_run("private", Aspect.TIME, "producer-consumer", 2, block, Outcome.OUT_OF_MEMORY)
        for block in (1, 2)
    ]
    (row,) = conclude(runs, [ALLOCATOR])
    assert row.blowup is None
    (failure,) = row.failures
    assert (failure.outcome, failure.times, failure.workload) == (
        Outcome.OUT_OF_MEMORY,
        2,
        "producer-consumer",
    )


def test_without_any_run_there_is_a_row_of_nothing() -> None:
    (row,) = conclude([], [ALLOCATOR])
    assert (row.fast, row.scalable, row.avoids_false_sharing, row.blowup) == (None,) * 4
    assert row.published is not None


def test_a_program_has_to_tell_the_size_of_its_objects(make_run: MakeRun) -> None:
    line = make_run("x", Aspect.TIME).line
    assert line is not None
    with pytest.raises(ValueError, match="size"):
        object_bytes(line)
