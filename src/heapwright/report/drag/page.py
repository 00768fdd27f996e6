# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Drag as one page: the figures, the two curves over allocation time, and the sites."""

from html import escape

import altair as alt

from heapwright.artefacts.drag.document import Drag, Site
from heapwright.base.quantities import several
from heapwright.report.drag import words
from heapwright.report.pages.frame import frame
from heapwright.report.pages.parts import Charts, Data, Spec, contents, section, table
from heapwright.report.pages.vega import BLUE, ORANGE, finished
from heapwright.report.profile.page import STYLE
from heapwright.report.profile.words import memory, share, unit_for

LISTED = 50
MOST_ROWS = 200
HEIGHT = 280
NAMES = ("held", "needed")


def page(found: Drag) -> str:
    """The whole page."""
    charts = Charts()
    parts = [
        ("curves", "Held and needed", curves(found, charts)),
        ("sites", "Call sites that hold memory after its last use", sites(found)),
        ("meaning", "What the figures mean", meaning()),
        ("notes", "What to know of this run", notes(found)),
    ]
    shown = [part for part in parts if part[2]]
    body = "\n".join(
        (
            head(found),
            contents([(name, heading) for name, heading, _ in shown]),
            *(section(name, heading, inner) for name, heading, inner in shown),
        )
    )
    return frame(f"Drag of {words.command_of(found)}", body, charts, styles=(STYLE,))


def head(found: Drag) -> str:
    """The observed command, and the figures."""
    tiles = (
        ("total drag", words.ratio(found.total_drag)),
        ("peak increase", words.increase(found.peak_increase)),
        ("held at most", memory(found.peak_held.bytes)),
        ("needed at most", memory(found.peak_needed.bytes)),
        ("allocated", memory(found.allocated_bytes)),
        ("objects", f"{found.objects:,}"),
        ("never freed", memory(found.never_freed.bytes)),
        ("never accessed", memory(found.never_accessed.bytes)),
    )
    told = "\n".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in tiles
    )
    origin = found.provenance
    facts = [origin.began, f"accesses seen by {origin.means}"]
    return (
        "<h1>How much longer than it is needed is memory held?</h1>\n"
        f'<p class="command">{escape(words.command_of(found))}</p>\n'
        f'<p class="dim">{escape(". ".join(fact for fact in facts if fact))}.</p>\n'
        f'<dl class="tiles">\n{told}\n</dl>'
    )


def curves(found: Drag, charts: Charts) -> str:
    """The two curves; the area between them is the drag."""
    if not found.curves.allocated:
        return "<p>It allocated nothing.</p>"
    every = -(-len(found.curves.allocated) // MOST_ROWS)
    triples = list(zip(found.curves.allocated, found.curves.held, found.curves.needed, strict=True))
    data = Data(
        ("allocated", *NAMES),
        [(memory(at), memory(held), memory(needed)) for at, held, needed in triples[::every]],
    )
    return (
        "<p>The upper curve is what the program held, the lower what it would have held if it had "
        "freed each object after its last use. Between them lies the drag.</p>\n"
        + charts.place(
            "curves", curves_chart(found), "Memory held and needed, over allocation time", data
        )
    )


def curves_chart(found: Drag) -> Spec:
    """As areas, the needed before the held."""
    time, time_unit = unit_for(found.allocated_bytes)
    size, unit = unit_for(found.peak_held.bytes)
    series = zip(NAMES, (found.curves.held, found.curves.needed), strict=True)
    values = [
        {"of": name, "x": at / time, "y": value / size}
        for name, curve in series
        for at, value in zip(found.curves.allocated, curve, strict=True)
    ]
    x_title, y_title = f"allocated so far ({time_unit})", f"memory ({unit})"
    return finished(
        alt.Chart(alt.InlineData(values=values))
        .mark_area(
            line={"strokeWidth": 1.5},
            fillOpacity=0.25,
            interpolate="step-after",
            clip=True,
            aria=False,
        )
        .encode(
            x=alt.X("x:Q", title=x_title, axis=alt.Axis(tickCount=5, grid=False)),
            y=alt.Y("y:Q", title=y_title, axis=alt.Axis(tickCount=5), stack=None),
            color=alt.Color(
                "of:N",
                title=None,
                scale=alt.Scale(domain=list(NAMES), range=[ORANGE, BLUE]),
                legend=alt.Legend(orient="top", columns=2),
            ),
            tooltip=[
                "of:N",
                alt.Tooltip("x:Q", title=x_title, format=".4~g"),
                alt.Tooltip("y:Q", title=y_title, format=".4~g"),
            ],
        ),
        HEIGHT,
    )


def sites(found: Drag) -> str:
    """The sites of the most drag."""
    shown = words.dragging(found)
    if not shown:
        return "<p>No memory was held after its last use.</p>"
    rows = [_row(site) for site in shown[:LISTED]]
    more = max(len(shown) - LISTED, 0) + found.other_sites.sites
    return table(
        ("allocated by", "of the drag", "idle for", "objects", "bytes", "never accessed", "chain"),
        rows,
        "figures places",
        "Sites by drag",
    ) + (f'<p class="dim">And {more:,} more sites.</p>' if more > 0 else "")


def _row(site: Site) -> tuple[str, ...]:
    calls = "<br>".join(f"<code>{escape(frame)}</code>" for frame in site.frames)
    return (
        f"<code>{escape(words.chain_of(site.frames, callers=1))}</code>",
        escape(share(site.share)),
        escape(memory(site.idle_bytes)),
        f"{site.objects:,}",
        escape(memory(site.bytes)),
        escape(several(site.never_accessed.objects, "object")),
        f"<details><summary>{len(site.frames):,} calls</summary>{calls}</details>",
    )


def meaning() -> str:
    """The definitions, and published figures."""
    published = ", ".join(f"{name} {value}" for name, value in words.PUBLISHED)
    return (
        "<p>Time is allocation time: the bytes allocated so far. Total drag is the area below the "
        "upper curve over that below the lower one; 1 is perfect. The peak's increase compares "
        "their highest points. The idle time of a site is a mean over the bytes of its objects. "
        "It is the allocation time between their last use and their end.</p>\n"
        f"<p>Published for programs with regions: {escape(published)}, others near 1; programs "
        "without regions had 1.0 to 1.1.</p>"
    )


def notes(found: Drag) -> str:
    """Notes on data that the figures lack."""
    lines = list(words.remarks(found))
    return (
        "<ul>" + "\n".join(f"<li>{escape(line)}</li>" for line in lines) + "</ul>" if lines else ""
    )
