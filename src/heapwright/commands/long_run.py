# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright programs run --hours`: a server under load for hours, and the growth of its
memory."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from heapwright.analysis.long_run import fitted
from heapwright.artefacts.long_run.document import (
    END,
    PLAN,
    ROUND,
    SAMPLE,
    Load,
    LongRun,
    Plan,
    Round,
    Sample,
    read_long_run,
)
from heapwright.artefacts.program.file import ProgramFile
from heapwright.artefacts.program.request import ProgramRequest
from heapwright.artefacts.run.journal import Journal
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import read_environment
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.commands.interruption import telling_of
from heapwright.commands.output import Outputs, name_page, where_runs_are
from heapwright.commands.program_setup import open_asked, refuse_own_allocator, set_up_file
from heapwright.commands.setup import select_one
from heapwright.commands.text import printing
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.program.long_run import LongRunResult, LongRuns, interval_of, refuse
from heapwright.explain.long_run import explain_long_run
from heapwright.report.console import make_console
from heapwright.report.long_run.page import page
from heapwright.report.long_run.summary import print_long_run

TELL_S = 60.0
Tell = Callable[[LongRun, Journal], ExitCode]


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    program: ProgramRequest | ProgramFile
    allocator: str
    hours: float
    rest_s: float
    vary: str | None
    json_file: str | None
    html_file: str | None
    client: bool = True
    """It has one that puts it under load."""

    @property
    def load(self) -> Load:
        """Raises HeapwrightError for what cannot be read."""
        name, values = _varied(self.vary)
        return Load(
            hours=self.hours,
            client=self.client,
            rest_s=self.rest_s,
            vary=name,
            values=values,
        )


def _varied(text: str | None) -> tuple[str, tuple[str, ...]]:
    if text is None:
        return "", ()
    name, separator, rest = text.partition("=")
    values = tuple(each.strip() for each in rest.split(","))
    if not separator or not name.strip() or len(values) < 2 or not all(values):
        raise HeapwrightError(
            f"cannot read the load {text!r}", "write --vary PARAMETER=VALUE,VALUE…"
        )
    return name.strip(), values


def run_long(options: Options) -> ExitCode:
    """Make the run and print it; return the exit status. Raises HeapwrightError for a refused
    request."""
    outputs = Outputs(json=options.json_file, html=options.html_file)
    return long_run(options, lambda found, journal: _tell(found, outputs, journal))


def long_run(options: Options, tell: Tell) -> ExitCode:
    """Make the run, and print it with `tell`. Raises HeapwrightError for a refused request."""
    load = options.load
    environment = dict(os.environ)
    asked = options.program
    file = open_asked(asked) if isinstance(asked, ProgramRequest) else asked
    refuse(file.program, load)
    with PreloadPaths() as paths:
        refuse_own_allocator(file.program, [options.allocator])
        selection = select_one(options.allocator, environment, paths)
        setup = set_up_file(file, environment)
        treatment = selection.treatments[0]
        plan = Plan(
            program=setup.subject,
            command=setup.shown,
            allocator=treatment.key[0],
            load=load,
            interval_s=interval_of(load),
            environment=read_environment([treatment.allocator], environment),
        )
        head = {PLAN: plan.model_dump(mode="json")}
        with Journal.open(head, name="long") as journal, telling_of(journal):
            runs = LongRuns(setup.prepared, setup.specs(paths), paths)
            taken = runs.take(treatment, load, _Kept(journal))
            notes = (*setup.notes, *selection.notes, *_notes(taken), *_short(taken, load))
            found = fitted(_document(plan, taken, notes))
            journal.append({END: _end(found)})
            return tell(found, journal)


class _Kept:
    """Writes each sample to the journal, and sometimes a progress line for the user."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._told = time.monotonic()

    def __call__(self, seen: Sample | Round) -> None:
        key = SAMPLE if isinstance(seen, Sample) else ROUND
        self._journal.append({key: seen.model_dump(mode="json")})
        if isinstance(seen, Sample) and time.monotonic() - self._told >= TELL_S:
            self._told = time.monotonic()
            mebi = seen.resident_bytes / 2**20
            words = f"heapwright: {seen.time_s / 3600:.2f} h: {mebi:,.1f} MiB resident"
            print(words, file=sys.stderr, flush=True)  # noqa: T201


def _document(plan: Plan, taken: LongRunResult, notes: tuple[str, ...]) -> LongRun:
    return LongRun(
        plan=plan,
        outcome=taken.named.outcome,
        detail=taken.named.detail,
        interrupted=taken.interrupted,
        whole=True,
        live_source=", ".join(sorted(taken.sources)),
        samples=tuple(taken.samples),
        rounds=tuple(taken.rounds),
        notes=notes,
    )


def _end(found: LongRun) -> dict[str, object]:
    """The last line of a journal: everything except the series."""
    kept = {"plan", "samples", "rounds", "format", "schema_version"}
    return found.model_dump(mode="json", exclude=kept)


def _notes(taken: LongRunResult) -> Iterator[str]:
    """Notes on what the series lack."""
    if not taken.samples:
        return
    if not taken.sources:
        yield (
            "this allocator does not report live bytes, so only resident memory is known; "
            "`heapwright record` has live bytes under any allocator"
        )
    elif taken.silent:
        yield (
            f"{taken.silent} of {taken.samples[-1].processes} processes did not report live "
            "bytes: they have another allocator, or lost the preload"
        )


def _short(taken: LongRunResult, load: Load) -> Iterator[str]:
    """The error for a command that ended early."""
    if not load.client and taken.named.detail.startswith("the server ended"):
        yield (
            "a command that ends has no memory for hours: without --hours, `heapwright profile` "
            "has its memory over time"
        )


def _tell(found: LongRun, outputs: Outputs, journal: Journal | None) -> ExitCode:
    explained = _explained(found)
    failure = outputs.write(json=found.to_json, html=lambda: _page(found, explained))
    with printing():
        print_long_run(make_console(outputs.stream), found, explained)
    name_page(outputs, failure)
    seen = bool(found.samples)
    for line in where_runs_are(outputs, journal, failure, any_runs=seen) if journal else ():
        print(f"heapwright: {line}", file=sys.stderr)  # noqa: T201
    if failure is not None:
        raise failure
    return status_of(found)


def tell_again(path: Path, json_file: str | None, html_file: str | None) -> ExitCode:
    """Print a document, or the journal of an unfinished run, with the same text and page."""
    outputs = Outputs(json=json_file, html=html_file)
    run = read_long_run(path)
    run = run if run.growths else fitted(run)
    return _tell(run, outputs, None)


def status_of(found: LongRun) -> ExitCode:
    """The exit status for the outcome."""
    if found.outcome is not Outcome.OK:
        return ExitCode.NOTHING_COMPARED
    return ExitCode.INTERRUPTED if found.interrupted else ExitCode.OK


def _explained(found: LongRun) -> str:
    """The explanation of the run; empty if no process reported live bytes."""
    if all(each.live_bytes is None for each in found.samples):
        return ""
    return explain_long_run(found).sentence


def _page(found: LongRun, explained: str) -> str:
    return page(found, explained)
