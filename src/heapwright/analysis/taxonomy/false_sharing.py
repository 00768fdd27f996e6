# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""False sharing: how often the allocator put objects of two threads on one line, from addresses.

The workloads' own detector decides for each allocation; here its counts become rates per thousand
allocations. Two programs from the literature decide. In cache-thrash an allocator can share lines
only actively. In cache-scratch it shares lines passively if a thread reuses freed memory on a line
that another thread still uses. Up to `sharing` in a thousand counts as avoided, because the
published "avoids" means rarely, not never. The other workloads are additional evidence. In larson
threads inherit objects of others, and hardly any allocator keeps them on separate lines.
`elsewhere` names the workload with most sharing. Some allocators share lines only when threads
meet at a lock, which depends on the machine's other load. If runs differ, there is no judgement.
"""

from collections.abc import Sequence
from statistics import fmean

from heapwright.analysis.taxonomy.limits import CRITERIA
from heapwright.analysis.taxonomy.sources import good
from heapwright.artefacts.run.workload import Aspect, WorkloadRun
from heapwright.artefacts.taxonomy.document import Found, Sharing, SharingEvidence

ACTIVE = "cache-thrash"
PASSIVE = "cache-scratch"


def judge_sharing(runs: Sequence[WorkloadRun], allocator: str) -> tuple[Sharing, SharingEvidence]:
    """Whether it shares lines actively and passively, and where."""
    found = [
        _found(run)
        for run in good(runs, Aspect.LINES)
        if run.allocator == allocator and run.line is not None and run.line.false_sharing
    ]
    active = _rates(found, ACTIVE, passively=False)
    passive = _rates(found, PASSIVE, passively=True)
    elsewhere = _worst([each for each in found if each.workload not in (ACTIVE, PASSIVE)])
    missing = [name for name, rates in ((ACTIVE, active), (PASSIVE, passive)) if not rates]
    return (
        Sharing(active=_exceed(active), passive=_exceed(passive)),
        SharingEvidence(
            found=tuple(found),
            active_per_thousand=fmean(active) if active else None,
            passive_per_thousand=fmean(passive) if passive else None,
            elsewhere=elsewhere,
            why=f"no run of {' and '.join(missing)} is good" if missing else "",
        ),
    )


def per_thousand(found: Found) -> float:
    """Lines shared in either way, per thousand allocations."""
    return 1000 * (found.active + found.passive) / found.operations if found.operations else 0.0


def _rates(found: Sequence[Found], workload: str, *, passively: bool) -> list[float]:
    """Of each run of the workload the lines shared, per thousand allocations."""
    return [
        1000 * (each.passive if passively else each.active) / each.operations
        for each in found
        if each.workload == workload and each.operations
    ]


def _exceed(rates: Sequence[float]) -> bool | None:
    """Whether all runs have more than counts as avoided; None without runs, or if they differ."""
    found = {rate > CRITERIA.sharing for rate in rates}
    return found.pop() if len(found) == 1 else None


def _worst(found: Sequence[Found]) -> str:
    """The workload with most of it, if that is more than what counts as avoided."""
    worst = max(found, key=per_thousand, default=None)
    return worst.workload if worst is not None and per_thousand(worst) > CRITERIA.sharing else ""


def _found(run: WorkloadRun) -> Found:
    """Per allocation where the detector counts them, else per operation."""
    assert run.line is not None
    assert run.line.false_sharing is not None
    seen = run.line.false_sharing
    mallocs = (seen.model_extra or {}).get("mallocs")
    return Found(
        workload=run.workload,
        threads=run.threads,
        operations=mallocs if isinstance(mallocs, int) else run.line.operations,
        active=seen.active,
        passive=seen.passive,
    )
