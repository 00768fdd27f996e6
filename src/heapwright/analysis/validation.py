# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a stand-in agrees with its original, figure by figure.

Each figure is compared as the ratio of the original to the stand-in in the same block. The mean is
geometric, with Student's interval over the blocks. The answer needs the whole interval:

    agrees     the 95 % interval is within the tolerance, or the figures differ by the floor at most
    differs    the joint interval is outside the tolerance
    undecided  neither

The joint intervals of all comparisons hold together with 95 % (Bonferroni). Many comparisons thus
do not make a difference by chance. One block has no interval and decides nothing.

A peak is the resident memory beyond the fixed parts: those of a program that allocates one object
in each thread, under the same allocator. How far threads overlap changes the live bytes of a run,
so the ratio is that of the peaks for each live byte. Locks are per thousand operations.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from heapwright.analysis.taxonomy.estimates import CONFIDENCE, half_width, ratio_of
from heapwright.analysis.taxonomy.sources import good
from heapwright.artefacts.run.workload import Aspect, WorkloadRun
from heapwright.artefacts.taxonomy.document import Column, Row
from heapwright.artefacts.validation.document import Answer, Check, Judgement, Tolerance, What

TOLERANCE = Tolerance(peak=1.10, peak_floor=512 * 1024, locks=1.25, locks_floor=20.0, speedup=1.25)
"""peak         a stand-in is good if its peak is within 10 %
peak_floor   the kernel reports resident memory late by some hundred KiB
locks        the order in which threads run moves the counts of larson by some percent
speedup      what five blocks show on an idle machine
"""
UNDECIDED_AT_MOST = 1 / 3
"""The part of all comparisons that may be undecided in an agreement."""
COMPARISONS = 54
"""The usual number: 30 peaks, 12 counts of locks, 6 speedups, and a margin."""
UNKNOWN = "?"
"""A column that could not be judged."""
LEAST = 1e-9
"""In place of a figure of zero, which has no logarithm."""
JOINT = 1 - (1 - CONFIDENCE) / COMPARISONS

Key = tuple[str, int]
"""Workload and threads."""
Figures = Mapping[Key, Mapping[int, float]]
"""By workload and threads, then by block."""


def checks_of(
    runs: Sequence[WorkloadRun], original: str, stand_in: str, *, locks: bool
) -> tuple[Check, ...]:
    """All comparisons of figures. `locks`: both sides count their locks."""
    both = [[run for run in runs if run.allocator == name] for name in (original, stand_in)]
    tolerance = TOLERANCE
    peaks = [_peaks(own) for own in both]
    live = [_live(own) for own in both]
    found = list(_compared("peak memory", peaks, tolerance.peak, tolerance.peak_floor, live))
    counted: tuple[tuple[What, str], ...] = (
        ("lock acquisitions", "lock_takes"),
        ("lock hand-overs", "lock_hand_overs"),
    )
    for what, count in counted if locks else ():
        counts = [_counts(own, count) for own in both]
        found += _compared(what, counts, tolerance.locks, tolerance.locks_floor)
    found += _compared("speedup", [_speedups(own) for own in both], tolerance.speedup)
    found += _ends(*both)
    return tuple(found)


def takes_locks(runs: Iterable[WorkloadRun], name: str) -> bool:
    """Whether any lock of an allocator was counted."""
    own = [run for run in runs if run.allocator == name]
    return any(value > 0 for each in _counts(own, "lock_takes").values() for value in each.values())


def judgements_of(original: Row, stand_in: Row) -> tuple[Judgement, ...]:
    """The columns of the taxonomy side by side. A column without a judgement is undecided."""
    columns: tuple[tuple[Column, str, str], ...] = (
        ("fast", _yes(original.fast), _yes(stand_in.fast)),
        ("scalable", _yes(original.scalable), _yes(stand_in.scalable)),
        ("avoids false sharing", _lines(original), _lines(stand_in)),
        ("blowup", original.blowup or UNKNOWN, stand_in.blowup or UNKNOWN),
    )
    return tuple(
        Judgement(column=column, original=one, stand_in=other, answer=_same(one, other))
        for column, one, other in columns
    )


def verdict_of(checks: Sequence[Check], judgements: Sequence[Judgement]) -> Answer:
    """One difference decides. Too many undecided comparisons are no agreement."""
    answers = [each.answer for each in checks] + [each.answer for each in judgements]
    if "differs" in answers:
        return "differs"
    undecided = answers.count("undecided")
    return "undecided" if undecided > UNDECIDED_AT_MOST * len(answers) else "agrees"


def sentence_of(
    verdict: Answer,
    original: str,
    stand_in: str,
    checks: Sequence[Check],
    judgements: Sequence[Judgement],
) -> str:
    """The verdict with its reasons."""
    answers = [each.answer for each in checks] + [each.answer for each in judgements]
    if verdict == "differs":
        return f"{stand_in} differs from {original} in {_listed(_reasons(checks, judgements))}."
    told = f"{stand_in} agrees with {original} in {answers.count('agrees')} of {len(answers)}"
    if verdict == "agrees":
        rest = answers.count("undecided")
        return f"{told} comparisons, and differs in none; {rest} are undecided."
    return f"Undecided: {told} comparisons; more blocks, or a quiet machine, would tell."


def _reasons(checks: Sequence[Check], judgements: Sequence[Judgement]) -> Iterator[str]:
    differing: dict[What, dict[str, None]] = {}
    for check in checks:
        if check.answer == "differs":
            differing.setdefault(check.what, {})[check.workload] = None
    for what, workloads in differing.items():
        yield f"{what} ({', '.join(workloads)})"
    for each in judgements:
        if each.answer == "differs":
            column = "false sharing" if each.column == "avoids false sharing" else each.column
            yield f"{column} ({each.original} and {each.stand_in})"


