# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Sensitivity to the level of a factor, as text: a line for each level at which it is judged.

The words are those of the page and of the results' README as well.
"""

from rich.console import Console
from rich.text import Text

from heapwright.artefacts.study.sensitivity import (
    SensitivityOfResponse,
    SensitivityRow,
    SensitivityTable,
    SensitivityVerdict,
    Shift,
)
from heapwright.report.columns import Columns
from heapwright.report.profile.words import NOTHING


def care_heading(found: SensitivityTable) -> str:
    """The question."""
    return f"Which {found.by} cares which {found.factor} it has?"


def care_explained(found: SensitivityTable) -> str:
    """What the figures are, in a sentence or two."""
    return (
        f"Ratios to {found.baseline}, of the best {found.factor} and of the worst; in parentheses "
        f"their intervals, which hold together for a whole line at {found.confidence:.0%}. "
        f"Differences up to {found.margin:.0%} do not matter. Bold: a whole interval lies beyond "
        f"that; =: all of them lie within; without a mark: undecided.{_beside(found)}"
    )


def _beside(found: SensitivityTable) -> str:
    if not found.beside:
        return ""
    return f" {' and '.join(found.beside)} do not decide."


def care_counted(found: SensitivityTable) -> str:
    """How often which verdict was given, with the names."""
    parts = []
    for verdict in SensitivityVerdict:
        names = [row.level for row in found.rows if row.cares is verdict]
        if names:
            parts.append(f"{verdict.value} ({len(names)}): {', '.join(names)}")
    return "; ".join(parts) + "."


def care_shown(found: SensitivityTable) -> tuple[str, ...]:
    """The responses that have a column."""
    return (*found.responses, *found.beside)


def care_headings(found: SensitivityTable) -> tuple[str, ...]:
    """The level, a column for each response, the verdict."""
    return (found.by, *care_shown(found), "verdict")


def care_cells(row: SensitivityRow, found: SensitivityTable, *, bold: str = "") -> tuple[str, ...]:
    """The cells of a line; a response that there is not is empty."""
    there = {each.response: each for each in row.responses}
    cells = (care_cell(there[name], bold) if name in there else "" for name in care_shown(found))
    return (row.level, *cells, row.cares.value)


def care_cell(found: SensitivityOfResponse, bold: str = "") -> str:
    """`jemalloc 0.86 (0.81 to 0.91) … hoard 1.10 (1.02 to 1.19)`, with its mark."""
    if not found.shifts:
        return NOTHING
    ends = found.shifts if len(found.shifts) == 1 else (found.shifts[0], found.shifts[-1])
    said = " … ".join(f"{each.level} {shift_text(each)}" for each in ends)
    if found.cares is SensitivityVerdict.YES:
        return f"{bold}{said}{bold}"
    return f"= {said}" if found.cares is SensitivityVerdict.NO else said


def shift_text(shift: Shift) -> str:
    """`0.86 (0.81 to 0.91)`."""
    if shift.low is None or shift.high is None:
        return _number(shift.ratio)
    return f"{_number(shift.ratio)} ({_number(shift.low)} to {_number(shift.high)})"


def _number(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:.1e}"


def print_care(console: Console, found: SensitivityTable) -> None:
    """The verdicts, each with its sentence."""
    console.print(Text(care_heading(found), style="bold"))
    console.print(Columns((found.by, "verdict"), [_said(row) for row in found.rows], left=2))
    console.print(Text(care_counted(found)))
    console.print(Text(f"Ratios are to {found.baseline}; `heapwright report` has every interval."))


def _said(row: SensitivityRow) -> tuple[str, str]:
    return row.level, row.words
