# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The bar of a study: a table with a verdict a line, and the figures of each when opened."""

from html import escape

from heapwright.artefacts.study.acceptance import AcceptanceResult
from heapwright.report.pages.parts import opened, table
from heapwright.report.study.view import StudyView
from heapwright.report.study_acceptance import (
    BAR_HEADINGS,
    bar_cells,
    bar_explained,
    bar_said,
    place_text,
    ratio_text,
    worst_by_place,
)

CLASSES = {"met": "good", "not met": "bad", "cannot be told": "open"}


def bar(view: StudyView) -> str:
    """The section; empty if the study has no bar."""
    found = view.analysis.bar
    if found is None:
        return ""
    rows = [
        [*map(escape, bar_cells(line)[:-1]), _marked(line.verdict.value)] for line in found.lines
    ]
    said = f"{bar_said(found)} {bar_explained(found)}"
    parts = [
        f"<p>{_marked(found.verdict.value)}: {escape(said)}</p>",
        table(BAR_HEADINGS, rows, "figures bar", f"The bar of {found.level}"),
    ]
    return "".join([*parts, *map(_figures, found.lines)])


def _marked(text: str) -> str:
    return f'<span class="{CLASSES[text]}">{escape(text)}</span>'


def _figures(line: AcceptanceResult) -> str:
    """Of each place the best rival; where there is one place only, every rival."""
    shown = worst_by_place(line)
    if len(shown) <= 1:
        shown = line.figures
    if not shown:
        return ""
    rows = [
        [
            escape(place_text(each.rival, each.scope)),
            escape(ratio_text(each.ratio, each.low, each.high)),
            f"{each.blocks:,}",
        ]
        for each in shown
    ]
    inner = table(("rival", "ratio", "blocks"), rows, "figures")
    left_out = f"<p>{escape(line.why)}.</p>" if line.why else ""
    return opened(line.words, inner + left_out)
