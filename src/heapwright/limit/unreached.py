# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether the processes that were not counted make the figures of a command too small. Pure."""

from collections.abc import Sequence

from heapwright.artefacts.run.coverage import (
    LEAST_CPU_S,
    LIMIT,
    MOST_NAMED,
    Cause,
    Coverage,
    CoveredProcess,
)
from heapwright.base.quantities import several


def unreached(coverage: Coverage | None, only: int | None, was: str) -> str:
    """Why figures may be too small, such as "st is statically linked, so it `was not counted`";
    empty if they are not. `only` is the pid that is judged; None: all processes are.

    Processes that no preload reaches matter at 1 % of the processor time. Others have to take a
    least time as well, because a process that ends early may be seen before it loads a library.
    """
    if coverage is None:
        return ""
    total = max(coverage.cpu_s, sum(each.cpu_s for each in coverage.processes))
    left = [
        each
        for each in coverage.unrecorded
        if each.cause is not Cause.NOT_FOLLOWED and only in (None, each.pid)
    ]
    certain = [each for each in left if each.cause is not Cause.NOT_LOADED]
    if certain and _cpu_s(certain) >= LIMIT * total:
        return _sentence(certain, was)
    unseen = coverage.unclaimed_cpu_s if only is None else 0.0
    if _cpu_s(left) + unseen < max(LIMIT * total, LEAST_CPU_S):
        return ""
    return _sentence(left, was) or "processes that were not seen used processor time"


def _cpu_s(processes: Sequence[CoveredProcess]) -> float:
    return sum(each.cpu_s for each in processes)


def _sentence(left: Sequence[CoveredProcess], was: str) -> str:
    reasons = [f"{each.why()}, so it {was}" for each in left[:MOST_NAMED]]
    if len(left) > MOST_NAMED:
        rest = sum(each.count for each in left[MOST_NAMED:])
        reasons.append(several(rest, "more process", "more processes"))
    return "; ".join(reasons)
