# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A gate's answer for a comment or a job's summary: Markdown, and a picture in SVG.

Services that show Markdown show no picture that is a file of the job. So the Markdown has the
picture as text: each figure with its interval, and the margin shaded.
"""

from collections.abc import Iterator

import altair as alt

from heapwright.artefacts.gate.document import Change, Gate, Shift
from heapwright.report.gate import HEADINGS, cells
from heapwright.report.pages.export import svg_of
from heapwright.report.pages.vega import BLUE, GREEN, GREY, VERMILION, finished

COLUMNS = 48
ROW = 26
COLOURS = {"worse": VERMILION, "better": GREEN, "the same": BLUE, "undecided": GREY}


def gate_markdown(gate: Gate) -> str:
    """The sentence, the picture as text, the table and the notes."""
    parts = [f"**{gate.sentence}**"]
    if drawn := _drawn(gate):
        parts.append("\n".join(("```text", *_strips(gate, drawn), "```")))
    rows = (HEADINGS, ("---",) * len(HEADINGS), *map(cells, gate.shifts))
    parts.append("\n".join(f"| {' | '.join(map(_cell, row))} |" for row in rows))
    parts.append("\n".join(f"- {note}" for note in gate.notes))
    return "\n\n".join(filter(None, parts)) + "\n"


def gate_svg(gate: Gate) -> str:
    """A row for each figure: the ratio, its interval, and the margin as a band."""
    drawn = _drawn(gate)
    low, high = _extent(gate, drawn)
    rows = [
        {
            "figure": f"{shift.treatment}: {shift.response}",
            "ratio": shift.ratio,
            "low": low if shift.low is None else shift.low,
            "high": high if shift.high is None else shift.high,
            "change": _kind(shift),
        }
        for shift in drawn
    ]
    scale = alt.Scale(domain=[low, high], zero=False)
    x = alt.X("ratio:Q", scale=scale, title="current over baseline; the band is the margin")
    y = alt.Y("figure:N", sort=None, title=None, axis=alt.Axis(labelLimit=240))
    kinds = list(dict.fromkeys(_kind(shift) for shift in drawn))
    colour = alt.Color(
        "change:N",
        title=None,
        scale=alt.Scale(domain=kinds, range=[COLOURS[kind] for kind in kinds]),
        legend=alt.Legend(orient="bottom"),
    )
    figures = alt.Chart(alt.InlineData(values=rows))
    within = alt.InlineData(values=[{"ratio": 1 - gate.margin, "high": 1 + gate.margin}])
    layers = [
        alt.Chart(within).mark_rect(color=GREY, opacity=0.2).encode(x=x, x2="high:Q"),
        alt.Chart(within).mark_rule(color=GREY).encode(x=alt.XDatum(1, scale=scale)),
        figures.mark_rule(strokeWidth=2).encode(
            x=alt.X("low:Q", scale=scale), x2="high:Q", y=y, color=colour
        ),
        figures.mark_point(filled=True, size=70, opacity=1).encode(x=x, y=y, color=colour),
    ]
    whole = alt.layer(*layers).properties(title=alt.Title(gate.sentence, fontSize=12, limit=640))
    return svg_of(finished(whole, alt.Step(ROW)))


def _drawn(gate: Gate) -> list[Shift]:
    return [shift for shift in gate.shifts if shift.ratio is not None]


def _extent(gate: Gate, drawn: list[Shift]) -> tuple[float, float]:
    """The ends of the axis: all intervals, and the margin with as much on both sides."""
    ends = [1 - 2 * gate.margin, 1 + 2 * gate.margin]
    for shift in drawn:
        ends += [end for end in (shift.ratio, shift.low, shift.high) if end is not None]
    return min(ends), max(ends)


def _kind(shift: Shift) -> str:
    if shift.change.is_worse:
        return "worse"
    if shift.change.is_better:
        return "better"
    return "the same" if shift.change is Change.SAME else "undecided"


def _strips(gate: Gate, drawn: list[Shift]) -> Iterator[str]:
    """The picture as text, and its axis in changes."""
    low, high = _extent(gate, drawn)
    names = [f"{shift.treatment}  {shift.response}" for shift in drawn]
    wide = max(map(len, names))

    def column(ratio: float | None, unbounded: float) -> int:
        along = ((unbounded if ratio is None else ratio) - low) / (high - low)
        return round(along * (COLUMNS - 1))

    inside = range(column(1 - gate.margin, low), column(1 + gate.margin, high) + 1)
    for name, shift in zip(names, drawn, strict=True):
        strip = ["░" if place in inside else " " for place in range(COLUMNS)]
        strip[column(1, 1)] = "│"
        first, last = column(shift.low, low), column(shift.high, high)
        strip[first : last + 1] = "─" * (last + 1 - first)
        strip[first] = "◄" if shift.low is None else "├"
        strip[last] = "►" if shift.high is None else "┤"
        strip[column(shift.ratio, 1)] = "o"
        yield f"{name:<{wide}}  {''.join(strip)}".rstrip()
    axis = [" "] * (COLUMNS + 8)
    for ratio in (high, low, 1.0):
        text = "0" if ratio == 1 else f"{100 * (ratio - 1):+.0f} %"
        at = column(ratio, 1)
        axis[at : at + len(text)] = text
    yield f"{'':<{wide}}  {''.join(axis)}".rstrip()


def _cell(text: str) -> str:
    return text.replace("|", r"\|")
