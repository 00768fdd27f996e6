# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From a profile to one word and one sentence. Pure: no files, no clocks.

The rules, in this order; docs/explain.md says them for users:

1. *Retention*: in the last quarter of the time more than half of the resident heap was held by the
   allocator, at least `LEAST_HELD` bytes, beyond what it has offered back to the system.
2. *Leak or growth*: live memory rose through the run. Leak, if blocks that nobody will free make up
   at least half of the rise: those that no pointer led to at the end, where that was looked at;
   else those never freed by a program that ended in order; of one that was killed or still runs
   those from places most of whose blocks are freed soon. Otherwise growth.
3. *Leak*, too, where no pointer led to a quarter or more of what was live at the end.
4. *Elsewhere*: most of the resident memory is not malloc's, and it is much.
5. *Steady*.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median

from heapwright.artefacts.explanation.document import (
    Culprit,
    Ending,
    Explanation,
    Kind,
    Moment,
    Reachability,
)
from heapwright.artefacts.profile.document import Profile, Site
from heapwright.artefacts.profile.series import SystemSample
from heapwright.explain.sentence import sentence
from heapwright.explain.settings import MMAP_THRESHOLD, allocator_in_use, setting_for

LEAST_HELD = 1 << 20
LEAST_RISE = 64 << 10
LEAST_LOST = 64 << 10
LEAST_ELSEWHERE = 64 << 20
MOST_CULPRITS = 10


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a run besides its profile."""

    ending: Ending = Ending.UNKNOWN
    reachability: Reachability | None = None
    unreachable_by_stack: dict[tuple[int, int], tuple[int, int]] | None = None
    """(process, stack) -> (blocks, bytes)."""
    end_s: float | None = None
    """From then on it only waited to be looked at, or was not recorded any more; what the system
    saw later is left out."""


def explain(profile: Profile, facts: Facts | None = None) -> Explanation:
    """The explanation of one run."""
    facts = facts or Facts()
    profile = _until(profile, facts.end_s)
    moments = _moments(profile)
    rise = _rise(profile)
    share = held_share(profile.system.samples) if profile.system else None
    kind = _kind(profile, facts, rise, share)
    allocator = allocator_in_use(profile.system.objects if profile.system else ())
    most_held = max((m.held_bytes or 0 for m in moments), default=None)
    setting = None
    if kind is Kind.RETENTION and profile.system is not None:
        setting = setting_for(
            allocator,
            profile.system.most_held,
            peak_live=profile.peak_live_bytes,
            large_share=_large_share(profile),
        )
    found = Explanation(
        command=profile.provenance.command,
        kind=kind,
        sentence="",
        ending=facts.ending,
        allocator=allocator if profile.system else "",
        rise_bytes=rise,
        never_freed_bytes=profile.totals.never_freed_bytes,
        never_freed_blocks=profile.totals.never_freed,
        held_share=share,
        most_held_bytes=most_held if profile.system else None,
        reachability=facts.reachability,
        culprits=_culprits(profile, facts, kind, rise),
        setting=setting,
        moments=moments,
    )
    return found.model_copy(update={"sentence": sentence(found)})


def _until(profile: Profile, end: float | None) -> Profile:
    if profile.system is None or end is None:
        return profile
    samples = tuple(each for each in profile.system.samples if each.time_s <= end)
    return profile.model_copy(
        update={"system": profile.system.model_copy(update={"samples": samples})}
    )


def _kind(profile: Profile, facts: Facts, rise: int, share: float | None) -> Kind:
    if share is not None and share > 0.5:
        return Kind.RETENTION
    if rise >= LEAST_RISE:
        return Kind.LEAK if _lost(profile, facts) >= rise / 2 else Kind.GROWTH
    reach = facts.reachability
    if reach and reach.unreachable_bytes >= max(LEAST_LOST, reach.bytes / 4):
        return Kind.LEAK
    if profile.system and profile.system.samples and _elsewhere(profile.system.samples):
        return Kind.ELSEWHERE
    return Kind.STEADY


def _rise(profile: Profile) -> int:
    """Median live bytes of the last quarter of the calls less that of the first, if live memory
    rose from each quarter to the next, and at least by a tenth in all; otherwise 0.

    By calls, not by time: a program that rests after its work has not stopped growing. What a
    program takes down at its end is left out: the quarters end with the last phase after which at
    least half of the most was live.
    """
    live = [phase.live_bytes for phase in profile.phases]
    most = max(live, default=0)
    live = live[: max((i + 1 for i, each in enumerate(live) if 2 * each >= most), default=0)]
    if len(live) < 8:
        return 0
    quarter = len(live) // 4
    levels = [median(live[i * quarter : (i + 1) * quarter]) for i in range(4)]
    rise = int(levels[3] - levels[0])
    rising = all(a < b for a, b in pairwise(levels))
    return rise if rising and rise >= levels[3] / 10 else 0


def _lost(profile: Profile, facts: Facts) -> int:
    """Bytes that nobody will free, as far as this run can tell."""
    if facts.reachability is not None:
        return facts.reachability.unreachable_bytes
    if facts.ending is Ending.EXITED:
        return profile.totals.never_freed_bytes
    return sum(site.never_freed_bytes for site in profile.sites if _forgetful(site))


def _forgetful(site: Site) -> bool:
    """Most of its blocks are freed soon; those that are not have been forgotten."""
    return site.never_freed > 0 and site.short >= site.allocations / 2


def held_share(samples: Sequence[SystemSample]) -> float | None:
    """The mean, over the last quarter of the time, of what the allocator held and the system could
    not take, as a share of the resident heap; null where there is nothing to be said."""
    if not samples:
        return None
    begin, end = samples[0].time_s, samples[-1].time_s
    late = [s for s in samples if s.time_s >= end - (end - begin) / 4]
    held = fmean(max((s.held_bytes or 0) - (s.lazy_bytes or 0), 0) for s in late)
    heap = fmean(s.heap_resident_bytes or 0 for s in late)
    return held / heap if heap and held >= LEAST_HELD else 0.0


def _elsewhere(samples: Sequence[SystemSample]) -> bool:
    most = max(samples, key=lambda s: s.resident_bytes or 0)
    other = most.other_bytes or 0
    return other >= LEAST_ELSEWHERE and other * 2 > (most.resident_bytes or 0)


def _large_share(profile: Profile) -> float:
    large = sum(b.bytes for b in profile.sizes.histogram if b.low + 1 >= MMAP_THRESHOLD)
    return large / profile.totals.bytes if profile.totals.bytes else 0.0


def _moments(profile: Profile) -> tuple[Moment, ...]:
    if profile.system is None or not profile.system.samples:
        return tuple(
            Moment(
                time_s=point.time_s,
                live_bytes=point.live_bytes,
                waste_bytes=None
                if point.usable_bytes is None
                else max(point.usable_bytes - point.live_bytes, 0),
            )
            for point in profile.timeline
        )
    return tuple(
        Moment.model_validate(sample.model_dump(include=set(Moment.model_fields)))
        for sample in profile.system.samples
    )


def _culprits(profile: Profile, facts: Facts, kind: Kind, rise: int) -> tuple[Culprit, ...]:
    """The places that account for what was not freed, most bytes first; of a growth none, if what
    grew was freed before the end: these would be others."""
    if kind not in {Kind.LEAK, Kind.GROWTH}:
        return ()
    lost = facts.unreachable_by_stack if kind is Kind.LEAK else None
    found = []
    for site in profile.sites:
        blocks, size = (
            (site.never_freed, site.never_freed_bytes)
            if lost is None
            else lost.get((site.process, site.stack), (0, 0))
        )
        if blocks:
            found.append(Culprit(frames=site.frames, blocks=blocks, bytes=size))
    if kind is Kind.GROWTH and 2 * sum(each.bytes for each in found) < rise:
        return ()
    return tuple(sorted(found, key=lambda each: -each.bytes)[:MOST_CULPRITS])
