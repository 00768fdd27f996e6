# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The evidence of a run for each finding: lost, growing, held, elsewhere. Pure.

Each function examines one finding. `judge` orders them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from heapwright.artefacts.explanation.document import Ending, Reachability
from heapwright.artefacts.profile.course import (
    Curve,
    Growth,
    growing_sites,
    growth,
    in_calls,
    live_curve,
    site_curve,
    without_rests,
)
from heapwright.artefacts.profile.document import Profile, Site
from heapwright.artefacts.profile.series import SystemSample

LEAST_HELD = 1 << 20
MUCH_HELD = 8 << 20
LEAST_GROWTH = 4 << 10
LEAST_PACED_S = 0.5
"""A process that lived shorter has no rate: what it did in a moment does not go on."""
SHORT_RUN_S = 0.1
LEAST_SHORT_GROWTH = 1 << 20
"""For a short run, in which a program has hardly begun its work."""
LEAST_ELSEWHERE = 16 << 20
LEAST_ELSEWHERE_RISE = 8 << 20
LEAST_ELSEWHERE_GROWTH = 4 << 20
"""Of what still grows late in the run."""
HEADER = 16
"""Bytes beside a block that an allocator may need for itself."""
LEAST_WORKED = 1 / 3
"""Share of a run. With a longer idle end, memory built before it is no growth."""
ONGOING_BLOCKS = 3
LATE = 0.5

