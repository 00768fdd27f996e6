# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A history as one page: the changes, and a chart for each series."""

from collections.abc import Sequence
from html import escape

import altair as alt

from heapwright.artefacts.history.model import Change, Series
from heapwright.report.history.summary import change_text, point_text, value_text
from heapwright.report.pages.frame import frame
from heapwright.report.pages.parts import Charts, Data, Spec, section
from heapwright.report.pages.vega import BLUE, ORANGE, finished
from heapwright.report.profile.page import STYLE

HEIGHT = 200


def page(name: str, series: Sequence[Series], found: Sequence[Change], notes: Sequence[str]) -> str:
    """The whole page."""
    charts = Charts()
    told = "".join(f"<li>{escape(change_text(each))}</li>\n" for each in found)
    parts = [section("changes", "Changes", f"<ul>{told}</ul>" if told else "<p>None.</p>")]
    for number, each in enumerate(series):
        own = [change for change in found if change.series is each]
        kind = f"ratio to {each.relative_to}" if each.relative_to else each.unit
        heading = f"{each.response} of {each.treatment} ({kind})"
        data = Data(
            ("document", "revision", "value"),
            [(at.file, point_text(at), value_text(each, at.value)) for at in each.points],
        )
        command = f'<p class="command">{escape(" ".join(each.command))}</p>\n'
        place = charts.place(f"series-{number}", chart(each, own), heading, data)
        parts.append(section(f"figure-{number}", heading, command + place))
    if notes:
        parts.append(section("notes", "Notes", "".join(f"<p>{escape(each)}</p>" for each in notes)))
    body = f"<h1>History of {escape(name)}</h1>\n" + "\n".join(parts)
    return frame(f"History of {name}", body, charts, styles=(STYLE,))


def chart(series: Series, found: Sequence[Change]) -> Spec:
    """The values in the order of the documents, and a rule at each change."""
    values = [
        {"x": number, "y": point.value, "of": point_text(point)}
        for number, point in enumerate(series.points, 1)
    ]
    x = alt.X("x:Q", title="document", axis=alt.Axis(tickMinStep=1, grid=False))
    y = alt.Y("y:Q", title=series.response, scale=alt.Scale(zero=False))
    base = alt.Chart(alt.InlineData(values=values)).encode(x=x, y=y, tooltip="of:N")
    drawn = base.mark_line(aria=False, color=BLUE) + base.mark_point(
        aria=False, filled=True, color=BLUE, size=24
    )
    if found:
        places = [{"x": each.found.at + 0.5} for each in found]
        rules = (
            alt.Chart(alt.InlineData(values=places))
            .mark_rule(aria=False, color=ORANGE, strokeWidth=2)
            .encode(x="x:Q")
        )
        drawn = drawn + rules
    return finished(drawn, HEIGHT)
