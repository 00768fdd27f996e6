# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The places in the program that request memory, on the page: flame graphs and never-freed
sites."""

from html import escape

from heapwright.artefacts.profile.course import by_growth
from heapwright.artefacts.profile.document import Profile, Site
from heapwright.report.flame.component import flame_graph
from heapwright.report.pages.parts import table
from heapwright.report.profile import words

LISTED = 30
MOST_FRAMES = 24


def who_asks(profile: Profile) -> str:
    """The flame graph of bytes and of calls; nothing without stacks."""
    drawn = "" if profile.calls is None else flame_graph(profile.calls)
    if not drawn:
        return ""
    return (
        "<p>The width of a box is the amount that the function and its callees requested.</p>\n"
        + drawn
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
    more = len(shown) - LISTED
    return table(
        ("asked for by", "never freed", "blocks", "of its blocks", "called by"),
        rows,
        "figures places",
        "Sites of never-freed memory",
    ) + (f'<p class="dim">And {more:,} more sites.</p>' if more > 0 else "")


def _chain(site: Site) -> str:
    if not site.frames:
        return '<span class="dim">not named</span>'
    calls = "<br>".join(f"<code>{escape(frame)}</code>" for frame in site.frames[:MOST_FRAMES])
    deeper = len(site.frames) - MOST_FRAMES
    rest = f'<br><span class="dim">and {deeper:,} more</span>' if deeper > 0 else ""
    return f"<details><summary>{len(site.frames):,} calls</summary>{calls}{rest}</details>"
