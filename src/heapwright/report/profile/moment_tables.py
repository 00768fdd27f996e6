# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of the page about moments: the live memory of sites, its changes, pinned pages, and
temporary allocations. Each is empty without stacks, or if it was not requested.
"""

from html import escape

from heapwright.artefacts.profile.document import Profile, Site
from heapwright.report.profile import moments as told
from heapwright.report.profile import words
from heapwright.report.profile.sites import LISTED, chain, listed


def moments(profile: Profile) -> str:
    """The live memory of the sites at each moment, and the changes of each pair."""
    held = [_held(profile, place) for place in range(len(profile.moments))]
    changes = [_changes(profile, before, after) for before, after in profile.between]
    return "\n".join([*held, *changes])


def _held(profile: Profile, place: int) -> str:
    moment = profile.moments[place]
    heading = f"<h3>{escape(told.at(moment))}</h3><p>{escape(told.in_all(moment))}.</p>\n"
    shown = profile.holders_at(place)
    if not shown:
        return heading
    rows = []
    for site in shown[:LISTED]:
        held = site.held_at(place)
        rows.append(
            (
                _place(site),
                escape(words.memory(held.bytes)),
                escape(words.share(told.part(held, moment))),
                escape(words.count(held.objects)),
                chain(site),
            )
        )
    rest = told.rest(profile, place, shown[:LISTED])
    if rest.objects:
        share = escape(words.share(told.part(rest, moment)))
        count = escape(words.count(rest.objects))
        rows.append(("all other sites", escape(words.memory(rest.bytes)), share, count, ""))
    columns = ("asked for by", "live", "of all", "blocks", "called by")
    return heading + listed(columns, rows, f"Sites of live memory, {moment.name}", len(shown))


def _changes(profile: Profile, before: int, after: int) -> str:
    name = told.from_to(profile, before, after)
    whole = told.difference(profile.moments[before], profile.moments[after])
    heading = f"<h3>From {escape(name)}</h3><p>{escape(told.changed(whole))} in all.</p>\n"
    found = profile.changed_between(before, after)
    if not found:
        return heading
    rows = [
        (
            _place(site),
            escape(words.signed(words.memory(abs(change.bytes)), change.bytes)),
            escape(words.signed(words.count(abs(change.objects)), change.objects)),
            escape(words.memory(site.held_at(before).bytes)),
            escape(words.memory(site.held_at(after).bytes)),
            chain(site),
        )
        for site, change in found[:LISTED]
    ]
    columns = ("asked for by", "change", "blocks", "before", "after", "called by")
    return heading + listed(columns, rows, f"Changes of sites from {name}", len(found))


def pins(profile: Profile) -> str:
    """The sites whose few objects keep pages in use."""
    counted = [place for place, each in enumerate(profile.moments) if each.pins is not None]
    if not counted:
        return ""
    intro = (
        "<p>A pinned page of 4 KiB has live objects of one call site only, and at most a quarter "
        "of it is in use. Without the objects of the site there, the allocator could return the "
        "page.</p>\n"
    )
    return intro + "\n".join(_pins(profile, place) for place in counted)


def _pins(profile: Profile, place: int) -> str:
    moment = profile.moments[place]
    heading = f"<h3>{escape(told.at(moment))}</h3>"
    if moment.pins is not None:
        heading += f"<p>{escape(told.pinned(moment.pins))} of one call site each.</p>\n"
    shown = profile.pinning_at(place)
    if not shown:
        return heading
    rows = [
        (
            _place(site),
            escape(words.memory(pins.released)),
            escape(words.count(pins.pinned)),
            escape(words.memory(pins.used)),
            escape(words.count(pins.held)),
            chain(site),
        )
        for site in shown[:LISTED]
        for pins in [site.pins_at(place)]
    ]
    columns = (
        "asked for by",
        "would be released",
        "pinned pages",
        "objects there",
        "pages of its own",
        "called by",
    )
    return heading + listed(columns, rows, f"Sites that pin pages, {moment.name}", len(shown))


def temporary(profile: Profile) -> str:
    """The sites of allocations that their thread ended before it allocated again."""
    shown = profile.temporary_sites
    if not shown:
        return ""
    totals = profile.totals
    rows = [
        (
            _place(site),
            escape(words.count(site.temporary)),
            escape(words.share(site.temporary / max(site.allocations, 1))),
            escape(words.share(site.temporary / max(totals.temporary, 1))),
            chain(site),
        )
        for site in shown[:LISTED]
    ]
    columns = ("asked for by", "temporary", "of its allocations", "of all temporary", "called by")
    return (
        f"<p>{escape(words.count(totals.temporary))} allocations "
        f"({escape(words.share(totals.temporary / max(totals.allocations, 1)))}) ended before "
        "their thread allocated again. A buffer that is kept can replace them.</p>\n"
        + listed(columns, rows, "Sites of temporary allocations", len(shown))
    )


def _place(site: Site) -> str:
    return f"<code>{escape(words.place_of(site))}</code>"
