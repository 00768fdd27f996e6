# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""False sharing: how often the allocator put objects of two threads on one line, from addresses.

The workloads' own detector decides for each allocation (docs/workloads.md); here its counts become
rates per thousand allocations. What counts is the workload where they are highest, because an
allocator that shares lines under one pattern shares lines. Up to `sharing` a thousand it counts as
avoided, as in the published table, whose "avoids" means rarely rather than never; the counts are in
the document, and zero can be told from few.
"""

from collections.abc import Sequence

from heapwright.analysis.taxonomy.limits import CRITERIA
from heapwright.analysis.taxonomy.sources import good
from heapwright.artefacts.taxonomy import Found, Sharing, SharingEvidence
from heapwright.artefacts.workload_runs import Aspect, WorkloadRun


def judge_sharing(runs: Sequence[WorkloadRun], allocator: str) -> tuple[Sharing, SharingEvidence]:
    """Whether it shares lines actively and passively, and where."""
    found = [
        _found(run)
        for run in good(runs, Aspect.LINES)
        if run.allocator == allocator and run.line is not None and run.line.false_sharing
    ]
    found = [each for each in found if each.operations]
    if not found:
        return Sharing(), SharingEvidence(why="no run with an observer of lines is good")
    active = max(1000 * each.active / each.operations for each in found)
    passive = max(1000 * each.passive / each.operations for each in found)
    return (
        Sharing(active=active > CRITERIA.sharing, passive=passive > CRITERIA.sharing),
        SharingEvidence(
            found=tuple(found), active_per_thousand=active, passive_per_thousand=passive
        ),
    )


def _found(run: WorkloadRun) -> Found:
    """Allocations where the detector tells them, else half the operations."""
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
