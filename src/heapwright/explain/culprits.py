# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The places of a leak or a growth. Pure.

A place is a line of the program's own code. Several sites with different callers may lead to it.
Each is a culprit, and the sum of their bytes is the part of the place. A function through which
others allocate as well, without such a finding, is a wrapper of malloc: the place is its caller.
"""

from collections import Counter
from collections.abc import Iterable, Mapping

from heapwright.artefacts.explanation.document import Culprit, Kind
from heapwright.artefacts.profile.course import site_curve
from heapwright.artefacts.profile.document import Profile, Site
from heapwright.artefacts.profile.library_frames import PLACE
from heapwright.explain.evidence import Grown, Lost, Place
from heapwright.explain.sentence import Part

DEEPEST_WRAPPER = 4
"""The largest number of functions between malloc and the one at fault."""
Culprits = tuple[list[Culprit], list[Part]]


def of_leak(
    profile: Profile, lost: Mapping[Place, Lost], going: Mapping[Place, Lost], total: int
) -> Culprits:
    """The places that lost `total` bytes. Places that still lose memory come first, then by
    bytes."""
    sites = _sites(profile, lost)
    named = _Places(profile, sites)
    found = [
        _culprit(
            site,
            named.of(site),
            Kind.LEAK,
            (lost[place].blocks, lost[place].bytes),
            lost[place].rate if place in going else None,
        )
        for place, site in sites
    ]
    parts = sorted(_parts(found, total), key=lambda each: each.rate is None)
    return _ordered(found, parts), parts


def hidden(profile: Profile, lost: Mapping[Place, Lost]) -> tuple[int, int]:
    """Blocks and bytes that the same places also never freed, although a pointer led to them.
    Only places count that lost most of their blocks. Such pointers may be old ones in memory of
    the allocator, mainly in thread caches."""
    blocks = size = 0
    for place, site in _sites(profile, lost):
        if 2 * lost[place].bytes >= site.never_freed_bytes:
            blocks += max(site.never_freed - lost[place].blocks, 0)
            size += max(site.never_freed_bytes - lost[place].bytes, 0)
    return blocks, size


def of_growth(profile: Profile, grown: Grown, end: float) -> Culprits:
    """The places that grow until `end`. Those that grew most lately come first."""
    sites = _sites(profile, grown.sites)
    named = _Places(profile, sites)
    whole = [
        _culprit(
            site,
            named.of(site),
            Kind.GROWTH,
            _kept(profile, site, end),
            grown.sites[place].rate,
        )
        for place, site in sites
    ]
    lately = [
        each.model_copy(update={"blocks": 0, "bytes": grown.sites[place].bytes})
        for each, (place, _) in zip(whole, sites, strict=True)
    ]
    parts = _parts(lately, grown.late.bytes)
    return _ordered(whole, parts), parts


def _sites(profile: Profile, places: Iterable[Place]) -> list[tuple[Place, Site]]:
    """The sites of the profile, in this order."""
    known = {(site.process, site.stack): site for site in profile.sites}
    return [(place, known[place]) for place in places if place in known]


def _kept(profile: Profile, site: Site, end: float) -> tuple[int, int]:
    """Blocks and bytes of a growing site at `end`. Blocks are known only of what the program never
    freed; 0 if it freed most."""
    curve = site_curve(profile, site).until(end)
    live = curve.values[-1] if curve.values else 0
    if 2 * site.never_freed_bytes >= live:
        return site.never_freed, site.never_freed_bytes
    return 0, live


class _Places:
    """Where the program is at fault, for sites that are."""

    def __init__(self, profile: Profile, culprits: Iterable[tuple[Place, Site]]) -> None:
        at_fault = {place for place, _ in culprits}
        self._others = [
            tuple(map(_function, site.own_calls[: DEEPEST_WRAPPER + 1]))
            for site in profile.sites
            if (site.process, site.stack) not in at_fault
        ]

    def of(self, site: Site) -> str:
        """The innermost call that is no wrapper; if all are wrappers, the innermost one."""
        calls = site.own_calls[: DEEPEST_WRAPPER + 1]
        functions = tuple(map(_function, calls))
        for depth in range(1, len(calls)):
            inner, caller = functions[:depth], functions[depth]
            callers = {each[depth] for each in self._others if each[:depth] == inner != each}
            if not callers or caller in callers:
                return calls[depth - 1]
        return site.place


def _function(call: str) -> str:
    """`work` of `work (a.c:12)`."""
    return PLACE.sub("", call)


def _culprit(
    site: Site, place: str, kind: Kind, amount: tuple[int, int], rate: float | None
) -> Culprit:
    return Culprit(
        frames=site.frames,
        blocks=amount[0],
        bytes=amount[1],
        kind=kind,
        place=place,
        rate_bytes_per_s=rate,
    )


def _parts(culprits: Iterable[Culprit], total: int) -> list[Part]:
    """The part of each place of `total` bytes; the largest first."""
    amounts = Counter[str]()
    rates: dict[str, float] = {}
    for each in culprits:
        amounts[each.place] += each.bytes
        if each.rate_bytes_per_s is not None:
            rates[each.place] = rates.get(each.place, 0.0) + each.rate_bytes_per_s
    return [
        Part(place, amount / total if total else 0.0, rates.get(place))
        for place, amount in sorted(amounts.items(), key=lambda each: (-each[1], each[0]))
    ]


def _ordered(culprits: list[Culprit], parts: list[Part]) -> list[Culprit]:
    """By their places; those of one place that go on come first, then by bytes."""
    order = {part.place: at for at, part in enumerate(parts)}
    return sorted(
        culprits,
        key=lambda each: (order[each.place], each.rate_bytes_per_s is None, -each.bytes),
    )
