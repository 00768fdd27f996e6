# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A validation on a terminal: the table of comparisons, the taxonomy of both, and the verdict."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from heapwright.artefacts.validation.document import Check, Validation
from heapwright.report.columns import Columns
from heapwright.report.taxonomy.words import NOTHING, figure, interval

HEADINGS = ("figure", "workload", "threads", "original", "stand-in", "original/stand-in", "answer")
TAXONOMY = ("taxonomy", "original", "stand-in", "answer")


def print_validation(console: Console, found: Validation, *, quiet: bool = False) -> None:
    """Print the tables and the verdict; `quiet` leaves the verdict alone."""
    if not quiet:
        rows = [cells(check) for check in found.checks]
        console.print(Columns(HEADINGS, rows, left=2))
        console.print()
        judged = [(each.column, each.original, each.stand_in, each.answer)
                  for each in found.judgements]  # fmt: skip
        console.print(Columns(TAXONOMY, judged, left=4))
        console.print()
        for line in (*legend(found), *(f"- {note}" for note in found.notes)):
            console.print(Text(line, style="dim"))
        console.print()
    console.print(Text(found.sentence))


def cells(check: Check) -> tuple[str, ...]:
    """One line of the table."""
    return (
        check.what,
        check.workload,
        str(check.threads),
        _value(check, check.original),
        _value(check, check.stand_in),
        interval(check.ratio),
        check.answer if check.answer != "differs" or not check.why else f"differs: {check.why}",
    )


def _value(check: Check, value: float | None) -> str:
    if value is None:
        return NOTHING
    return f"{value / 2**20:.1f} MiB" if check.what == "peak memory" else figure(value)


def legend(found: Validation) -> Iterator[str]:
    """What the columns mean, and what still agrees."""
    allowed = found.tolerance
    yield (
        f"Peak memory: resident, beyond the fixed parts, and as a ratio for each live byte; agrees "
        f"within {_percent(allowed.peak)} or {allowed.peak_floor / 1024:.0f} KiB."
    )
    yield (
        f"Locks: per thousand operations; agree within {_percent(allowed.locks)} or "
        f"{allowed.locks_floor:g}. Speedup: over one thread; agrees within "
        f"{_percent(allowed.speedup)}."
    )
    plan = found.plan
    yield f"{plan.done} of {plan.planned} runs, seed {plan.seed}. Stopped: {plan.stopped_because}."


def _percent(ratio: float) -> str:
    return f"{100 * (ratio - 1):.0f} %"
