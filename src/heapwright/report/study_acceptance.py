# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The bar of a study as text: a line for each requirement, with its verdict.

The words are those of the page and of the results' README as well.
"""

from rich.console import Console
from rich.text import Text

from heapwright.artefacts.study.acceptance import (
    AcceptanceFigure,
    AcceptanceResult,
    AcceptanceTable,
)
from heapwright.report.columns import Columns
from heapwright.report.profile.words import NOTHING

BAR_HEADINGS = ("asked", "of", "limit", "here", "worst", "verdict")


def bar_heading(found: AcceptanceTable) -> str:
    """The question."""
    return f"Does {found.level} meet its bar?"


def bar_explained(found: AcceptanceTable) -> str:
    """What the figures are, in a sentence or two."""
    return (
        f"Ratios to the best of {len(found.rivals)} rivals ({', '.join(found.rivals)}) where they "
        f"are worst; in parentheses the interval of the worst, at {found.confidence:.0%}."
    )


def bar_said(found: AcceptanceTable) -> str:
    """The whole in a sentence: `granary: 2 of 3 lines of the bar are met: not met.`"""
    met = sum(line.verdict.value == "met" for line in found.lines)
    return f"{found.level}: {met} of {len(found.lines)} lines of the bar are met."


def print_bar(console: Console, found: AcceptanceTable) -> None:
    """A line for each line of the bar; below it what takes no part."""
    console.print(Text(bar_heading(found), style="bold"))
    console.print(Columns(BAR_HEADINGS, [bar_cells(line) for line in found.lines], left=2))
    console.print(Text(bar_said(found)))
    console.print(Text(bar_explained(found)))
    for words in dict.fromkeys(line.why for line in found.lines if line.why):
        console.print(Text(f"- {words}"))


def bar_cells(line: AcceptanceResult) -> tuple[str, ...]:
    """The cells of a line."""
    return (
        line.words,
        line.response,
        line.asked,
        ratio_text(line.ratio, line.low, line.high),
        place_text(line.rival, line.scope),
        line.verdict.value,
    )


def worst_by_place(line: AcceptanceResult) -> tuple[AcceptanceFigure, ...]:
    """Of each place the figure against the best rival there, the worst place first."""
    first: dict[tuple[str, ...], AcceptanceFigure] = {}
    for figure in line.figures:
        first.setdefault(tuple(figure.scope.values()), figure)
    return tuple(first.values())


def place_text(rival: str, scope: dict[str, str]) -> str:
    """`mimalloc at larson, 4`."""
    if not rival:
        return NOTHING
    return f"{rival} at {', '.join(scope.values())}" if scope else rival


def ratio_text(ratio: float | None, low: float | None, high: float | None) -> str:
    """`0.962 (0.951 to 0.974)`."""
    if ratio is None:
        return NOTHING
    return f"{ratio:.3f}" + ("" if low is None or high is None else f" ({low:.3f} to {high:.3f})")
