# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runs of workloads, made up."""

from collections.abc import Callable

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.workload import Aspect, WorkloadLine, WorkloadRun

MakeRun = Callable[..., WorkloadRun]


@pytest.fixture
def make_run() -> MakeRun:
    """A good run, unless its outcome is said to be another; keywords go into the line."""

    def make(  # noqa: PLR0917
        allocator: str,
        aspect: Aspect,
        workload: str = "loop",
        threads: int = 1,
        block: int = 1,
        outcome: Outcome = Outcome.OK,
        counts: dict[str, float] | None = None,
        **line: object,
    ) -> WorkloadRun:
        said = {"operations": 1000, "seconds": 1.0, "seed": 1, **line}
        return WorkloadRun(
            allocator=allocator,
            aspect=aspect,
            workload=workload,
            threads=threads,
            block=block,
            outcome=outcome,
            detail="" if outcome is Outcome.OK else "how\nand what it said",
            counts=counts or {},
            line=WorkloadLine.model_validate({"workload": workload, "threads": threads, **said})
            if outcome is Outcome.OK
            else None,
        )

    return make