def _listed(texts: Iterable[str]) -> str:
    *front, last = texts
    return f"{', '.join(front)} and {last}" if front else last


def _yes(value: bool | None) -> str:
    return UNKNOWN if value is None else "yes" if value else "no"


def _lines(row: Row) -> str:
    """How lines are shared in the two workloads that decide."""
    ways = {"active": row.false_sharing.active, "passive": row.false_sharing.passive}
    if None in ways.values():
        return UNKNOWN
    return ", ".join(name for name, found in ways.items() if found) or "none"


def _same(one: str, other: str) -> Answer:
    if UNKNOWN in (one, other):
        return "undecided"
    return "agrees" if one == other else "differs"


def _peaks(own: Sequence[WorkloadRun]) -> Figures:
    """Peaks beyond the fixed parts of the same number of threads, in bytes."""
    fixed: dict[int, list[float]] = {}
    for run in good(own, Aspect.FIXED):
        fixed.setdefault(run.threads, []).append(_peak(run))
    found: dict[Key, dict[int, float]] = {}
    for run in good(own, Aspect.PEAK):
        if run.threads in fixed:
            beyond = _peak(run) - float(np.median(fixed[run.threads]))
            found.setdefault((run.workload, run.threads), {})[run.block] = max(beyond, 0.0)
    return found


def _peak(run: WorkloadRun) -> float:
    points = run.line.memory if run.line is not None else None
    return max((resident for _, _, resident in points or ()), default=0.0)


def _counts(own: Sequence[WorkloadRun], name: str) -> Figures:
    found: dict[Key, dict[int, float]] = {}
    for run in good(own, Aspect.EVENTS):
        if run.line is not None and run.line.operations and name in run.counts:
            rate = 1000 * run.counts[name] / run.line.operations
            found.setdefault((run.workload, run.threads), {})[run.block] = rate
    return found


def _speedups(own: Sequence[WorkloadRun]) -> Figures:
    """Operations per second over those of one thread in the same block."""
    rates = {
        (run.workload, run.threads, run.block): run.line.operations / run.line.seconds
        for run in good(own, Aspect.SPEEDUP)
        if run.line is not None and run.line.operations and run.line.seconds > 0
    }
    found: dict[Key, dict[int, float]] = {}
    for (workload, threads, block), rate in rates.items():
        if threads > 1 and (workload, 1, block) in rates:
            speedup = rate / rates[workload, 1, block]
            found.setdefault((workload, threads), {})[block] = speedup
    return found


def _live(own: Sequence[WorkloadRun]) -> Figures:
    """The most bytes that the program had live, as it requested them."""
    found: dict[Key, dict[int, float]] = {}
    for run in good(own, Aspect.PEAK):
        points = run.line.memory if run.line is not None else None
        most = max((live for _, live, _ in points or ()), default=0.0)
        found.setdefault((run.workload, run.threads), {})[run.block] = most
    return found


def _compared(
    what: What,
    both: Sequence[Figures],
    most: float,
    floor: float = 0.0,
    units: Sequence[Figures] | None = None,
) -> Iterator[Check]:
    """One check for each workload and number of threads that both have in a block.

    The ratio is that of the figures, or of the figures in `units` of the same run.
    """
    original, stand_in = both
    for key in original:
        blocks = sorted(original[key].keys() & stand_in.get(key, {}).keys())
        if not blocks:
            continue
        one = [original[key][block] for block in blocks]
        other = [stand_in[key][block] for block in blocks]
        means = float(np.mean(one)), float(np.mean(other))
        logarithms = [
            _log(a) - _log(b) - (_unit(units, 0, key, block) - _unit(units, 1, key, block))
            for block, a, b in zip(blocks, one, other, strict=True)
        ]
        small = len(blocks) > 1 and abs(means[0] - means[1]) <= floor
        yield Check(
            what=what,
            workload=key[0],
            threads=key[1],
            original=means[0],
            stand_in=means[1],
            ratio=ratio_of(logarithms) if min(means) > 0 else None,
            answer="agrees" if small else answer_of(logarithms, most),
        )


def _log(value: float) -> float:
    return float(np.log(max(value, LEAST)))


def _unit(units: Sequence[Figures] | None, side: int, key: Key, block: int) -> float:
    """The logarithm of the live bytes of a run; 0 where there are none, or other figures."""
    value = 0.0 if units is None else units[side].get(key, {}).get(block, 0.0)
    return float(np.log(value)) if value > 0 else 0.0


def answer_of(logarithms: Sequence[float], most: float) -> Answer:
    """Whether ratios, one of each block, are within a tolerance in both directions."""
    mean, limit = float(np.mean(logarithms)), float(np.log(most))
    half, joint = half_width(logarithms), half_width(logarithms, JOINT)
    if half is None or joint is None:
        return "undecided"
    if abs(mean) + half <= limit:
        return "agrees"
    return "differs" if abs(mean) - joint > limit else "undecided"


def _ends(original: Sequence[WorkloadRun], stand_in: Sequence[WorkloadRun]) -> Iterator[Check]:
    """The runs that end well under one of the two only."""
    bad = [{_trial(run): run for run in own if not run.good} for own in (original, stand_in)]
    for (aspect, workload, threads), run in (bad[0] | bad[1]).items():
        trial = (aspect, workload, threads)
        if (trial in bad[0]) != (trial in bad[1]):
            yield Check(
                what="end of runs",
                workload=workload,
                threads=threads,
                answer="differs",
                why=f"{'original' if trial in bad[0] else 'stand-in'}: {run.outcome} {run.detail}",
            )


def _trial(run: WorkloadRun) -> tuple[Aspect, str, int]:
    return run.aspect, run.workload, run.threads
