# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runs, sorted for the columns into comparable groups."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from heapwright.artefacts.run.workload import Aspect, WorkloadRun
from heapwright.artefacts.taxonomy.document import Failure

LIMIT = "limit"
"""The name under which the bump pointer's runs stand among those of the allocators."""


def good(runs: Iterable[WorkloadRun], aspect: Aspect) -> list[WorkloadRun]:
    """The runs of one aspect that ended well and said something."""
    return [run for run in runs if run.aspect is aspect and run.good and run.line is not None]


def mean_log_by_block(values: Iterable[tuple[int, str, float]]) -> dict[int, float]:
    """From (block, workload, ratio): by block, the mean logarithm over the workloads.

    A block that lacks a workload which others have is left out: a mean over other workloads is
    another mean.
    """
    table: dict[int, dict[str, float]] = {}
    for block, workload, value in values:
        table.setdefault(block, {})[workload] = float(np.log(value))
    wanted = {workload for block in table.values() for workload in block}
    return {
        block: float(np.mean(list(own.values())))
        for block, own in sorted(table.items())
        if set(own) == wanted
    }


def failures(runs: Sequence[WorkloadRun]) -> Iterator[Failure]:
    """Each way in which a run ended badly, once, with how often."""
    bad: dict[tuple[object, ...], list[WorkloadRun]] = {}
    for run in runs:
        if not run.good:
            bad.setdefault((run.aspect, run.workload, run.threads, run.outcome), []).append(run)
    for same in bad.values():
        first = same[0]
        yield Failure(
            aspect=first.aspect,
            workload=first.workload,
            threads=first.threads,
            outcome=first.outcome,
            detail=first.detail,
            times=len(same),
        )
