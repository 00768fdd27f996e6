# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The places in the program that request memory, on the page.

A flame graph shows all of them. Tables list the sites of memory that was live at the peak, and of
memory that was never freed.
"""

from collections.abc import Sequence
from html import escape

from heapwright.artefacts.profile.asked_moments import PEAK
from heapwright.artefacts.profile.course import by_growth
from heapwright.artefacts.profile.document import Profile, Site
from heapwright.report.flame.component import Course, flame_graph
from heapwright.report.pages.parts import table
from heapwright.report.profile import words

LISTED = 30
MOST_FRAMES = 24


def who_asks(profile: Profile) -> str:
    """The flame graph of bytes and of calls; nothing without stacks."""
    drawn = "" if profile.calls is None else flame_graph(profile.calls, _course(profile))
    if not drawn:
        return ""
    return (
        "<p>The width of a box is the amount that the function and its callees requested. "
        "A measure shows live memory at a moment, or its growth between two moments. A click on "
        "the chart of live memory chooses the moment.</p>\n" + drawn
    )


def _course(profile: Profile) -> Course:
    """The sites with live memory at a known moment: the even ones, the peak, and the requested
    ones."""
    even = len(profile.site_times_s)
    moments = [(time, "", place) for place, time in enumerate(profile.site_times_s)]
    if even and profile.holders:
        moments.append((profile.peak.time_s, PEAK, even))
    moments += [
        (moment.time_s, moment.name, even + 1 + place)
        for place, moment in enumerate(profile.moments)
        if moment.name != PEAK
    ]
    moments.sort(key=lambda each: each[0])
    kept = [(site, live) for site in profile.sites if any(live := _live_of(site, profile))]
    return Course(
        tuple(time for time, _, _ in moments),
        tuple(site.call for site, _ in kept),
        tuple(tuple(live[place] for _, _, place in moments) for _, live in kept),
        tuple(name for _, name, _ in moments),
    )


def _live_of(site: Site, profile: Profile) -> list[int]:
    """At the even moments, the peak, and the requested moments."""
    return [
        *(site.live_over_time or [0] * len(profile.site_times_s)),
        site.at_peak_bytes,
        *(site.held_at(place).bytes for place in range(len(profile.moments))),
    ]


def never_freed(profile: Profile) -> str:
    """The sites of memory that was never freed, those that still grow first; nothing without
    stacks."""
    if not profile.sites:
        return ""
    shown = by_growth(profile)
    if not shown:
        return "<p>All memory was freed.</p>"
    rows = [
        (
            f"<code>{escape(words.place_of(site))}</code>",
            escape(words.memory(site.never_freed_bytes)) + (", growing" if grows else ""),
            escape(words.count(site.never_freed)),
            escape(words.share(site.never_freed / max(site.allocations, 1))),
            chain(site),
        )
        for site, grows in shown[:LISTED]
    ]
    columns = ("asked for by", "never freed", "blocks", "of its blocks", "called by")
    return listed(columns, rows, "Sites of never-freed memory", len(shown))


def at_peak(profile: Profile) -> str:
    """The sites of the memory that was live at the peak; nothing without stacks."""
    shown = profile.holders
    if not shown:
        return ""
    rows = [
        (
            f"<code>{escape(words.place_of(site))}</code>",
            escape(words.memory(site.at_peak_bytes)),
            escape(words.share(site.at_peak_bytes / max(profile.peak_live_bytes, 1))),
            escape(words.count(site.at_peak)),
            chain(site),
        )
        for site in shown[:LISTED]
    ]
    columns = ("asked for by", "live at the peak", "of the peak", "blocks", "called by")
    return listed(columns, rows, "Sites of memory at the peak", len(shown))


def listed(columns: Sequence[str], rows: Sequence[Sequence[str]], caption: str, count: int) -> str:
    """The table of the first sites, and how many more there are."""
    more = count - LISTED
    return table(columns, rows, "figures places", caption) + (
        f'<p class="dim">And {more:,} more sites.</p>' if more > 0 else ""
    )


def chain(site: Site) -> str:
    if not site.frames:
        return '<span class="dim">not named</span>'
    calls = "<br>".join(f"<code>{escape(frame)}</code>" for frame in site.frames[:MOST_FRAMES])
    deeper = len(site.frames) - MOST_FRAMES
    rest = f'<br><span class="dim">and {deeper:,} more</span>' if deeper > 0 else ""
    return f"<details><summary>{len(site.frames):,} calls</summary>{calls}{rest}</details>"
