# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether one level is worth it, as text: a line for each level that it is judged at.

The words are those of the page and of the results' README as well.
"""

import math

from rich.console import Console
from rich.text import Text

from heapwright.artefacts.study.substitution import (
    Judged,
    Overall,
    Rival,
    SubstitutionRow,
    SubstitutionTable,
    Worth,
)
from heapwright.base.blocks_needed import (
    MOST_BLOCKS_WORTH_NAMING,
    blocks_text,
    ratio_blocks_needed,
)
from heapwright.report.columns import Columns
from heapwright.report.profile.words import NOTHING


def choice_heading(found: SubstitutionTable) -> str:
    """The question."""
    return f"Is {found.custom} worth it?"


def choice_explained(found: SubstitutionTable) -> str:
    """What the figures are, in a sentence or two."""
    return (
        f"Ratios to {found.custom}; in parentheses their intervals, which hold together for a "
        f"whole line at {found.confidence:.0%}. Differences up to {found.margin:.0%} do not matter."
    )


def choice_next(found: SubstitutionTable) -> str:
    """What would decide the open levels; empty: all are decided."""
    needed = {
        row.level: _blocks_needed(row, found.margin)
        for row in found.rows
        if row.overall is Overall.UNKNOWN
    }
    if not needed:
        return ""
    words = ", ".join(f"{level} ({_blocks_text(blocks)})" for level, blocks in needed.items())
    return (
        f"To decide the open verdicts, if the figures stay: {words}. Set that many `blocks` in the "
        "[design] of a copy of the study, and run it on a quiet machine. Or run a scale that "
        "counts instead of timing."
    )


def _blocks_text(blocks: int | None) -> str:
    if blocks is None:
        return "no figure to judge by"
    if blocks > MOST_BLOCKS_WORTH_NAMING:
        return f"{blocks_text(blocks)}: the difference is about the margin"
    return blocks_text(blocks)


def _blocks_needed(row: SubstitutionRow, margin: float) -> int | None:
    """The blocks that would decide the level. The best rival decides."""
    found = []
    for judged in row.responses:
        best = judged.best
        if judged.worth is not Worth.UNKNOWN or best is None:
            continue
        if not best.ratio or not best.low or not best.high:
            continue
        limits = (1 - margin, 1 + margin)
        ends = (best.low, best.high)
        if needed := ratio_blocks_needed(best.blocks, best.ratio, ends, limits):
            found.append(min(needed, MOST_BLOCKS_WORTH_NAMING + 1))
    return math.ceil(max(found)) if found else None


def print_choice(console: Console, found: SubstitutionTable) -> None:
    """What each level is, with the verdict; below it the figures."""
    console.print(Text(choice_heading(found), style="bold"))
    if found.about:
        console.print(_about(found))
        console.print()
    console.print(_figures(found))
    console.print(Text(choice_explained(found)))
    if advice := choice_next(found):
        console.print(Text(advice))


def _about(found: SubstitutionTable) -> Columns:
    return Columns(
        (found.by, *found.about, "verdict"),
        [(row.level, *choice_about(row, found), row.overall.value) for row in found.rows],
        left=1 + len(found.about),
    )


def _figures(found: SubstitutionTable) -> Columns:
    return Columns(
        (found.by, *choice_headings(found), "verdict"),
        [(row.level, *choice_cells(row.responses), row.overall.value) for row in found.rows],
    )


def choice_about(row: SubstitutionRow, found: SubstitutionTable) -> tuple[str, ...]:
    """What is said of a level."""
    return tuple(row.about.get(key) or NOTHING for key in found.about)


def choice_headings(found: SubstitutionTable) -> tuple[str, ...]:
    """Of the figures: for each response the best rival, the other ways, and what it is worth."""
    first = found.rows[0].responses if found.rows else ()
    return tuple(
        f"{each.response}: {what}"
        for each in first
        for what in (
            "best other",
            *(rival.level for rival in (*each.also, *each.instead)),
            "here",
        )
    )


def choice_cells(judged: tuple[Judged, ...]) -> tuple[str, ...]:
    """The figures of a line."""
    return tuple(
        cell
        for each in judged
        for cell in (
            NOTHING if each.best is None else f"{each.best.level} {rival_text(each.best)}",
            *map(rival_text, (*each.also, *each.instead)),
            each.worth.value,
        )
    )


def rival_text(rival: Rival) -> str:
    """`1.21 (1.18 to 1.24)`."""
    if rival.ratio is None:
        return NOTHING
    ratio, low, high = (
        NOTHING if each is None else f"{each:.2f}" if each < 100 else f"{each:.1e}"
        for each in (rival.ratio, rival.low, rival.high)
    )
    return ratio if rival.low is None or rival.high is None else f"{ratio} ({low} to {high})"
