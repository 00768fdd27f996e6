# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The whole report of a comparison: table, legend, sentence, advice.

It needs only the document, so a kept JSON file can be reported again.
"""

from collections.abc import Iterable
from io import StringIO

from rich.console import Console
from rich.text import Text

from heapwright.artefacts.comparison.document import Comparison
from heapwright.artefacts.comparison.levels import views
from heapwright.report.columns import Columns
from heapwright.report.console import make_console
from heapwright.report.exact import exact_legend, exact_table
from heapwright.report.program_figures import print_program_figures
from heapwright.report.replay import print_replay
from heapwright.report.sentence import (
    hint_at_places,
    instructions,
    remarks,
    sentence,
    sentence_style,
)
from heapwright.report.table import ComparisonTable, legend, reference


def print_report(
    console: Console, comparison: Comparison, *, quiet: bool = False, advice: bool = False
) -> None:
    """Print the report; `quiet` leaves only the sentence, `advice` has it for every place."""
    verdict = comparison.verdict
    if not quiet:
        if comparison.levels:
            _print_levels(console, comparison)
        else:
            _print_table(console, comparison)
        if comparison.replay is not None:
            print_replay(console, comparison)
        if comparison.program is not None:
            print_program_figures(console, comparison, comparison.program)
        console.print()
    console.print(Text(sentence(verdict), style=sentence_style(verdict)), soft_wrap=quiet)
    if quiet:
        return
    for line in remarks(verdict):
        console.print(Text(line))
    for line in instructions(verdict, everywhere=advice):
        console.print(Text(line), soft_wrap=True)
    if not advice and (hint := hint_at_places(verdict)):
        console.print(Text(hint, style="dim"))


def _print_table(console: Console, comparison: Comparison) -> None:
    console.print(_table(comparison))
    console.print()
    if comparison.design.exact:
        _print_dim(console, exact_legend(comparison))
    else:
        _print_dim(console, [reference(comparison), *legend(comparison), *_data_notes(comparison)])


def _table(comparison: Comparison) -> ComparisonTable | Columns:
    return exact_table(comparison) if comparison.design.exact else ComparisonTable(comparison)


def _print_levels(console: Console, comparison: Comparison) -> None:
    """The table and the answer of each level of the parameters; the legend once."""
    for name, view in views(comparison):
        console.print(Text(name, style="bold"))
        console.print(_table(view))
        if not comparison.design.exact:
            _print_dim(console, [reference(view), *_data_notes(view)])
        console.print(Text(sentence(view.verdict), style=sentence_style(view.verdict)))
        for line in remarks(view.verdict):
            console.print(Text(line))
        console.print()
    explain = exact_legend if comparison.design.exact else legend
    _print_dim(console, explain(views(comparison)[0][1]))


def _print_dim(console: Console, lines: Iterable[str]) -> None:
    for line in lines:
        console.print(Text(line, style="dim"))


def report_text(
    comparison: Comparison, *, width: int | None = None, quiet: bool = False, advice: bool = False
) -> str:
    """The report as plain text; without a width its lines are as long as they need to be."""
    stream = StringIO()
    print_report(make_console(stream, width=width), comparison, quiet=quiet, advice=advice)
    return stream.getvalue()


def _data_notes(comparison: Comparison) -> list[str]:
    """What the analysis found unusual in time or memory, each once."""
    found: dict[str, list[str]] = {}
    for summary in comparison.responses:
        if summary.response in ("time", "memory"):
            for note in summary.notes:
                found.setdefault(note, []).append(summary.response)
    return [f"{' and '.join(names).capitalize()}: {note}." for note, names in found.items()]
