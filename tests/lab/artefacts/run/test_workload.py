# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What workload programs say is read as far as it matters, and the rest is kept."""

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.workload import Aspect, WorkloadLine, WorkloadRun

LINE = {"workload": "loop", "threads": 2, "seed": 1, "operations": 10, "seconds": 0.5}


def test_parameters_of_a_program_are_kept() -> None:
    line = WorkloadLine.model_validate({**LINE, "max": 64})
    assert (line.model_extra or {})["max"] == 64
    assert WorkloadLine.model_validate_json(line.model_dump_json()) == line


def test_a_parameter_called_memory_is_no_series() -> None:
    assert WorkloadLine.model_validate({**LINE, "memory": 67108864}).memory is None
    assert WorkloadLine.model_validate({**LINE, "memory": [[1, 2, 3]]}).memory == [(1, 2, 3)]


def test_a_run_reads_back_as_it_was_written() -> None:
    run = WorkloadRun(
        allocator="a",
        aspect=Aspect.LINES,
        workload="loop",
        threads=2,
        block=1,
        outcome=Outcome.OK,
        line=WorkloadLine.model_validate(
            {**LINE, "false_sharing": {"active": 1, "passive": 0, "mallocs": 5}}
        ),
        counts={"hand_overs": 3},
    )
    assert WorkloadRun.model_validate_json(run.model_dump_json()) == run
    assert run.good
