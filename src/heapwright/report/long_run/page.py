# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A long run as one page: its growths, memory over time, and the client's figures over time."""

from collections.abc import Iterator
from html import escape
from statistics import median

import altair as alt

from heapwright.artefacts.long_run.document import LongRun, Sample
from heapwright.base.quantities import size
from heapwright.report.long_run import words
from heapwright.report.long_run.summary import TOO_SHORT
from heapwright.report.pages.frame import frame
from heapwright.report.pages.parts import Charts, Data, Spec, contents, section, table
from heapwright.report.pages.vega import BLUE, GREY, ORANGE, finished
from heapwright.report.profile.page import STYLE
from heapwright.report.profile.words import unit_for

HEIGHT = 280
SHOWN = 40
SERIES = (("resident", GREY), ("live", BLUE), ("held", ORANGE))


def page(run: LongRun, explained: str = "") -> str:
    """The whole page; `explained` is the sentence of `heapwright explain` on the same run."""
    charts = Charts()
    parts = [
        ("growth", "How fast memory grows", growths(run)),
        ("memory", "Memory over time", _explained(explained) + memory(run, charts)),
        ("client", "The client over time", client(run, charts)),
        ("notes", "What to know of this run", notes(run)),
    ]
    shown = [part for part in parts if part[2]]
    body = "\n".join(
        (
            head(run),
            contents([(name, heading) for name, heading, _ in shown]),
            *(section(name, heading, inner) for name, heading, inner in shown),
        )
    )
    return frame(f"Long run of {words.load_of(run)}", body, charts, styles=(STYLE,))


def head(run: LongRun) -> str:
    """The program, the duration, and how it ended."""
    bad = "".join(f"<p>{escape(line)}</p>\n" for line in words.ending(run))
    environment = run.plan.environment
    return (
        "<h1>Does its memory grow?</h1>\n"
        f'<p class="command">{escape(" ".join(run.plan.command))}</p>\n'
        f'<p class="dim">{escape(words.load_of(run))}. {escape(words.extent(run))}. '
        f"{escape(environment.date)}, {escape(environment.cpu)}.</p>\n{bad}"
    )


def _explained(sentence: str) -> str:
    return f"<p><strong>{escape(sentence)}</strong></p>\n" if sentence else ""


def growths(run: LongRun) -> str:
    """The table of intervals, and their method."""
    if not run.growths:
        return f"<p>{escape(TOO_SHORT)}.</p>" if run.samples else "<p>Nothing was seen.</p>"
    rows = [
        (
            escape(each.series),
            escape(size(round(each.level_bytes))),
            escape(words.signed(each.bytes_per_hour)),
            escape(f"{words.signed(each.low)} to {words.signed(each.high)}"),
            f"{each.inflation:.2f}",
            escape(words.TOLD[each.direction]),
        )
        for each in run.growths
    ]
    columns = ("memory", "median", "in an hour", "interval", "inflation", "")
    return (
        f"<p>Medians of the slopes between all pairs of points (Theil, Sen), from "
        f"{run.settled_s / words.HOUR_S:.2g} h on, with {run.confidence:.0%} intervals. Their "
        "variance allows for the autocorrelation of the points (Hamed and Rao).</p>\n"
        + table(columns, rows, "figures", "growth of memory")
    )


