# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The live memory at named moments, in words: its sites, their changes, and the pages they pin."""

from collections.abc import Iterator

from heapwright.artefacts.profile.asked_moments import END, PEAK
from heapwright.artefacts.profile.document import Profile, Site
from heapwright.artefacts.profile.moments import Held, Moment, Pins
from heapwright.base.quantities import several
from heapwright.report.profile import words

TOP = 5


def in_summary(profile: Profile) -> Iterator[tuple[str, str]]:
    """Each moment with its largest sites, then each pair with its largest changes."""
    for place, moment in enumerate(profile.moments):
        name = at(moment)
        yield name, in_all(moment)
        for site in profile.holders_at(place)[:TOP]:
            held = site.held_at(place)
            yield (
                name,
                f"{words.memory(held.bytes)} ({words.share(part(held, moment))}) live in "
                f"{several(held.objects, 'block')}: {words.chain_of(site)}",
            )
        yield from _pins(profile, place, moment)
    for before, after in profile.between:
        yield from _changes(profile, before, after)
    if profile.moments and not profile.sites:
        yield "Note", "the trace has no call stacks, so no call site is known: record --stacks"


def at(moment: Moment) -> str:
    """`At 50%`, `At the peak`."""
    return f"At the {moment.name}" if moment.name in (PEAK, END) else f"At {moment.name}"


def from_to(profile: Profile, before: int, after: int) -> str:
    """`25% to end`."""
    return f"{profile.moments[before].name} to {profile.moments[after].name}"


def in_all(moment: Moment) -> str:
    """The live memory of all sites."""
    return (
        f"{words.memory(moment.live_bytes)} live in {several(moment.live_objects, 'object')}, "
        f"{words.duration(moment.time_s)} after the recording began"
    )


def part(held: Held, moment: Moment) -> float:
    """What a site has of the live memory."""
    return held.bytes / max(moment.live_bytes, 1)


def changed(change: Held) -> str:
    """`+1.2 MiB in +34 blocks`."""
    size = words.signed(words.memory(abs(change.bytes)), change.bytes)
    count = words.signed(several(abs(change.objects), "block"), change.objects)
    return f"{size} in {count}"


def pinned(pins: Pins) -> str:
    """`1.2 MiB in 300 pages for 19 KiB of objects`."""
    return (
        f"{words.memory(pins.released)} in {several(pins.pinned, 'page')} for "
        f"{words.memory(pins.used)} of objects"
    )


def _pins(profile: Profile, place: int, moment: Moment) -> Iterator[tuple[str, str]]:
    if moment.pins is None:
        return
    name = f"Pinned, {moment.name}"
    if not moment.pins.pinned:
        yield name, "none"
        return
    yield name, f"{pinned(moment.pins)} of one call site each"
    for site in profile.pinning_at(place)[:TOP]:
        yield name, f"{pinned(site.pins_at(place))}: {words.chain_of(site)}"


def _changes(profile: Profile, before: int, after: int) -> Iterator[tuple[str, str]]:
    name = from_to(profile, before, after)
    was, now = profile.moments[before], profile.moments[after]
    yield name, f"{changed(difference(was, now))} in all"
    found = profile.changed_between(before, after)
    for site, change in found[:TOP]:
        yield name, f"{changed(change)}: {words.chain_of(site)}"
    if len(found) > TOP:
        yield name, f"and {several(len(found) - TOP, 'call site')} more"


def difference(was: Moment, now: Moment) -> Held:
    """Of all sites together."""
    return Held(now.live_objects - was.live_objects, now.live_bytes - was.live_bytes)


def rest(profile: Profile, place: int, shown: list[Site]) -> Held:
    """What the sites beside the shown ones have at a moment."""
    moment = profile.moments[place]
    listed = [site.held_at(place) for site in shown]
    return Held(
        moment.live_objects - sum(each.objects for each in listed),
        moment.live_bytes - sum(each.bytes for each in listed),
    )
