# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The rows of the taxonomy from the runs: one column after the other, then the literature."""

from collections.abc import Mapping, Sequence

import numpy as np

from heapwright.analysis.taxonomy.blowup import Peak, Series, classify, over_threads, over_time
from heapwright.analysis.taxonomy.design import design_of
from heapwright.analysis.taxonomy.false_sharing import judge_sharing
from heapwright.analysis.taxonomy.published import disagreements, published_design, published_of
from heapwright.analysis.taxonomy.scalability import judge_scaling
from heapwright.analysis.taxonomy.sources import failures, good
from heapwright.analysis.taxonomy.speed import judge_speed
from heapwright.artefacts.run.provenance import Allocator
from heapwright.artefacts.run.workload import Aspect, WorkloadLine, WorkloadRun
from heapwright.artefacts.taxonomy.document import Blowup, Growth, Row

DECISIVE_THREADS = 8


def conclude(runs: Sequence[WorkloadRun], allocators: Sequence[Allocator]) -> tuple[Row, ...]:
    """One row for each of `allocators`, in their order."""
    return tuple(_row(runs, allocator) for allocator in allocators)


def _row(runs: Sequence[WorkloadRun], allocator: Allocator) -> Row:
    name = allocator.name
    own = [run for run in runs if run.allocator == name]
    fast, speed = judge_speed(runs, name)
    scalable, scaling = judge_scaling(own, name)
    false_sharing, sharing = judge_sharing(own, name)
    blowup, growth = _judge_growth(own)
    row = Row(
        allocator=name,
        kind=allocator.kind,
        caption=allocator.caption,
        fast=fast,
        scalable=scalable,
        false_sharing=false_sharing,
        blowup=blowup,
        speed=speed,
        scaling=scaling,
        sharing=sharing,
        growth=growth,
        design=design_of(allocator.composition) or published_design(name),
        published=published_of(name),
        failures=tuple(failures(own)),
    )
    return row.model_copy(update={"disagreements": tuple(disagreements(row))})


def _judge_growth(own: Sequence[WorkloadRun]) -> tuple[Blowup | None, Growth]:
    over = over_time([_series(run.line) for run in good(own, Aspect.TIME) if run.line])
    peaks = [peak for run in good(own, Aspect.THREADS) if (peak := _peak(run)) is not None]
    across = over_threads(peaks, DECISIVE_THREADS)
    blowup, why = classify(over, across)
    return blowup, Growth(
        lost_per_byte=over.slope,
        per_thread=across.slope,
        saturates_at=across.saturates_at,
        over_time=over.curve,
        over_threads=across.curve,
        why=why,
    )


def _series(line: WorkloadLine) -> Series:
    """Memory against bytes allocated: two operations, malloc and free, for each object."""
    points = np.array(line.memory or [], dtype=float).reshape(-1, 3)
    return Series(points[:, 0] * object_bytes(line) / 2, points[:, 2])


def object_bytes(line: WorkloadLine) -> float:
    """The mean size of an object, from the parameter of that name."""
    extra: Mapping[str, object] = line.model_extra or {}
    size = extra.get("size")
    if not isinstance(size, int | float):
        raise ValueError(f"{line.workload} does not tell the size of its objects")
    return float(size)


def _peak(run: WorkloadRun) -> Peak | None:
    """The most memory of a run, and the most that its program had live."""
    points = run.line.memory if run.line is not None else None
    if not points:
        return None
    needed = max(live for _, live, _ in points)
    resident = max(resident for _, _, resident in points)
    return Peak(run.block, run.threads, resident, needed) if needed > 0 else None
