# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From a profile to findings, the most important first. Pure: no files, no clocks.

docs/reference/explain.md states the rules. Each finding is independent, so several may occur
together:

1. *Leak*, if a search found blocks to which no pointer leads. It comes first if blocks are lost
   repeatedly until late in the run or have 64 KiB or more, or if nothing else is found.
2. *Growth*, *retention* and *elsewhere*, by their bytes.
3. *Unknown*, if nothing was found and the recording lacks the needed data.
4. *Steady*.
"""

import re

from heapwright.artefacts.explanation.document import (
    Culprit,
    Explanation,
    Finding,
    Kind,
    Moment,
    Setting,
)
from heapwright.artefacts.profile.course import end_of_course
from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.run.foreign_heaps import (
    ForeignHeap,
    Interpreter,
    foreign_heap_named,
    foreign_heap_of,
    interpreter_of,
)
from heapwright.artefacts.run.serving import allocator_in_use
from heapwright.explain import sentence
from heapwright.explain.culprits import hidden, of_growth, of_leak
from heapwright.explain.evidence import (
    LEAST_PACED_S,
    Elsewhere,
    Facts,
    Grown,
    Held,
    elsewhere,
    grown,
    held,
    suspects,
    until,
)
from heapwright.explain.settings import MMAP_THRESHOLD, Use, setting_for

MOST_CULPRITS = 10
ADDRESS = re.compile(r"[^\s(]+\+0x[0-9a-f]+")
"""A place without a name: `server+0x10c3`."""
LEAST_LOST_ONCE = 4 << 10
"""Lost once, and less than that in all: mentioned, but no leak, because the C library loses
some."""
LEAST_HIDDEN = 5
"""Blocks: the last ones of a leak are often still in registers."""
HIDDEN_SHARE = 20
"""A twentieth of the lost memory: then it is mentioned."""
SMALL_LOSS = 64 << 10
"""Lost once, and less than that: other findings are more important."""


def explain(profile: Profile, facts: Facts | None = None) -> Explanation:
    """The explanation of one run."""
    return _Judge(profile, facts or Facts()).explanation()


class _Judge:
    """One run and its explanation."""

    def __init__(self, profile: Profile, facts: Facts) -> None:
        self._profile = profile
        self._facts = facts
        self._end = end_of_course(profile, facts.end_s)
        system = profile.system
        objects = system.objects if system else ()
        self._allocator = allocator_in_use(objects)
        self._short = self._end - self._facts.begin_s < LEAST_PACED_S
        self._runtime = _runtime(profile)
        self._grown = grown(profile, facts, self._end)
        self._held = held(profile, self._end)
        self._elsewhere = elsewhere(profile, self._end)
        self._moments = _moments(profile, facts.end_s)
        self._setting: Setting | None = None
        if self._held is not None and self._held.matters and system is not None:
            self._setting = setting_for(
                self._allocator,
                system.most_held,
                Use(profile.peak_live_bytes, _large_share(profile), self._held.bytes),
                facts.environment,
            )
        self._culprits: list[Culprit] = []

    def explanation(self) -> Explanation:
        profile, facts = self._profile, self._facts
        findings = self._findings()
        return Explanation(
            command=profile.provenance.command,
            kind=findings[0].kind,
            sentence=" ".join(each.sentence for each in findings),
            findings=tuple(findings),
            ending=facts.ending,
            allocator=self._allocator if profile.system else "",
            runtime=self._runtime.runtime if self._runtime else "",
            coverage=profile.coverage,
            rise_bytes=self._grown.total if self._grown else 0,
            never_freed_bytes=profile.totals.never_freed_bytes,
            never_freed_blocks=profile.totals.never_freed,
            held_share=self._held.share if self._held else None,
            most_held_bytes=max((m.held_bytes or 0 for m in self._moments), default=None)
            if profile.system
            else None,
            reachability=facts.reachability,
            culprits=tuple(self._culprits),
            setting=self._setting,
            moments=self._moments,
        )

    def _findings(self) -> list[Finding]:
        leak = self._leak()
        others = sorted(
            [
                *self._growth(),
                *self._retention(self._held),
                *self._not_mallocs(self._elsewhere),
            ],
            key=lambda each: -each.bytes,
        )
        important = any(
            each.rate_bytes_per_s is not None or each.bytes >= SMALL_LOSS for each in leak
        )
        found = [*leak, *others] if important else [*others, *leak]
        if found and not leak and self._lost_bytes():
            found[-1] = _with(found[-1], self._lost_once())
        gap = self._profile.coverage.gap() if self._profile.coverage else ""
        if said := self._about_places():
            found[-1] = _with(found[-1], said)
        if found and gap:
            found[-1] = _with(found[-1], sentence.also_blind(gap))
        return found or [self._nothing(gap)]

    def _about_places(self) -> str:
        """Why the first place does not help, and what names a better one."""
        place = self._culprits[0].place if self._culprits else ""
        script = _interpreter(self._profile)
        if place and script:
            return sentence.native_places(script, place)
        return sentence.no_symbols(place) if ADDRESS.fullmatch(place) else ""

    def _leak(self) -> list[Finding]:
        lost, reach = self._facts.lost, self._facts.reachability
        if not lost or reach is None or not reach.unreachable_bytes:
            return []
        going = {
            place: each
            for place, each in lost.items()
            if each.goes_on(self._end) and not self._short
        }
        if not going and reach.unreachable_bytes < LEAST_LOST_ONCE:
            return []
        rate = sum(each.rate for each in going.values()) if going else None
        found, parts = of_leak(self._profile, lost, going, reach.unreachable_bytes)
        self._culprits += found[:MOST_CULPRITS]
        said = sentence.leak(
            reach.unreachable_blocks,
            reach.unreachable_bytes,
            pace=sentence.pace_of_loss(rate, short=self._short),
            first=parts[0] if parts else None,
            largest=max(parts, key=lambda each: each.share, default=None),
        )
        hidden_blocks, hidden_bytes = hidden(self._profile, lost)
        if hidden_blocks >= LEAST_HIDDEN and HIDDEN_SHARE * hidden_bytes >= reach.unreachable_bytes:
            blocks = reach.unreachable_blocks + hidden_blocks
            size = reach.unreachable_bytes + hidden_bytes
            said = f"{said} {sentence.perhaps_lost(blocks, size, self._allocator)}"
        return [
            Finding(
                kind=Kind.LEAK,
                sentence=said,
                bytes=reach.unreachable_bytes,
                rate_bytes_per_s=rate,
            )
        ]

    def _growth(self) -> list[Finding]:
        found = self._grown
        if found is None:
            return []
        culprits, parts = of_growth(self._profile, found, self._end)
        self._culprits += culprits[:MOST_CULPRITS]
        rate = None if self._short else found.late.rate
        said = sentence.growth(
            found.total,
            rate,
            fate=self._fate(found),
            largest=parts[0] if parts else None,
        )
        return [
            Finding(
                kind=Kind.GROWTH,
                sentence=said,
                bytes=found.total,
                rate_bytes_per_s=rate,
            )
        ]

    def _fate(self, found: Grown) -> str:
        """The fate of the grown memory."""
        facts, never_freed = self._facts, self._never_freed(found)
        if facts.reachability is not None:
            return sentence.searched_fate(
                lost=facts.reachability.unreachable_bytes > 0,
                kept=2 * never_freed >= found.total,
                ending=facts.ending,
            )
        suspected = bool(suspects(self._profile, found.sites)) or (
            not found.sites and 2 * never_freed >= found.total
        )
        return sentence.unsearched_fate(facts.ending, suspected=suspected)

    def _never_freed(self, found: Grown) -> int:
        """Bytes of the growing sites that the program never freed; of all sites if none grows."""
        if not found.sites:
            return self._profile.totals.never_freed_bytes
        return sum(
            site.never_freed_bytes
            for site in self._profile.sites
            if (site.process, site.stack) in found.sites
        )

    def _retention(self, found: Held | None) -> list[Finding]:
        if found is None or not found.matters:
            return []
        worst = max(
            (m for m in self._moments if m.time_s >= 0.75 * self._end and m.time_s <= self._end),
            key=lambda moment: moment.held_bytes or 0,
            default=self._moments[-1],
        )
        said = sentence.retention(self._allocator, worst, self._setting)
        return [Finding(kind=Kind.RETENTION, sentence=said, bytes=found.bytes)]

    def _not_mallocs(self, found: Elsewhere | None) -> list[Finding]:
        if found is None:
            return []
        rate = found.late.rate if found.late and not self._short else None
        said = sentence.elsewhere(found.most, self._runtime, rise=found.rise, rate=rate)
        size = max(found.rise, found.most.other_bytes or 0)
        return [Finding(kind=Kind.ELSEWHERE, sentence=said, bytes=size, rate_bytes_per_s=rate)]

    def _nothing(self, gap: str) -> Finding:
        profile, facts = self._profile, self._facts
        step = profile.provenance.sampled or 1
        no_calls = sentence.no_sample(step) if step > 1 else sentence.NO_CALLS
        why = gap or ("" if profile.totals.allocations else no_calls)
        if why:
            return Finding(kind=Kind.UNKNOWN, sentence=sentence.unknown(why), bytes=0)
        held_most = max((m.held_bytes or 0 for m in self._moments), default=0)
        said = sentence.steady(
            profile.peak_live_bytes,
            held_most if profile.system else None,
            never_freed=0 if facts.reachability else profile.totals.never_freed_bytes,
            runtime=self._runtime,
        )
        found = Finding(kind=Kind.STEADY, sentence=said, bytes=profile.peak_live_bytes)
        return _with(found, self._lost_once()) if self._lost_bytes() else found

    def _lost_bytes(self) -> int:
        reach = self._facts.reachability
        return reach.unreachable_bytes if reach else 0

    def _lost_once(self) -> str:
        reach = self._facts.reachability
        assert reach is not None
        return sentence.lost_once(reach.unreachable_blocks, reach.unreachable_bytes)


def _with(found: Finding, remark: str) -> Finding:
    return found.model_copy(update={"sentence": f"{found.sentence} {remark}"})


def _runtime(profile: Profile) -> ForeignHeap | None:
    """The known heap of the program besides that of malloc."""
    origin = profile.provenance
    shown = [each for each in origin.processes if each.process == origin.selected]
    if profile.coverage is not None:
        pids = [each.pid for each in shown] or [each.pid for each in profile.coverage.processes]
        seen = (profile.coverage.of(pid) for pid in pids)
        return next((foreign_heap_named(each.own_heap) for each in seen if each), None)
    command = shown[0].command if shown else origin.command
    objects = profile.system.objects if profile.system else ()
    return foreign_heap_of(command[0] if command else "", objects)


def _interpreter(profile: Profile) -> Interpreter | None:
    """The interpreter that the program is."""
    origin = profile.provenance
    shown = [each for each in origin.processes if each.process == origin.selected]
    command = shown[0].command if shown else origin.command
    return interpreter_of(command[0]) if command else None


def weight(found: Explanation) -> tuple[int, int]:
    """Its importance among the other processes of the same run."""
    first = found.findings[0]
    if first.kind is Kind.LEAK and first.rate_bytes_per_s is not None:
        return 3, first.bytes
    if first.kind in {Kind.STEADY, Kind.UNKNOWN}:
        return int(first.kind is Kind.UNKNOWN), first.bytes
    return 2, first.bytes


def _large_share(profile: Profile) -> float:
    large = sum(b.bytes for b in profile.sizes.histogram if b.low + 1 >= MMAP_THRESHOLD)
    return large / profile.totals.bytes if profile.totals.bytes else 0.0


def _moments(profile: Profile, end: float | None) -> tuple[Moment, ...]:
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
    seen = until(profile, float("inf") if end is None else end)
    return tuple(
        Moment.model_validate(sample.model_dump(include=set(Moment.model_fields)))
        for sample in seen
    )
