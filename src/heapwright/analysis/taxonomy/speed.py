# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Fast: the cost of an operation on one thread, relative to the bump pointer.

The bump pointer is the limit, because it records only whether an object lives. Each block has a run
under the limit and one under each allocator. The ratio and its geometric mean over the workloads
are computed within the block. Student's interval is over the blocks. The program's own part of an
operation is in both and moves the ratio towards 1. Instructions do not scatter, so one run is
enough. They show which part of a time is work and not waiting for memory.
"""

from collections.abc import Sequence

import numpy as np

from heapwright.analysis.taxonomy.estimates import ratio_of
from heapwright.analysis.taxonomy.limits import CRITERIA, exceeds, too_few
from heapwright.analysis.taxonomy.sources import LIMIT, good, mean_log_by_block
from heapwright.artefacts.run.workload import Aspect, WorkloadRun
from heapwright.artefacts.taxonomy.document import Estimate, Speed

INSTRUCTIONS = "instructions"


def judge_speed(runs: Sequence[WorkloadRun], allocator: str) -> tuple[bool | None, Speed]:
    """Whether it is fast, and by what; `runs` hold those of the limit as well."""
    own, limit = (_seconds(runs, name) for name in (allocator, LIMIT))
    ratios = [
        (block, workload, seconds / limit[block, workload])
        for (block, workload), seconds in own.items()
        if limit.get((block, workload))
    ]
    time = ratio_of(list(mean_log_by_block(ratios).values()))
    counted, least = (_instructions(runs, name) for name in (allocator, LIMIT))
    shares = [counted[name] / least[name] for name in counted if least.get(name)]
    slow = None if time is None else exceeds(time, CRITERIA.fast)
    speed = Speed(
        time=time,
        instructions=float(np.exp(np.mean(np.log(shares)))) if shares else None,
        nanoseconds_per_operation=_by_workload(own),
        instructions_per_operation=counted,
        why="" if slow is not None else _missing(bool(own), bool(limit), time),
    )
    return (None if slow is None else not slow), speed


def _missing(own: bool, limit: bool, time: Estimate | None) -> str:
    if not own:
        return "no run of it on one thread is good"
    return too_few(time) if limit else "no run of the limit is good"


def _seconds(runs: Sequence[WorkloadRun], allocator: str) -> dict[tuple[int, str], float]:
    """Seconds per operation by block and workload."""
    return {
        (run.block, run.workload): run.line.seconds / run.line.operations
        for run in good(runs, Aspect.SPEED)
        if run.allocator == allocator and run.line and run.line.operations and run.line.seconds > 0
    }


def _by_workload(seconds: dict[tuple[int, str], float]) -> dict[str, float]:
    """Nanoseconds: the median over the blocks."""
    names = dict.fromkeys(workload for _, workload in seconds)
    return {
        name: 1e9
        * float(np.median([value for (_, each), value in seconds.items() if each == name]))
        for name in names
    }


def _instructions(runs: Sequence[WorkloadRun], allocator: str) -> dict[str, float]:
    """Instructions per operation by workload, the program's start and end taken off."""
    found = {}
    for run in good(runs, Aspect.INSTRUCTIONS):
        total = run.counts.get(INSTRUCTIONS)
        if run.allocator == allocator and run.line and run.line.operations and total is not None:
            fixed = run.baseline.get(INSTRUCTIONS, 0.0)
            operations = run.line.operations - run.baseline.get("operations", 0.0)
            if operations > 0:
                found[run.workload] = (total - fixed) / operations
    return found
