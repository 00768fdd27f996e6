# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The style of charts on every page. The page sets their ink, which is light or dark."""

from __future__ import annotations

import altair as alt

from heapwright.report.pages.parts import Spec

BLUE, ORANGE, VERMILION, GREEN, SKY, PINK = (
    "#0072b2",
    "#e69f00",
    "#d55e00",
    "#009e73",
    "#56b4e9",
    "#cc79a7",
)
"""Colours that colour-blind readers can distinguish (after Okabe and Ito), on white and on
black."""
GREY = "#888888"


def finished(chart: alt.Chart | alt.LayerChart | alt.FacetChart, height: float | alt.Step) -> Spec:
    """As wide as its container."""
    whole = (
        chart.properties(width="container", height=height)
        .configure_view(stroke=None)
        .configure_axis(labelFontSize=10, titleFontSize=10, titleFontWeight="normal")
        .configure(font="system-ui, sans-serif", autosize=alt.AutoSizeParams(type="fit-x"))
    )
    return spec_of(whole)


def spec_of(whole: alt.SchemaBase) -> Spec:
    """The chart as data, compared with its schema where altair's checks are on."""
    return dict(whole.to_dict(validate=alt.utils.schemapi.DEBUG_MODE))
