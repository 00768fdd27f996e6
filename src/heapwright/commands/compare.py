# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright compare`, after its options are read: check, measure, conclude, print.

All refusals come before the first run. After that, no measurement is lost. Each run is in the
journal, and results are written before anything is printed. The journal is removed only when the
file of `--json` contains the runs.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from heapwright.analysis.looks import adaptive, fixed
from heapwright.artefacts.comparison.document import Comparison, label_of
from heapwright.artefacts.program.request import ProgramRequest
from heapwright.artefacts.run.journal import Journal
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import read_environment
from heapwright.artefacts.run.replay import ReplaySubject
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.processors import format_cpus
from heapwright.commands.candidates import Request, choose
from heapwright.commands.comparison_notes import notes_on, why_nothing
from heapwright.commands.conclusion import Question, conclude, describe, enough_by, is_compared
from heapwright.commands.exact import CostWatch
from heapwright.commands.interruption import telling_of
from heapwright.commands.output import Outputs, where_runs_are
from heapwright.commands.program_setup import (
    ProgramSetup,
    notes_on_clients,
    open_asked,
    refuse_own_allocator,
    set_up_file,
)
from heapwright.commands.progress import Display
from heapwright.commands.race_progress import RaceDisplay
from heapwright.commands.racing import Racing, race_looks
from heapwright.commands.setup import Selection, select
from heapwright.commands.store import refuse_store, revision_of, store
from heapwright.commands.text import print_answer
from heapwright.experiment.comparison import Execute, Plan, Result, run_experiment
from heapwright.experiment.design import fresh_seed
from heapwright.experiment.exact import ExactMeasurement
from heapwright.experiment.measurement import Conditions, Measurement, Reader
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.program.measurement import ProgramMeasurement
from heapwright.experiment.simulation import refuse_without_valgrind
from heapwright.report.runs_csv import write_runs