Place = tuple[int, int]
"""Process and number of the stack."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Blocks of one place that no pointer leads to."""

    blocks: int
    bytes: int
    first_s: float
    """When the first of them was allocated."""
    last_s: float

    def goes_on(self, end: float) -> bool:
        """Whether blocks were lost repeatedly, until late in the run."""
        spread = self.last_s - self.first_s
        return self.blocks >= ONGOING_BLOCKS and (
            self.last_s >= LATE * end or spread >= LATE / 2 * end
        )

    @property
    def rate(self) -> float:
        """Bytes in a second."""
        spread = self.last_s - self.first_s
        return self.bytes * (self.blocks - 1) / self.blocks / spread if spread > 0 else 0.0


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts about a run besides its profile."""

    ending: Ending = Ending.UNKNOWN
    reachability: Reachability | None = None
    lost: dict[Place, Lost] | None = None
    """The blocks that no pointer leads to; None: pointers were not searched."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """The known variables of the command that configure an allocator."""
    begin_s: float = 0.0
    """Time at which the process began."""
    end_s: float | None = None
    """Time at which the process began to wait for the search, or the recording ended. Later
    samples of the system are left out. Later calls are the teardown."""


@dataclass(frozen=True, slots=True)
class Grown:
    """Live memory that rose until the end, without what was lost."""

    late: Growth
    """In the later half."""
    total: int
    """Since the beginning."""
    sites: dict[Place, Growth]


def grown(profile: Profile, facts: Facts, end: float) -> Grown | None:
    """The growth until `end`: by its sites, or by all live memory if no site grows."""
    found = _grown_at_all(profile, facts, end)
    if found is not None and end < SHORT_RUN_S and found.late.bytes < LEAST_SHORT_GROWTH:
        return None
    return found


def _grown_at_all(profile: Profile, facts: Facts, end: float) -> Grown | None:
    """The same, without a lower limit."""
    rests = facts.ending is Ending.EXITED  # a server may have waited for requests
    found = _grown(profile, facts, end, rests=rests)
    if found is not None:
        return found
    active, worked = without_rests(profile, end)
    if worked < LEAST_WORKED:
        return None
    calls = in_calls(profile)
    if _grown_on(profile, facts, end, calls) is None:
        return None  # a program that was stopped, and made most of its calls in a moment
    return _grown_on(profile, facts, end, active)


def _grown_on(
    profile: Profile, facts: Facts, end: float, axis: Mapping[float, float]
) -> Grown | None:
    """The growth with other values in place of the times."""
    points = [p.model_copy(update={"time_s": axis[p.time_s]}) for p in profile.timeline]
    times = tuple(axis[time] for time in profile.site_times_s)
    moved = profile.model_copy(update={"timeline": tuple(points), "site_times_s": times})
    before = max((own for time, own in axis.items() if time <= end), default=0.0)
    return _grown(moved, facts, before, slower=end / before) if before else None


def _grown(
    profile: Profile, facts: Facts, end: float, *, slower: float = 1.0, rests: bool = False
) -> Grown | None:
    """A second of the profile's times is `slower` seconds of the run. `rests`: the time after the
    last call belongs to the course, so what was built in the first half of it is no growth."""
    lost = facts.lost or {}
    sites: dict[Place, Growth] = {}
    total = 0
    known = {(site.process, site.stack): site for site in profile.sites}
    for place, each in growing_sites(profile, end, rests=rests).items():
        kept, rest = each.bytes, _last(site_curve(profile, known[place]).until(end))
        if place in lost:
            if 2 * lost[place].bytes >= rest:
                continue  # a number that looks like a pointer hides the others
            kept = round(kept * (1 - lost[place].bytes / rest))
            rest -= lost[place].bytes
        if 10 * kept >= each.bytes:
            sites[place] = Growth(kept, each.seconds)
            total += max(rest, kept)
    gained = sum(each.bytes for each in sites.values())
    if gained >= LEAST_GROWTH:
        longest = max(each.seconds for each in sites.values())
        return Grown(Growth(gained, longest), total, sites)
    if lost and profile.site_times_s:
        return None  # only the places separate growing blocks from lost ones
    live = live_curve(profile)
    curve = live.kept_to(end) if rests else live.until(end)
    whole = growth(curve)
    if whole is None:
        return None
    lately = sum(each.rate for each in lost.values()) * whole.seconds * slower
    kept = whole.bytes - round(lately)
    if kept < LEAST_GROWTH or 10 * kept < whole.bytes:
        return None
    rise = max(curve.values[-1] - curve.values[0] - sum(each.bytes for each in lost.values()), kept)
    return Grown(Growth(kept, whole.seconds), rise, {})


def _last(curve: Curve) -> int:
    return curve.values[-1] if curve.values else 0


def suspects(profile: Profile, sites: dict[Place, Growth]) -> list[Site]:
    """The growing sites that may be leaks, without a search for pointers. Their blocks were
    never freed, or they free most blocks soon and miss some."""
    return [
        site
        for site in profile.sites
        if (site.process, site.stack) in sites
        and site.never_freed > 0
        and (site.never_freed >= 0.9 * site.allocations or site.short >= site.allocations / 2)
    ]


@dataclass(frozen=True, slots=True)
class Held:
    """Memory that the allocator held late in the run and the program did not use again."""

    share: float
    """Of the resident heap."""
    bytes: int

    @property
    def matters(self) -> bool:
        return (self.share > 0.5 and self.bytes >= LEAST_HELD) or (
            self.share > 1 / 3 and self.bytes >= MUCH_HELD
        )


def held(profile: Profile, end: float) -> Held | None:
    """The mean over the last quarter of the time. Left out are: memory that the system can take,
    memory that live blocks need again later (a sawtooth), and the headers of live blocks. Memory
    that the allocator had before the program freed as much is also left out. None without
    samples."""
    samples = until(profile, end)
    if not samples:
        return None
    begin, last = samples[0].time_s, samples[-1].time_s
    late = [s for s in samples if s.time_s >= last - (last - begin) / 4]
    mean_block = _mean_block(profile)
    reserve = max((_kept(s, mean_block) - freed for s, freed in _with_freed(profile, samples)))
    again, unused = 0, []
    for sample in reversed(late):
        again = max(again, sample.live_bytes)
        needed = again - sample.live_bytes + max(reserve, 0)
        unused.append(max(_kept(sample, mean_block) - needed, 0))
    heap = fmean(s.heap_resident_bytes or 0 for s in late)
    mean = fmean(unused)
    return Held(mean / heap if heap else 0.0, round(mean))


def _kept(sample: SystemSample, mean_block: float) -> float:
    """Bytes in heaps and in no block, without headers and without what the system can take."""
    headers = HEADER * sample.live_bytes / mean_block if mean_block else 0.0
    return (sample.held_bytes or 0) - (sample.lazy_bytes or 0) - headers


def _with_freed(
    profile: Profile, samples: Sequence[SystemSample]
) -> Iterator[tuple[SystemSample, float]]:
    """Each sample with the bytes that the program had freed until then.

    The allocator may keep more than that. The rest was never used by the program: a reserve, or
    mappings that the system merged with those of the heap.
    """
    points, at, allocated = profile.timeline, 0, 0
    for sample in samples:
        while at < len(points) and points[at].time_s <= sample.time_s:
            allocated += points[at].allocated_bytes
            at += 1
        ahead = points[at].allocated_bytes if at < len(points) else 0
        yield sample, max(allocated + ahead - sample.live_bytes, 0) if points else float("inf")


def _mean_block(profile: Profile) -> float:
    """Bytes of a live block, at the peak."""
    peak = profile.peak
    return peak.live_bytes / peak.live_objects if peak.live_objects else 0.0


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """Resident memory outside of malloc."""

    most: SystemSample
    rise: int
    """Its increase during the run, without code."""
    late: Growth | None


def elsewhere(profile: Profile, end: float) -> Elsewhere | None:
    """Memory of mappings that malloc did not make. It counts if it grew more than the memory of
    malloc, or if it is large and most of the resident memory."""
    samples = until(profile, end)
    if not samples:
        return None
    begin, last = samples[0].time_s, samples[-1].time_s
    most = max(
        (s for s in samples if s.time_s >= last - (last - begin) / 4),
        key=lambda s: s.other_bytes or 0,
    )
    rise = _foreign(most) - min(_foreign(s) for s in samples)
    heap = most.heap_resident_bytes or 0
    grew = heap - min(s.heap_resident_bytes or 0 for s in samples)
    level = _foreign(most) >= LEAST_ELSEWHERE and 2 * _foreign(most) > (most.resident_bytes or 0)
    curve = Curve(tuple(s.time_s for s in samples), tuple(_foreign(s) for s in samples))
    late = growth(curve)
    least = LEAST_ELSEWHERE_GROWTH if late else LEAST_ELSEWHERE_RISE
    if not level and (rise < least or rise <= grew):
        return None
    return Elsewhere(most, rise, late)


def _foreign(sample: SystemSample) -> int:
    """Resident outside of heaps, without code."""
    return (sample.other_bytes or 0) - (sample.code_bytes or 0)


def until(profile: Profile, end: float) -> Sequence[SystemSample]:
    """The samples of the system before the teardown."""
    if profile.system is None:
        return ()
    seen = [s for s in profile.system.samples if s.time_s <= end]
    return seen or profile.system.samples[:1]
