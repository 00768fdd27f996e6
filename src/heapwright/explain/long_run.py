# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Explains a long run: how fast each part of memory grows, and one kind of finding. Pure.

A growth counts if all of its interval lies above 0 and it is large enough. It must reach at least
`LEAST_SHARE` of the level within the fitted time. The kinds are those of `heapwright explain`, in
this order; docs/how-to/long-runs.md explains them for users:

1. *Growth*: live memory grows. A long run records no calls, so it cannot show whether the memory is
   lost.
2. *Retention*: the memory that the allocator holds beyond live memory grows, as in slow
   fragmentation. It also counts if it is more than half of the allocator's memory, and at least
   `LEAST_HELD`, in the last quarter of the time.
3. *Elsewhere*: most of resident memory is outside of malloc, and it is large.
4. *Steady*.
"""

from collections.abc import Sequence
from statistics import fmean

from heapwright.artefacts.explanation.document import Ending, Explanation, Kind, Moment
from heapwright.artefacts.long_run.document import (
    Direction,
    LongRun,
    Sample,
    SeriesGrowth,
    SeriesName,
)
from heapwright.artefacts.run.measured import Outcome
from heapwright.base.errors import HeapwrightError
from heapwright.base.quantities import size
from heapwright.explain import sentence
from heapwright.explain.evidence import LEAST_ELSEWHERE, LEAST_HELD
from heapwright.explain.settings import setting_for

LEAST_SHARE = 0.01
LEAST_RISE = 64 << 10


def growth_of(run: LongRun, name: SeriesName) -> SeriesGrowth | None:
    """The growth of a series, if it is significant and large enough."""
    found = next((each for each in run.growths if each.series == name), None)
    if found is None or found.direction is not Direction.GROWS:
        return None
    enough = found.rise_bytes >= max(LEAST_RISE, LEAST_SHARE * found.level_bytes)
    return found if enough else None


def explain_long_run(run: LongRun) -> Explanation:
    """Raises HeapwrightError if live bytes are unknown, because nothing can be explained then."""
    moments = tuple(_moment(each) for each in run.samples if each.live_bytes is not None)
    if not moments:
        raise HeapwrightError(
            f"{run.plan.allocator} did not report live bytes, so the long run has resident memory "
            "alone",
            "heapwright explain --program NAME records it, under any allocator",
        )
    allocator = run.plan.allocator.removesuffix("-no-tcache")
    live, share = growth_of(run, "live"), _held_share(run.samples)
    kind = _kind(run, share)
    found = Explanation(
        command=run.plan.command,
        kind=kind,
        sentence="",
        ending=Ending.RUNNING if run.outcome is Outcome.OK else Ending.KILLED,
        allocator=allocator,
        rise_bytes=0 if live is None else live.rise_bytes,
        held_share=share,
        most_held_bytes=max(each.held_bytes or 0 for each in moments),
        setting=setting_for(allocator, None) if kind is Kind.RETENTION else None,
        moments=moments,
    )
    return found.model_copy(update={"sentence": _sentence(run, found)})


def _kind(run: LongRun, share: float) -> Kind:
    if growth_of(run, "live") is not None:
        return Kind.GROWTH
    if growth_of(run, "held") is not None or share > 0.5:
        return Kind.RETENTION
    most = max(run.samples, key=lambda each: each.resident_bytes)
    other = _other(most)
    if other >= LEAST_ELSEWHERE and 2 * other > most.resident_bytes:
        return Kind.ELSEWHERE
    return Kind.STEADY


def _sentence(run: LongRun, found: Explanation) -> str:
    """The sentence of the kind; for growing held memory, its rate."""
    grown = growth_of(run, "held")
    if found.kind is Kind.GROWTH:
        live = growth_of(run, "live")
        assert live is not None
        fate = "a long run records no calls, so it does not show whether that is lost"
        rate = live.bytes_per_hour / sentence.HOUR
        return sentence.growth(live.rise_bytes, rate, fate=fate, largest=None)
    if found.kind is Kind.ELSEWHERE:
        most = max(found.moments, key=lambda each: each.resident_bytes or 0)
        return sentence.elsewhere(most, None, rise=0, rate=None)
    if found.kind is Kind.STEADY:
        peak = max(each.live_bytes for each in found.moments)
        return sentence.steady(peak, found.most_held_bytes, never_freed=0)
    if grown is None:
        late = _late(found.moments)
        worst = max(late, key=lambda each: each.held_bytes or 0)
        return sentence.retention(found.allocator, worst, found.setting)
    return (
        f"Retention: what {found.allocator} holds beyond what is live grows by "
        f"{size(round(grown.bytes_per_hour))} an hour ({size(round(grown.low))} to "
        f"{size(round(grown.high))}) while live memory does not. Causes are slow "
        "fragmentation, or caches that still fill."
    )


def _late(moments: Sequence[Moment]) -> Sequence[Moment]:
    begin, end = moments[0].time_s, moments[-1].time_s
    return [each for each in moments if each.time_s >= end - (end - begin) / 4]


def _held_share(samples: Sequence[Sample]) -> float:
    """The mean of the series over the last quarter of the time."""
    begin, end = samples[0].time_s, samples[-1].time_s
    late = [
        each
        for each in samples
        if each.time_s >= end - (end - begin) / 4 and each.held_bytes is not None
    ]
    if not late:
        return 0.0
    held = fmean(max((each.held_bytes or 0) - each.lazy_bytes, 0) for each in late)
    taken = fmean((each.held_bytes or 0) + (each.live_bytes or 0) for each in late)
    return held / taken if taken and held >= LEAST_HELD else 0.0


def _other(sample: Sample) -> int:
    """Resident memory outside of malloc."""
    heap = (sample.live_bytes or 0) + (sample.held_bytes or 0)
    return max(sample.resident_bytes - heap, 0)


def _moment(sample: Sample) -> Moment:
    return Moment(
        time_s=sample.time_s,
        live_bytes=sample.live_bytes or 0,
        held_bytes=sample.held_bytes,
        lazy_bytes=sample.lazy_bytes,
        other_bytes=_other(sample),
        resident_bytes=sample.resident_bytes,
    )
