# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Sensitivity to the level: a table with a verdict a line, and every ratio when opened."""

from html import escape

from heapwright.artefacts.study.sensitivity import (
    SensitivityOfResponse,
    SensitivityRow,
    SensitivityTable,
    SensitivityVerdict,
)
from heapwright.report.pages.parts import opened, table
from heapwright.report.study.view import StudyView
from heapwright.report.study_sensitivity import (
    care_cell,
    care_counted,
    care_explained,
    care_heading,
    care_headings,
    care_shown,
    shift_text,
)

CLASSES = {
    SensitivityVerdict.YES: "bad",
    SensitivityVerdict.NO: "good",
    SensitivityVerdict.UNKNOWN: "open",
}


def sensitivity_table(view: StudyView) -> str:
    """The section; empty if the study does not ask."""
    found = view.analysis.care
    if found is None or not found.rows:
        return ""
    rows = [_row(row, found) for row in found.rows]
    return (
        f"<p>{escape(care_counted(found))}</p><p>{escape(care_explained(found))}</p>"
        + table(care_headings(found), rows, "figures", care_heading(found))
        + _every(found)
    )


def _row(row: SensitivityRow, found: SensitivityTable) -> list[str]:
    there = {each.response: each for each in row.responses}
    cells = [_cell(there[name]) if name in there else "" for name in care_shown(found)]
    return [escape(row.level), *cells, _marked(row.cares)]


def _cell(found: SensitivityOfResponse) -> str:
    text = escape(care_cell(found))
    return f"<strong>{text}</strong>" if found.cares is SensitivityVerdict.YES else text


def _marked(verdict: SensitivityVerdict) -> str:
    return f'<span class="{CLASSES[verdict]}">{escape(verdict.value)}</span>'


def _every(found: SensitivityTable) -> str:
    """Every figure that the verdicts are from."""
    rows = [
        [
            escape(row.level),
            escape(of.response),
            escape(shift.level),
            escape(shift_text(shift)),
            f"{shift.runs:,}",
            escape(of.why or "-"),
        ]
        for row in found.rows
        for of in row.responses
        for shift in of.shifts
    ]
    headings = (found.by, "response", found.factor, "ratio", "runs", "because")
    return opened("Every ratio", table(headings, rows, "figures"))