def memory(run: LongRun, charts: Charts) -> str:
    """The picture, and the samples as a table."""
    if not run.samples:
        return ""
    every = -(-len(run.samples) // SHOWN)
    data = Data(
        ("hours", "resident", "live", "held", "processes"),
        [
            (f"{each.time_s / words.HOUR_S:.3g}", *map(_told, _values(each)), f"{each.processes}")
            for each in run.samples[::every]
        ],
    )
    told = f" Live bytes are reported by {escape(run.live_source)}." if run.live_source else ""
    return (
        "<p>Resident memory of all processes of the server, a shared page counted once; of it, "
        f"live memory, and memory that the allocator holds beyond it.{told}</p>\n"
        + charts.place("memory", memory_chart(run), "resident, live and held memory by time", data)
    )


def memory_chart(run: LongRun) -> Spec:
    """One line for each known series, and lines of the growths over the fitted time."""
    scale, unit = unit_for(max(each.resident_bytes for each in run.samples))
    values = [
        {"of": name, "x": each.time_s / words.HOUR_S, "y": value / scale}
        for each in run.samples
        for (name, _), value in zip(SERIES, _values(each), strict=True)
        if value is not None
    ]
    x = alt.X("x:Q", title="hours", axis=alt.Axis(tickCount=5, grid=False))
    y = alt.Y("y:Q", title=f"memory ({unit})", axis=alt.Axis(tickCount=5))
    colour = alt.Color(
        "of:N",
        title=None,
        scale=alt.Scale(domain=[name for name, _ in SERIES], range=[each for _, each in SERIES]),
        legend=alt.Legend(orient="top", columns=3),
    )
    lines = (
        alt.Chart(alt.InlineData(values=values))
        .mark_line(strokeWidth=1.2, clip=True, aria=False)
        .encode(x=x, y=y, color=colour)
    )
    fits = (
        alt.Chart(alt.InlineData(values=list(_fits(run, scale))))
        .mark_line(strokeDash=[6, 4], strokeWidth=1.5, aria=False)
        .encode(x=x, y=y, color=colour)
    )
    return finished(lines + fits, HEIGHT)


def _fits(run: LongRun, scale: float) -> Iterator[dict[str, object]]:
    """The ends of each growth's line, through the medians of what was fitted."""
    begin, end = run.settled_s / words.HOUR_S, run.samples[-1].time_s / words.HOUR_S
    late = [each for each in run.samples if each.time_s >= run.settled_s]
    places = {name: place for place, (name, _) in enumerate(SERIES)}
    for each in run.growths:
        place = places[each.series]
        known = [sample.time_s for sample in late if _values(sample)[place] is not None]
        middle = median(known) / words.HOUR_S
        for x in (begin, end):
            y = each.level_bytes + each.bytes_per_hour * (x - middle)
            yield {"of": each.series, "x": x, "y": y / scale}


def client(run: LongRun, charts: Charts) -> str:
    """Each response of the client, over time."""
    if not run.rounds:
        return ""
    titles = {each.measure: each for each in run.plan.program.figures}
    parts = []
    for name in run.rounds[0].responses:
        known = titles.get(name)
        title = name if known is None else f"{known.title} ({known.unit})"
        place = f"client-{name}"
        parts.append(charts.place(place, client_chart(run, name, title), f"{title} by time"))
    return "\n".join(parts)


def client_chart(run: LongRun, name: str, title: str) -> Spec:
    """A point for each run of the client, of the colour of the parameter that changes."""
    values = [
        {"x": each.end_s / words.HOUR_S, "y": each.responses[name], "of": each.value}
        for each in run.rounds
        if name in each.responses
    ]
    chart = alt.Chart(alt.InlineData(values=values)).mark_point(size=14, filled=True, aria=False)
    x = alt.X("x:Q", title="hours", axis=alt.Axis(tickCount=5, grid=False))
    y = alt.Y("y:Q", title=title, axis=alt.Axis(tickCount=5))
    if not run.plan.load.vary:
        return finished(chart.encode(x=x, y=y, color=alt.value(BLUE)), HEIGHT)
    return finished(chart.encode(x=x, y=y, color=alt.Color("of:N", title=None)), HEIGHT)


def notes(run: LongRun) -> str:
    """Notes on data that the figures lack."""
    if not run.notes:
        return ""
    return "<ul>" + "\n".join(f"<li>{escape(line)}</li>" for line in run.notes) + "</ul>"


def _values(sample: Sample) -> tuple[int | None, int | None, int | None]:
    return sample.resident_bytes, sample.live_bytes, sample.held_bytes


def _told(count: int | None) -> str:
    return "?" if count is None else size(count)