SHELL = "/bin/sh"
COUNTED_RUNS = 2
"""Measured runs of each treatment with --exact: the second shows whether the counts repeat."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """For a command that replays a trace: its process, the target of the advice, and the reader
    of its output."""

    subject: ReplaySubject
    recorded: tuple[str, ...]
    reader: Reader


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    command: tuple[str, ...]
    allocators: tuple[str, ...]
    blocks: int | None
    until: float | None
    """Half-width at which the runs end. Without it and without a number of blocks, a race."""
    confidence: float
    warmup: int
    budget_s: float | None
    timeout_s: float | None
    baseline: str
    settings: tuple[str, ...]
    margin: float
    cap_bytes: int | None
    cpus: tuple[int, ...]
    seed: int | None
    json_file: str | None
    csv_file: str | None
    quiet: bool
    cwd: Path = field(default_factory=Path.cwd)
    stdin: Path | None = None
    prepare: str | None = None
    shell: bool = False
    expect_exit: int = 0
    replayed: Replayed | None = None
    program: ProgramRequest | None = None
    named: tuple[str, ...] = ()
    """Commands with names, in place of the one command."""
    parameters: tuple[str, ...] = ()
    exact: bool = False
    """Count instructions under valgrind instead of timing."""
    store: Path | None = None
    """A folder that gets the document as a new file."""
    revision: str | None = None
    """None: what git describes in the folder of the command."""
    advice: bool = False
    """Print the advice for every place, not only for a shell."""

    @property
    def checked(self) -> bool:
        """Whether a replay verifies memory, in place of a comparison."""
        return self.replayed is not None and self.replayed.subject.checked

    @property
    def words(self) -> tuple[str, ...]:
        """The command as it is run."""
        return (SHELL, "-c", " ".join(self.command)) if self.shell else self.command


def run_comparison(options: Options) -> ExitCode:
    """Run the verb; return the exit status. Raises HeapwrightError for a refused request."""
    if options.exact:
        refuse_without_valgrind("--exact counts under valgrind")
    outputs = Outputs(json=options.json_file, csv=options.csv_file)
    if options.store is not None:
        refuse_store(options.store)
    environment = dict(os.environ)
    with PreloadPaths() as paths:
        selection = _select(options, environment, paths)
        setup = _set_up(options, selection, environment)
        question = _question(options, selection, setup)
        plan = _plan(options, selection, question)
        machine = read_environment(list(selection.allocators), environment)
        header = {
            "command": question.command,
            "seed": plan.seed,
            "baseline": label_of(*plan.baseline.key),
            "environment": machine.model_dump(mode="json"),
            "treatments": [describe(each).model_dump(mode="json") for each in plan.treatments],
        }
        with Journal.open(header) as journal, telling_of(journal):
            execute = _execute(options, setup, paths)
            result = _measure(options, plan, question, execute, journal)
            comparison = _with_revision(options, conclude(plan, question, result, machine))
            notes = [*selection.notes, *notes_on(comparison, result)]
            if setup is not None:
                notes += [*notes_on_clients(comparison.runs, setup), *setup.notes]
            return _deliver(options, outputs, comparison, result, notes, journal)


def _select(options: Options, environment: dict[str, str], paths: PreloadPaths) -> Selection:
    """The candidates. A program is checked when it is set up."""
    if options.program is not None:
        return select(options.allocators, options.settings, options.baseline, environment, paths)
    request = Request(
        allocators=options.allocators,
        settings=options.settings,
        baseline=options.baseline,
        words=options.words,
        commands=options.named,
        parameters=options.parameters,
        cwd=options.cwd,
        shell=options.shell,
        one_is_enough=options.exact or options.checked,
    )
    return choose(request, environment, paths)


def _set_up(
    options: Options, selection: Selection, environment: dict[str, str]
) -> ProgramSetup | None:
    if options.program is None:
        return None
    file = open_asked(options.program)
    refuse_own_allocator(file.program, [each.allocator.name for each in selection.treatments])
    return set_up_file(file, environment)


def _plan(options: Options, selection: Selection, question: Question) -> Plan:
    return Plan(
        treatments=selection.treatments,
        seed=fresh_seed() if options.seed is None else options.seed,
        blocks=question.looks.most_blocks,
        warmup=options.warmup,
        timeout_s=options.timeout_s,
        budget_s=options.budget_s,
    )


def _question(options: Options, selection: Selection, setup: ProgramSetup | None) -> Question:
    if options.exact:
        looks = fixed(options.blocks or COUNTED_RUNS, options.confidence)
    elif options.blocks is not None:
        looks = fixed(options.blocks, options.confidence)
    elif options.checked:
        looks = fixed(1, options.confidence)
    elif options.until is not None:
        looks = adaptive(options.until, options.confidence)
    else:
        looks = race_looks(len(selection.treatments), options.confidence, options.budget_s)
    replayed = options.replayed
    words = selection.treatments[0].command or options.words
    words = words if setup is None else setup.shown
    return Question(
        words if replayed is None else replayed.recorded,
        looks,
        options.margin,
        options.cap_bytes,
        options.cpus,
        None if replayed is None else replayed.subject,
        None if setup is None else setup.subject,
        race=options.blocks is None
        and options.until is None
        and not options.exact
        and not options.checked,
        exact=options.exact,
    )


def _execute(options: Options, setup: ProgramSetup | None, paths: PreloadPaths) -> Execute:
    """The executor of the runs."""
    cpus = format_cpus(set(options.cpus)) or None
    if setup is not None:
        return ProgramMeasurement(setup.prepared, setup.specs(paths, cpus)).execute
    conditions = Conditions(
        command=options.words,
        environment=dict(os.environ),
        cwd=options.cwd,
        stdin=options.stdin,
        cpus=cpus,
        prepare=options.prepare,
        expect_exit=options.expect_exit,
        reader=None if options.replayed is None else options.replayed.reader,
    )
    if options.exact:
        return ExactMeasurement(conditions, paths, options.timeout_s).execute
    return Measurement(conditions, paths).execute


def _measure(
    options: Options, plan: Plan, question: Question, execute: Execute, journal: Journal
) -> Result:
    """Run the experiment and show its progress."""
    racing = Racing(plan, question) if question.race else None
    looks = question.looks.looks

    def target(block: int) -> int:
        return next((look for look in looks if look >= block), plan.blocks)

    display: Display | RaceDisplay
    if racing is None:
        treatments, adaptive = len(plan.treatments), question.looks.until is not None
        display = Display(treatments, plan.warmup, target, adaptive=adaptive, quiet=options.quiet)
    else:
        display = RaceDisplay(racing, plan, quiet=options.quiet)
    watch = CostWatch(plan, display).watch if options.exact else display.watch
    with display:
        try:
            return run_experiment(
                plan,
                execute,
                journal=journal,
                enough=enough_by(plan, question) if racing is None else racing.enough,
                left=tuple if racing is None else racing.left,
                watch=watch,
            )
        except HeapwrightError:  # raised only while there is no run to keep
            journal.discard()
            raise


def _deliver(
    options: Options,
    outputs: Outputs,
    comparison: Comparison,
    result: Result,
    notes: Sequence[str],
    journal: Journal,
) -> ExitCode:
    """Write the files, then print. Remove the journal only when all runs are in another file."""
    failure = outputs.write(json=comparison.to_json, csv=lambda: _csv(comparison))
    if options.store is not None and is_compared(comparison) and not result.interrupted:
        notes = [*notes, f"stored: {store(comparison, options.store)}"]
    notes = [*notes, *where_runs_are(outputs, journal, failure, any_runs=_has_answer(comparison))]
    failure = _print(options, outputs, comparison, notes) or failure
    if failure is not None and journal.path is not None:
        failure.hint = f"nothing is lost: every raw run is in {journal.path}"
    error = failure or result.failure
    if error is None and not result.interrupted and not is_compared(comparison):
        error = why_nothing(comparison)
    if error is not None:
        raise error
    if result.interrupted:
        return ExitCode.INTERRUPTED
    failed = any(run.outcome is not Outcome.OK for run in comparison.runs)
    return ExitCode.NOTHING_COMPARED if options.checked and failed else ExitCode.OK


def _with_revision(options: Options, comparison: Comparison) -> Comparison:
    """The document with the revision of the program, where it is stored or a revision is given."""
    if options.store is None and options.revision is None:
        return comparison
    revision = revision_of(options.cwd) if options.revision is None else options.revision
    return comparison.model_copy(update={"revision": revision})


def _has_answer(comparison: Comparison) -> bool:
    """Not if the command failed at once: that is reported as an error."""
    return len(comparison.runs) > 1


def _print(
    options: Options, outputs: Outputs, comparison: Comparison, notes: Sequence[str]
) -> HeapwrightError | None:
    """Print the answer, if there is one."""
    if not _has_answer(comparison) and not options.quiet:
        return None
    try:
        print_answer(
            comparison, notes, quiet=options.quiet, advice=options.advice, stream=outputs.stream
        )
    except HeapwrightError as error:
        return error
    return None


def _csv(comparison: Comparison) -> str:
    stream = StringIO(newline="")
    write_runs(comparison.runs, stream)
    return stream.getvalue()
