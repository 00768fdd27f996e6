# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The taxonomy on a terminal, for any width, with and without colour.

One line an allocator where that fits, else a few short ones; nothing is cut. A judgement that
differs from the literature has a `*`. The published judgement and the reason are below.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.taxonomy.document import Column, Failure, Row, Taxonomy
from heapwright.report.taxonomy.words import (
    NOTHING,
    blowup_text,
    figure,
    interval,
    sharing_text,
    tick,
)

HEADINGS = ("Allocator", "Fast", "Scalable", "False sharing", "Blowup")
FIGURES = ("Time", "Instr.", "Speedup", "Hand-overs", "Lost", "Per thread")
GAP = 2
MARK = "*"


@dataclass(frozen=True, slots=True)
class Line:
    """One allocator as text."""

    label: str
    ticks: tuple[str, ...]
    figures: tuple[str, ...]
    failed: bool

    @property
    def cells(self) -> tuple[str, ...]:
        return (self.label, *self.ticks, *self.figures)


def line_of(row: Row) -> Line:
    """The cells of one row; failures do not hide what could be measured."""
    differs = {disagreement.column for disagreement in row.disagreements}

    def marked(text: str, column: Column) -> str:
        return text + MARK if column in differs else text

    ticks = (
        marked(tick(row.fast), "fast"),
        marked(tick(row.scalable), "scalable"),
        marked(sharing_text(row), "avoids false sharing"),
        marked(blowup_text(row.blowup), "blowup"),
    )
    traffic = row.scaling.traffic
    figures = (
        interval(row.speed.time),
        NOTHING if row.speed.instructions is None else figure(row.speed.instructions),
        interval(row.scaling.speedup),
        NOTHING if traffic is None else figure(traffic.value),
        interval(row.growth.lost_per_byte),
        interval(row.growth.per_thread),
    )
    return Line(row.allocator, ticks, figures, bool(row.failures))


class TaxonomyTable:
    """The table as something that Rich can print: whole, in two parts, or as short lines."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.lines = [line_of(row) for row in rows]

    def __rich_console__(self, _console: Console, options: ConsoleOptions) -> RenderResult:
        whole = self._columns((*HEADINGS, *FIGURES), [line.cells for line in self.lines])
        if self._fits(whole, options):
            yield from whole
            return
        narrow = self._columns(HEADINGS, [line.cells[: len(HEADINGS)] for line in self.lines])
        figures = self._columns(
            (HEADINGS[0], *FIGURES), [(line.label, *line.figures) for line in self.lines]
        )
        if self._fits(narrow, options) and self._fits(figures, options):
            yield from narrow
            yield Text("")
            yield from figures
            return
        yield from self._short()

    @staticmethod
    def _fits(lines: Sequence[Text], options: ConsoleOptions) -> bool:
        return max(cell_len(line.plain) for line in lines) <= options.max_width

    def _columns(self, headings: Sequence[str], cells: Sequence[Sequence[str]]) -> list[Text]:
        rows = [headings, *cells]
        widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
        lines = []
        for number, row in enumerate(rows):
            padded = [set_cell_size(*pair) for pair in zip(row, widths, strict=True)]
            failed = number > 0 and self.lines[number - 1].failed
            style = "bold" if number == 0 else "red" if failed else ""
            lines.append(Text((" " * GAP).join(padded).rstrip(), style=style, no_wrap=True))
        return lines

    def _short(self) -> Iterator[Text]:
        for line in self.lines:
            yield Text(line.label, style="bold red" if line.failed else "bold", overflow="fold")
            names = (*HEADINGS[1:], *FIGURES)
            for name, cell in zip(names, (*line.ticks, *line.figures), strict=True):
                if cell != NOTHING:
                    yield Text(f"  {name.lower()}: {cell}", overflow="fold")


def print_table(console: Console, document: Taxonomy, *, quiet: bool = False) -> None:
    """Print the table and, unless `quiet`, what one needs to read it."""
    console.print(TaxonomyTable(document.rows))
    if quiet:
        return
    for title, lines in (
        ("", list(legend(document))),
        ("Where the literature says otherwise", list(_differences(document.rows))),
        ("What could not be judged", list(_open(document.rows))),
        ("What did not end well", [f"- {line}" for line in failures_told(document.rows)]),
        ("Notes", [f"- {note}" for note in document.notes]),
    ):
        if lines:
            console.print()
            if title:
                console.print(Text(title, style="bold"))
            for line in lines:
                console.print(Text(line, style="" if title else "dim"))


def legend(document: Taxonomy) -> Iterator[str]:
    """What the columns mean."""
    limits = document.criteria
    yield (
        f"Time and Instr.: per operation on one thread, in what a bump pointer needs "
        f"(fast: at most {limits.fast:g})."
    )
    timed = document.plan.threads
    yield (
        f"Speedup: at {timed[-1]} threads over one (scalable: at least "
        f"{limits.efficiency * timed[-1]:g}). Hand-overs: writes to a shared word that another "
        f"thread wrote last, per thousand operations, at {document.plan.counted_threads[-1]} "
        f"threads (scalable: at most {limits.traffic:g})."
    )
    yield (
        f"Lost: bytes that memory grows by for each byte allocated (unbounded: above "
        f"{limits.unbounded:g}). Per thread: memory for each further thread, in what the program "
        f"needs (O(P): above {limits.linear:g})."
    )
    yield "Intervals are 95 %. ? could not be judged. * is not what the literature says."
    plan = document.plan
    yield f"{plan.done} of {plan.planned} runs, seed {plan.seed}. Stopped: {plan.stopped_because}."


def _differences(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        for each in row.disagreements:
            source = row.published.source if row.published else ""
            why = each.explanation or "no explanation is known"
            yield (
                f"- {row.allocator}, {each.column}: measured {each.measured}, published "
                f"{each.published} ({source}). {why[0].upper()}{why[1:].rstrip('.')}."
            )


def _open(rows: Sequence[Row]) -> Iterator[str]:
    for row in rows:
        for column, value, why in (
            ("fast", row.fast, row.speed.why),
            ("scalable", row.scalable, row.scaling.why),
            ("false sharing", row.avoids_false_sharing, row.sharing.why),
            ("blowup", row.blowup, row.growth.why),
        ):
            if value is None:
                yield f"- {row.allocator}, {column}: {why}"


def failures_told(rows: Sequence[Row]) -> Iterator[str]:
    """How runs ended that did not end well: for each allocator and each end the first, and how
    many more there are of the kind."""
    for row in rows:
        ends: dict[Outcome, list[Failure]] = {}
        for each in row.failures:
            ends.setdefault(each.outcome, []).append(each)
        for outcome, same in ends.items():
            first = same[0]
            threads = f"{first.threads} thread{'s' if first.threads > 1 else ''}"
            how = next(iter(first.detail.splitlines()), "")
            more = f"; {len(same) - 1} more of its trials ended so" if len(same) > 1 else ""
            yield (
                f"{row.allocator}: {first.workload} with {threads} ({first.aspect}) ended as "
                f"{outcome}: {how}{more}"
            )
