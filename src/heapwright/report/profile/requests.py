# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Requests on the page: sizes and routines."""

from heapwright.artefacts.profile.document import Profile
from heapwright.report.pages.parts import Charts, Data, beside
from heapwright.report.profile import charts as draw
from heapwright.report.profile import words
from heapwright.report.profile.curves import Series

TOP = 10
LISTED = 30


def sizes(series: Series, charts: Charts) -> str:
    """Cumulative distribution, histogram; of one profile also its commonest sizes."""
    told = "; ".join(
        f"{each.name} {each.profile.sizes.distinct:,} distinct sizes, the ten commonest make "
        f"{words.share(each.profile.sizes.top10_share)} of the allocations".strip()
        for each in series
    )
    single = series[0].profile if len(series) == 1 else None
    cumulative = charts.place(
        "cumulative-sizes",
        draw.cumulative_sizes(series),
        f"Cumulative distribution of sizes: {told}",
        None if single is None else _cumulative(single),
    )
    histogram = charts.place(
        "size-histogram", draw.size_histogram(series), "Sizes by powers of two"
    )
    top = ""
    if single is not None and single.sizes.top:
        top = "<h3>Top sizes</h3>" + charts.place(
            "top-sizes", draw.top_sizes(single, TOP), "The ten commonest sizes", _top(single)
        )
    return f"<p>{words.escaped(told)}.</p>\n" + beside(
        "<h3>Cumulative distribution</h3>" + cumulative,
        "<h3>By powers of two</h3>" + histogram,
        top,
    )


def _cumulative(profile: Profile) -> Data:
    points = profile.sizes.cumulative
    shown = [points[at] for at in draw.thinned(len(points), LISTED)]
    return Data(
        ("up to", "share of the allocations"),
        [(f"{size:,} B", words.share(part)) for size, part in shown],
    )


def _top(profile: Profile) -> Data:
    return Data(
        ("size", "allocations", "share", "bytes"),
        [
            (
                f"{each.size:,} B",
                words.count(each.count),
                words.share(each.share),
                words.memory(each.bytes),
            )
            for each in profile.sizes.top[:LISTED]
        ],
    )


def routines(series: Series, charts: Charts) -> str:
    """The mix; of one profile also every entry point, and what realloc did."""
    single = series[0].profile if len(series) == 1 else None
    told = "; ".join(
        " ".join(
            (
                each.name,
                ", ".join(
                    f"{name} {words.share(getattr(each.profile.routines, name).share)}"
                    for name in draw.ROUTINES
                ),
            )
        ).strip()
        for each in series
    )
    parts = [
        "<p>operator new counts as malloc.</p>",
        charts.place(
            "routines",
            draw.routines(series),
            f"Routines: {told}",
            None if single is None else _entry_points(single),
        ),
    ]
    reallocs = None if single is None else single.routines.reallocs
    if reallocs is not None and any(value for _, value in reallocs):
        shown = ", ".join(
            f"{value:,} {name.replace('_', ' ')}" for name, value in reallocs if value
        )
        parts.append(f"<p>What calls of realloc did: {words.escaped(shown)}.</p>")
    return "\n".join(parts)


def _entry_points(profile: Profile) -> Data:
    return Data(
        ("entry point", "calls", "bytes", "failed"),
        [
            (name, words.count(each.calls), words.memory(each.bytes), words.count(each.failed))
            for name, each in profile.routines.detail.items()
        ],
    )
