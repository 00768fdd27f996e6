# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Two profiles on a terminal: every figure in both, then sizes and sites that changed most."""

from rich.console import Console
from rich.text import Text

from heapwright.artefacts.profile.document import Profile
from heapwright.report.columns import Columns
from heapwright.report.profile import words
from heapwright.report.profile.changes import (
    Change,
    Moved,
    figure_changes,
    site_changes,
    size_changes,
)

MARK = "*"
LISTED = 10


def print_comparison(
    console: Console,
    before: Profile,
    after: Profile,
    names: tuple[str, str],
    *,
    quiet: bool = False,
) -> None:
    """Print the comparison; `quiet` leaves only figures that changed."""
    changes = figure_changes(before, after)
    shown = [change for change in changes if change.text] if quiet else changes
    if shown:
        console.print(Columns(("", *names, "change"), [_figure(change) for change in shown]))
    else:
        console.print(Text("No figure differs."))
    if quiet:
        return
    patterns = words.pattern_of(before), words.pattern_of(after)
    if patterns[0] != patterns[1]:
        console.print(Text(f"Long-lived allocations: {patterns[0]}, now {patterns[1]}."))
    for title, moved in (
        ("Sizes that changed most, by bytes", size_changes(before, after)),
        ("Sites that changed most, by bytes", site_changes(before, after, leaked=False)),
        ("Never freed", site_changes(before, after, leaked=True)),
    ):
        if moved:
            console.print()
            console.print(Text(title, style="bold"))
            rows = [_moved(each) for each in moved[:LISTED]]
            console.print(Columns(("", *names, "change"), rows))
    console.print()
    console.print(Text(legend(changes), style="dim"))


def _figure(change: Change) -> tuple[str, ...]:
    figure = change.figure
    return (
        f"{figure.aspect}, {figure.name}",
        figure.text(change.before),
        figure.text(change.after),
        change.text + (MARK if change.beyond and change.text else ""),
    )


def _moved(each: Moved) -> tuple[str, ...]:
    return (each.name, words.memory(each.before), words.memory(each.after), each.text)


def legend(changes: list[Change]) -> str:
    """The meaning of a mark, or why there is none."""
    if any(change.beyond is not None for change in changes):
        return (
            f"Figures are means over the repetitions; {MARK}: the ranges over the repetitions do "
            "not overlap."
        )
    return (
        "A profile is from a single run, so chance and real changes cannot be separated. "
        "Repeat both (-n)."
    )
