# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The places in the program that request memory, on the page.

A flame graph shows all of them. Tables list the sites of memory that was live at the peak, and of
memory that was never freed.
"""

from collections.abc import Sequence
from html import escape

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
        "A measure shows live memory at a moment, or its growth between two moments.</p>\n" + drawn
    )


def _course(profile: Profile) -> Course:
    """The sites that had live memory at a moment that was kept."""
    kept = [site for site in profile.sites if site.live_over_time]
    return Course(
        profile.site_times_s,
        tuple(site.call for site in kept),
        tuple(site.live_over_time for site in kept),
    )


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
            escape(words.memory(site.never_freed_bytes)),
            escape(words.count(site.never_freed)),
            escape(words.share(site.never_freed / max(site.allocations, 1))),
            _chain(site),
        )
        for site in shown[:LISTED]
    ]
    columns = ("asked for by", "never freed", "blocks", "of its blocks", "called by")
    return _listed(columns, rows, "Sites of never-freed memory", len(shown))


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
            _chain(site),
        )
        for site in shown[:LISTED]
    ]
    columns = ("asked for by", "live at the peak", "of the peak", "blocks", "called by")
    return _listed(columns, rows, "Sites of memory at the peak", len(shown))


def _listed(columns: Sequence[str], rows: Sequence[Sequence[str]], caption: str, count: int) -> str:
    """The table of the first sites, and how many more there are."""
    more = count - LISTED
    return table(columns, rows, "figures places", caption) + (
        f'<p class="dim">And {more:,} more sites.</p>' if more > 0 else ""
    )


def _chain(site: Site) -> str:
    if not site.frames:
        return '<span class="dim">not named</span>'
    calls = "<br>".join(f"<code>{escape(frame)}</code>" for frame in site.frames[:MOST_FRAMES])
    deeper = len(site.frames) - MOST_FRAMES
    rest = f'<br><span class="dim">and {deeper:,} more</span>' if deeper > 0 else ""
    return f"<details><summary>{len(site.frames):,} calls</summary>{calls}{rest}</details>"
