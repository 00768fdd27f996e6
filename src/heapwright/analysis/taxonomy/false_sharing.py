# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""False sharing: how often the allocator put objects of two threads on one line, from addresses.

The workloads' own detector decides for each allocation; here its counts become rates per thousand
allocations. Two programs from the literature decide. In cache-thrash an allocator can share lines
only actively. In cache-scratch it shares lines passively if a thread reuses freed memory on a line
that another thread still uses. Up to `sharing` in a thousand counts as avoided, because the
published "avoids" means rarely, not never. The other workloads are additional evidence. In larson
threads inherit objects of others, and hardly any allocator keeps them on separate lines.
`elsewhere` names the workload with most sharing.
"""

from collections.abc import Sequence

from heapwright.analysis.taxonomy.limits import CRITERIA
from heapwright.analysis.taxonomy.sources import good
from heapwright.artefacts.run.workload import Aspect, WorkloadRun
from heapwright.artefacts.taxonomy.document import Found, Sharing, SharingEvidence

ACTIVE = "cache-thrash"
PASSIVE = "cache-scratch"


def judge_sharing(runs: Sequence[WorkloadRun], allocator: str) -> tuple[Sharing, SharingEvidence]:
    """Whether it shares lines actively and passively, and where."""
    found = {
        run.workload: _found(run)
        for run in good(runs, Aspect.LINES)
        if run.allocator == allocator and run.line is not None and run.line.false_sharing
    }
    active = _rate(found.get(ACTIVE), passively=False)
    passive = _rate(found.get(PASSIVE), passively=True)
    elsewhere = _worst([each for name, each in found.items() if name not in (ACTIVE, PASSIVE)])
    missing = [name for name, rate in ((ACTIVE, active), (PASSIVE, passive)) if rate is None]
    return (
        Sharing(active=_exceeds(active), passive=_exceeds(passive)),
        SharingEvidence(
            found=tuple(found.values()),
            active_per_thousand=active,
            passive_per_thousand=passive,
            elsewhere=elsewhere,
            why=f"no run of {' and '.join(missing)} is good" if missing else "",
        ),
    )


def per_thousand(found: Found) -> float:
    """Lines shared in either way, per thousand allocations."""
    return 1000 * (found.active + found.passive) / found.operations if found.operations else 0.0


def _rate(found: Found | None, *, passively: bool) -> float | None:
    if found is None or not found.operations:
        return None
    return 1000 * (found.passive if passively else found.active) / found.operations


def _exceeds(rate: float | None) -> bool | None:
    return None if rate is None else rate > CRITERIA.sharing


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
