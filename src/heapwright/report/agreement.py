# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How rankings of allocators agree, program by program: on a terminal, as CSV, and as a page."""

import csv
import math
from collections.abc import Iterator
from html import escape
from io import StringIO

from rich.console import Console
from rich.text import Text

from heapwright.artefacts.agreement.document import (
    LOADS,
    AgreementOf,
    Load,
    ProgramAgreement,
    RankingAgreement,
    Tau,
    What,
)
from heapwright.report.columns import Columns
from heapwright.report.pages.frame import frame
from heapwright.report.pages.parts import Charts, contents, section, table

WHATS: tuple[What, ...] = ("time", "memory")
NAMES: dict[Load, str] = {
    "program": "itself",
    "replay": "a replay",
    "synthetic": "a synthetic load",
}
NOTHING = "-"
FEW = 4
"""Fewest allocators whose rankings say something: two rankings of three agree by chance in one case
of six."""
FIELDS = ("program", "what", "load", "tau", "low", "high", "same_best", "why")


def print_agreement(console: Console, found: RankingAgreement, *, quiet: bool = False) -> None:
    """A table for time, one for memory, and the means; `quiet` leaves only these."""
    if not quiet:
        for what in WHATS:
            console.print(Text(f"Ranks by {what}: Kendall's tau with the program", style="bold"))
            console.print(Columns(headings(), [cells(each, what) for each in found.programs]))
            console.print()
    for line in _result(found):
        console.print(Text(line))
    for each in found.programs:
        if each.why and not quiet:
            console.print(Text(f"{each.program}: {each.why}"))


def conclusions(found: RankingAgreement) -> Iterator[str]:
    """The result over all programs, in sentences."""
    for each in found.overall:
        best = "" if each.load == "program" else f"; the best is the same in {each.same_best}"
        several = "program" if each.programs == 1 else "programs"
        yield (
            f"By {each.what}, {NAMES[each.load]}: tau {tau_text(each.tau)} in the mean over "
            f"{each.programs} {several}{best}."
        )


def too_few(found: RankingAgreement) -> str:
    """A caution where chance alone makes rankings agree; empty where it is small."""
    count = len(found.allocators)
    if count >= FEW:
        return ""
    orders = "two orders" if count == 2 else f"{math.factorial(count)} orders"
    alone = "; tau is +1 or -1 in each draw" if count == 2 else ""
    return (
        f"Rankings of {count} allocators are no evidence: there are only {orders}{alone}. "
        f"Name at least {FEW} with -a."
    )


def tau_text(tau: Tau | None) -> str:
    """The figure with its interval."""
    if tau is None or tau.tau is None:
        return NOTHING
    if tau.low is None or tau.high is None:
        return f"{tau.tau:.2f}"
    return f"{tau.tau:.2f} ({tau.low:.2f} to {tau.high:.2f})"


def as_csv(found: RankingAgreement) -> str:
    """A line for each program, response and load; one for a program that could not be measured."""
    stream = StringIO(newline="")
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(FIELDS)
    for program in found.programs:
        for each in program.agreements:
            tau = each.tau
            best = "" if each.same_best is None else str(each.same_best).lower()
            figures = ["" if x is None else f"{x:.4f}" for x in (tau.tau, tau.low, tau.high)]
            writer.writerow([program.program, each.what, each.load, *figures, best, program.why])
        if not program.agreements:
            writer.writerow([program.program, "", "", "", "", "", "", program.why])
    return stream.getvalue()


def page(found: RankingAgreement) -> str:
    """The whole page: the result, the two tables, and the measured loads."""
    parts = [
        ("means", "Over all programs", "".join(f"<p>{escape(e)}</p>" for e in _result(found))),
        *((what, f"Ranks by {what}", _table(found, what)) for what in WHATS),
        ("measured", "What was measured", _measured(found)),
    ]
    about = (
        f"<p>{len(found.allocators)} allocators, {found.blocks} blocks of each load, seed "
        f"{found.seed}. Kendall's tau-b with the ranking on the program itself: 1 the same order, "
        "-1 the opposite. <i>Itself</i> compares two draws of the program. No load can agree "
        "more.</p>"
    )
    body = "\n".join(
        (
            "<h1>Does a load rank allocators as its program does?</h1>",
            about,
            contents([(name, heading) for name, heading, _ in parts]),
            *(section(name, heading, inner) for name, heading, inner in parts),
        )
    )
    return frame("Agreement of rankings", body, Charts())


def _result(found: RankingAgreement) -> Iterator[str]:
    yield from conclusions(found)
    if caution := too_few(found):
        yield caution


def headings() -> tuple[str, ...]:
    """Of a table of taus."""
    return (
        "program",
        *(NAMES[load] for load in LOADS),
        "same best, replay",
        "same best, synthetic",
    )


def cells(program: ProgramAgreement, what: What) -> tuple[str, ...]:
    """A line of it."""
    each = {load: program.of(what, load) for load in LOADS}
    return (
        program.program,
        *(tau_text(None if one is None else one.tau) for one in each.values()),
        _yes(each["replay"]),
        _yes(each["synthetic"]),
    )


def _yes(found: AgreementOf | None) -> str:
    if found is None or found.same_best is None:
        return NOTHING
    return "yes" if found.same_best else "no"


def _table(found: RankingAgreement, what: What) -> str:
    rows = [[escape(cell) for cell in cells(each, what)] for each in found.programs]
    missing = "".join(
        f"<p>{escape(each.program)}: {escape(each.why)}</p>" for each in found.programs if each.why
    )
    return table(headings(), rows, "figures") + missing


def _measured(found: RankingAgreement) -> str:
    rows = [
        [
            escape(program.program),
            escape(each.allocator),
            each.load,
            str(each.runs),
            NOTHING if each.seconds is None else f"{each.seconds:.4g}",
            NOTHING if each.peak_bytes is None else f"{each.peak_bytes / 2**20:,.1f}",
        ]
        for program in found.programs
        for each in program.measured
    ]
    return table(("program", "allocator", "load", "runs", "s", "peak, MiB"), rows, "figures")
