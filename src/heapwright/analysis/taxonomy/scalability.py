# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Scalable: the gain from more threads, timed up to the number of processors, and counted.

*Timed*: operations per second at P threads over those at one, in the same block. The figure is the
geometric mean over the workloads, with Student's interval over the blocks. It is scalable if the
speedup at as many threads as processors is at least `efficiency` times P.

*Counted*, at the most threads: hand-overs per thousand operations. A hand-over is a write to a lock
or shared word that another thread wrote last. Each must fetch its line from another processor. In
these runs the threads take turns at every call. The allocator sees as many processors as threads,
so the count is independent of the machine. One lock for all gives about a thousand; heaps that
separate threads give almost none.

If other programs used the processors in half of the runs, the times show those programs and not the
allocator. There is then no judgement by the time.

Either can refute; at least one must support. Only compositions of heapwright count hand-overs. For
other libraries instrumentation counts locked instructions, lines that several threads write, and
writes to these. These counts are shown but not judged, because a line that two threads wrote once
counts for ever.
"""

from collections.abc import Sequence

from heapwright.analysis.taxonomy.estimates import mean_of, ratio_of
from heapwright.analysis.taxonomy.limits import CRITERIA, exceeds, too_few
from heapwright.analysis.taxonomy.sources import good, mean_log_by_block
from heapwright.artefacts.run.workload import Aspect, WorkloadRun
from heapwright.artefacts.taxonomy.document import Counted, Estimate, Scaling

HAND_OVERS = "hand_overs"
CROWDED = "other programs used the processors; measure again on a quiet machine"


def judge_scaling(runs: Sequence[WorkloadRun], allocator: str) -> tuple[bool | None, Scaling]:
    """Whether it is scalable, and by what."""
    own = [run for run in runs if run.allocator == allocator]
    speedups = _speedups(own)
    most = max(speedups, default=None)
    speedup = None if most is None else speedups[most]
    events, shared = _counts(own, Aspect.EVENTS), _counts(own, Aspect.SHARING)
    traffic = _traffic(events)
    crowded = _crowded(own)
    timed = None if crowded else _timed(most, speedup)
    counted = None if traffic is None else traffic.value <= CRITERIA.traffic
    scaling = Scaling(
        threads=most,
        speedup=speedup,
        by_threads=speedups,
        counts=tuple(events or shared),
        counted_by="library" if events else "instrumentation" if shared else None,
        traffic=traffic,
        why=CROWDED if crowded and counted is None else _why(timed, counted, most, speedup),
    )
    if False in (timed, counted):
        return False, scaling
    return (True if True in (timed, counted) else None), scaling


def _crowded(runs: Sequence[WorkloadRun]) -> bool:
    """Whether at least half of the timed runs lacked processors."""
    there = [run.crowded for run in good(runs, Aspect.SPEEDUP)]
    return bool(there) and 2 * sum(there) >= len(there)


def _timed(most: int | None, speedup: Estimate | None) -> bool | None:
    if most is None or speedup is None or most < 2:
        return None
    return exceeds(speedup, CRITERIA.efficiency * most)


def _why(
    timed: bool | None, counted: bool | None, most: int | None, speedup: Estimate | None
) -> str:
    """What decided, or what is missing."""
    if timed is False and counted is False:
        return "by the time, and by the counts"
    if False in (timed, counted):
        other = {True: " against", None: "; no judgement by"}[counted if timed is False else timed]
        first, second = ("time", "counts") if timed is False else ("counts", "time")
        return f"by the {first}{other} the {second}"
    if timed and counted:
        return "by the time, and by the counts"
    if timed or counted:
        return "by the time alone" if timed else "by the counts alone"
    if most is None:
        return "no run with several threads is good"
    return too_few(speedup) if most > 1 else "there is one processor"


def _speedups(runs: Sequence[WorkloadRun]) -> dict[int, Estimate]:
    """By number of threads, over one thread."""
    rates = {
        (run.block, run.workload, run.threads): run.line.operations / run.line.seconds
        for run in good(runs, Aspect.SPEEDUP)
        if run.line is not None and run.line.operations and run.line.seconds > 0
    }
    found = {}
    for threads in sorted({threads for _, _, threads in rates} - {1}):
        ratios = [
            (block, workload, rate / rates[block, workload, 1])
            for (block, workload, own), rate in rates.items()
            if own == threads and (block, workload, 1) in rates
        ]
        estimate = ratio_of(list(mean_log_by_block(ratios).values()))
        if estimate is not None:
            found[threads] = estimate
    return found


def _counts(runs: Sequence[WorkloadRun], aspect: Aspect) -> list[Counted]:
    """What was counted, per thousand operations, by workload and threads."""
    found = {}
    for run in good(runs, aspect):
        if run.line is not None and run.line.operations and run.counts:
            operations = run.line.operations
            found[run.workload, run.threads] = Counted(
                workload=run.workload,
                threads=run.threads,
                operations=operations,
                per_thousand={
                    name: 1000 * (count - run.baseline.get(name, 0.0)) / operations
                    for name, count in run.counts.items()
                },
            )
    return [found[key] for key in sorted(found)]


def _traffic(counts: Sequence[Counted]) -> Estimate | None:
    """Hand-overs at the most threads, the mean over the workloads."""
    most = max((each.threads for each in counts), default=0)
    there = [
        each.per_thousand[HAND_OVERS]
        for each in counts
        if each.threads == most and HAND_OVERS in each.per_thousand
    ]
    mean = mean_of(there)
    return None if mean is None or most < 2 else Estimate(value=mean.value, runs=mean.runs)
