# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Two profiles as one page: the changed figures, then both on the same axes."""

from collections.abc import Callable, Sequence
from html import escape

from heapwright.artefacts.profile.document import Profile
from heapwright.report.pages.frame import frame
from heapwright.report.pages.parts import Charts, beside, contents, section, table
from heapwright.report.profile import heap_map, words
from heapwright.report.profile.changes import (
    Change,
    Moved,
    figure_changes,
    site_changes,
    size_changes,
)
from heapwright.report.profile.curves import Named, Series
from heapwright.report.profile.lifetimes import lifetimes, long_lived
from heapwright.report.profile.memory import live_memory, taken_over_live
from heapwright.report.profile.page import STYLE, Section
from heapwright.report.profile.requests import routines, sizes
from heapwright.report.profile.threads import hand_overs

LISTED = 20


def comparison_page(before: Profile, after: Profile, names: tuple[str, str]) -> str:
    """The whole page."""
    charts = Charts()
    if names[0] == names[1]:
        names = names[0], f"{names[1]} (2)"
    series = (Named(names[0], before), Named(names[1], after))
    parts = [part for part in sections(series, charts) if part[2]]
    body = "\n".join(
        (
            head(series),
            contents([(name, heading) for name, heading, _ in parts]),
            *(section(name, heading, inner) for name, heading, inner in parts),
        )
    )
    title = f"What changed: {names[0]} and {names[1]}"
    return frame(title, body, charts, styles=(STYLE, heap_map.STYLE), scripts=(heap_map.SCRIPT,))


def sections(series: Series, charts: Charts) -> list[Section]:
    """Name, heading and HTML of each part; empty where the profiles hold nothing for it."""
    before, after = (each.profile for each in series)
    return [
        ("figures", "What changed", figures(figure_changes(before, after), series)),
        ("memory", "Live memory over time", live_memory(series, charts)),
        (
            "sizes",
            "Sizes",
            sizes(series, charts) + moved("size", size_changes(before, after), series),
        ),
        ("routines", "Routines", routines(series, charts)),
        ("lifetimes", "Lifetimes", lifetimes(series, charts)),
        ("long-lived", "Long-lived allocations", long_lived(series, charts)),
        ("threads", "Threads", _each(series, hand_overs)),
        ("map", "Address space over time", _maps(series)),
        ("system", "The system's view", taken_over_live(series, charts)),
        (
            "sites",
            "Call sites that request memory",
            moved("asked for by", site_changes(before, after, leaked=False), series),
        ),
        (
            "leaks",
            "Never freed",
            moved("asked for by", site_changes(before, after, leaked=True), series),
        ),
    ]


def head(series: Series) -> str:
    lines = "\n".join(
        f'<p class="command"><b>{escape(each.name)}</b> '
        f"{escape(words.command_of(each.profile))}</p>"
        for each in series
    )
    return f"<h1>What changed in the requests to malloc?</h1>\n{lines}"


def figures(changes: Sequence[Change], series: Series) -> str:
    """Every figure of both; bold if repetitions show a real change."""
    known = any(change.beyond is not None for change in changes)

    def cells(change: Change) -> list[str]:
        figure = change.figure
        text = escape(change.text)
        if text:
            kind = _direction(change.difference) if figure.kind in ("count", "memory") else ""
            kind += " differs" if change.beyond else ""
            text = f'<span class="{kind.strip()}">{text}</span>'
        return [
            escape(figure.name),
            escape(figure.text(change.before)),
            escape(figure.text(change.after)),
            text,
            escape(figure.aspect),
        ]

    headings = ("figure", *(each.name for each in series), "change", "aspect")
    told = (
        "<p>Figures are means of the repetitions. Underlined: the ranges over the repetitions do "
        "not overlap.</p>"
        if known
        else '<p class="dim">A profile is from a single run, so chance and real changes cannot be '
        "separated. Repeat both characterisations (-n).</p>"
    )
    patterns = [words.pattern_of(each.profile) for each in series]
    pattern = (
        f"<p>Long-lived allocations: <b>{escape(patterns[0])}</b> in {escape(series[0].name)}, "
        f"<b>{escape(patterns[1])}</b> in {escape(series[1].name)}.</p>"
        if patterns[0] != patterns[1]
        else ""
    )
    rows = [cells(change) for change in changes]
    return told + pattern + table(headings, rows, "figures", "Figures of both profiles")


def _direction(difference: float) -> str:
    return "more" if difference > 0 else "less"


def moved(what: str, changes: Sequence[Moved], series: Series) -> str:
    """The entries with more or fewer bytes; the largest differences first."""
    if not changes:
        return ""
    rows = [
        [
            f"<code>{escape(each.name)}</code>",
            escape(words.memory(each.before)),
            escape(words.memory(each.after)),
            f'<span class="{_direction(each.difference)}">'
            f"{escape(words.signed(words.memory(abs(each.difference)), each.difference))}</span>",
        ]
        for each in changes[:LISTED]
    ]
    more = len(changes) - LISTED
    return table((what, *(each.name for each in series), "change"), rows, "figures places") + (
        f'<p class="dim">And {more:,} more.</p>' if more > 0 else ""
    )


def _each(series: Series, part: Callable[[Profile], str]) -> str:
    return beside(*(f"<h3>{escape(each.name)}</h3>\n{part(each.profile)}" for each in series))


def _maps(series: Series) -> str:
    shown = [
        f"<h3>{escape(each.name)}</h3>\n{heap_map.heap_map(drawn, f'heap-map-{place}')}"
        for place, each in enumerate(series)
        if (drawn := each.profile.heap_map) is not None and drawn.rows and drawn.times_s
    ]
    return beside(*shown)
