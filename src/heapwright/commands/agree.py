# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright agree`: runs, records, replays, imitates and ranks each program.

A program without an answer (a requirement is missing, its output is wrong, its recording fails) is
in the document with the reason. The other programs continue. After an interruption the document has
the finished programs. With `--keep`, the next call reuses them.
"""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from heapwright import __version__
from heapwright.artefacts.agreement.document import LOADS, Load, ProgramAgreement, RankingAgreement
from heapwright.artefacts.agreement.journal import Asked, KeptAnswers
from heapwright.artefacts.program.library import program_names, program_path
from heapwright.artefacts.program.request import ProgramRequest
from heapwright.artefacts.run.journal import Journal
from heapwright.artefacts.run.measured import Run
from heapwright.artefacts.run.replay import TOUCH, Surroundings
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.scratch import Scratch
from heapwright.commands.agreement_figures import overall, ranked
from heapwright.commands.interruption import telling_of
from heapwright.commands.output import Outputs, name_page
from heapwright.commands.program_setup import (
    ProgramSetup,
    open_asked,
    refuse_own_allocator,
    set_up_program,
    tell,
)
from heapwright.commands.progress import Display
from heapwright.commands.record import record_program
from heapwright.commands.setup import Selection, select
from heapwright.commands.text import printing
from heapwright.experiment.comparison import Execute, Plan, run_experiment
from heapwright.experiment.design import fresh_seed
from heapwright.experiment.measurement import Conditions, Measurement
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.program.measurement import ProgramMeasurement
from heapwright.profile.run import profile_trace
from heapwright.replay.output import reader_of
from heapwright.replay.prepare import prepare, refuse_surroundings, run_words
from heapwright.report.agreement import as_csv, page, print_agreement
from heapwright.report.console import make_console
from heapwright.synth import model as recipe
from heapwright.synth import program as synthetic

BASELINE = "glibc"
CONFIDENCE = 0.95
LEFT_OUT = ("reference",)
"""Left out of --all: it is no program to run."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of the command line."""

    names: tuple[str, ...]
    everything: bool
    scale: str | None
    allocators: tuple[str, ...]
    blocks: int
    seed: int | None
    json_file: str | None
    csv_file: str | None
    html_file: str | None
    surroundings: Surroundings
    keep: Path | None
    quiet: bool

    @property
    def wanted(self) -> tuple[str, ...]:
        if not self.everything:
            return self.names
        return tuple(name for name in program_names() if name not in LEFT_OUT)


def run_agree(options: Options) -> ExitCode:
    """Run the verb. Raises HeapwrightError for a refused request, and if no program has an
    answer."""
    if options.names and options.everything:
        raise HeapwrightError("--all takes every program: leave out the names, or --all")
    if not options.names and not options.everything:
        raise HeapwrightError("name programs, or give --all", "heapwright programs list")
    for name in options.wanted:
        program_path(name)  # an unknown name is refused before the first run
    refuse_surroundings(options.surroundings, TOUCH)
    outputs = Outputs(json=options.json_file, csv=options.csv_file, html=options.html_file)
    found: list[ProgramAgreement] = []
    interrupted = False
    with PreloadPaths() as paths, _kept(options) as kept:
        environment = dict(os.environ)
        selection = select(options.allocators, (), BASELINE, environment, paths)
        seed = _seed(options, kept)
        if kept is not None:
            kept.begin(_asked(options, selection, seed))
        for name in options.wanted:
            try:
                found.append(_answer(name, options, selection, paths, seed, kept))
            except KeyboardInterrupt:
                interrupted = True
                break
    document = _document(options, selection, seed, found)
    failed = [kept.failure] if kept is not None and kept.failure else []
    _deliver(options, outputs, document, (*selection.notes, *failed))
    if interrupted:
        return ExitCode.INTERRUPTED
    if not any(each.agreements for each in found):
        raise HeapwrightError(
            "no program could be measured",
            "\n".join(f"{each.program}: {each.why}" for each in found),
            exit_code=ExitCode.NOTHING_COMPARED,
        )
    return ExitCode.OK


def _kept(options: Options) -> AbstractContextManager[KeptAnswers | None]:
    return nullcontext() if options.keep is None else KeptAnswers(options.keep)


def _seed(options: Options, kept: KeptAnswers | None) -> int:
    """The requested order; else the order of the existing answers."""
    if options.seed is not None:
        return options.seed
    there = None if kept is None else kept.seed
    return fresh_seed() if there is None else there


def _asked(options: Options, selection: Selection, seed: int) -> Asked:
    return Asked(
        allocators=tuple(
            (each.allocator.name, each.allocator.sha256) for each in selection.treatments
        ),
        scale=options.scale or "",
        blocks=options.blocks,
        seed=seed,
        surroundings=options.surroundings,
    )


def _answer(
    name: str,
    options: Options,
    selection: Selection,
    paths: PreloadPaths,
    seed: int,
    kept: KeptAnswers | None,
) -> ProgramAgreement:
    """The answer of one program, new or kept; else the reason why it has none."""
    asked = ProgramRequest(name, options.scale, ())
    sha256 = ""
    try:
        file = open_asked(asked)
        sha256 = file.sha256
        before = None if kept is None else kept.of(name, sha256)
        if before is not None:
            tell(f"{name}: as it was kept")
            return before
        refuse_own_allocator(file.program, [each.allocator.name for each in selection.treatments])
        answer = _program(asked, options, selection, paths, seed)
    except (HeapwrightError, OSError) as error:
        why = error.message if isinstance(error, HeapwrightError) else str(error)
        tell(f"{name}: {why}")
        answer = ProgramAgreement(program=name, why=why)
    if kept is not None:
        kept.keep(answer, sha256)
    return answer


def _program(
    asked: ProgramRequest, options: Options, selection: Selection, paths: PreloadPaths, seed: int
) -> ProgramAgreement:
    """The answer of one program. Raises HeapwrightError if it cannot be measured."""
    with Scratch() as folder:
        setup = set_up_program(asked, os.environ)
        events, executes = _loads(asked, options.surroundings, setup, folder, paths, seed)
        runs = {
            load: _measured(f"{asked.name}, {load}", options, selection, executes[load], seed)
            for load in LOADS
        }
    keys = [treatment.key for treatment in selection.treatments]
    return ranked(asked.name, events, keys, runs, CONFIDENCE, seed)


def _loads(
    asked: ProgramRequest,
    surroundings: Surroundings,
    setup: ProgramSetup,
    folder: Path,
    paths: PreloadPaths,
    seed: int,
) -> tuple[int, Mapping[Load, Execute]]:
    """The executors of the loads. The program is recorded once, under its own allocator."""
    trace, drawn = folder / "recorded", folder / "drawn"
    outcome, notes = record_program(asked, trace)
    if outcome.asked_to_end:
        raise KeyboardInterrupt
    if outcome.failed:
        raise HeapwrightError(f"it could not be recorded: {notes[0]}")
    profile = profile_trace(trace)
    if profile.totals.allocations == 0:
        raise HeapwrightError("nothing could be recorded of it")
    synthetic.draw(recipe.plan(profile, factor=1.0, threads=None, seed=seed), drawn)
    executes: dict[Load, Execute] = {
        "program": ProgramMeasurement(setup.prepared, setup.specs(paths)).execute
    }
    sources: tuple[tuple[Load, Path, Surroundings], ...] = (
        ("replay", trace, surroundings),
        ("synthetic", drawn, Surroundings()),
    )
    for load, source, with_work in sources:
        plan = folder / f"plan-{load}"
        prepare(source, plan, surroundings=with_work)
        source.unlink()
        reader = reader_of(TOUCH, whole=surroundings.whole)
        conditions = Conditions(run_words(plan), dict(os.environ), Path.cwd(), reader=reader)
        executes[load] = Measurement(conditions, paths).execute
    return profile.provenance.events, executes


def _measured(
    title: str, options: Options, selection: Selection, execute: Execute, seed: int
) -> Sequence[Run]:
    """The runs of one load under every allocator, in randomised blocks after a warm-up."""
    plan = Plan(selection.treatments, seed, options.blocks, 1, None, None)
    if not options.quiet:
        tell(f"{title}: {len(plan.treatments)} allocators, {plan.blocks} blocks")
    with Journal.open({"verb": "agree", "load": title, "seed": seed}) as journal:
        with (
            telling_of(journal),
            Display(
                len(plan.treatments), plan.warmup, lambda _: plan.blocks, quiet=options.quiet
            ) as display,
        ):
            result = run_experiment(
                plan,
                execute,
                journal=journal,
                enough=lambda _runs, _blocks: "",
                watch=display.watch,
            )
        journal.discard()
    if result.interrupted:
        raise KeyboardInterrupt
    if result.failure is not None:
        raise result.failure
    return result.runs


def _document(
    options: Options, selection: Selection, seed: int, found: Sequence[ProgramAgreement]
) -> RankingAgreement:
    return RankingAgreement(
        heapwright_version=__version__,
        allocators=tuple(treatment.allocator.name for treatment in selection.treatments),
        scale=options.scale or "",
        blocks=options.blocks,
        seed=seed,
        surroundings=options.surroundings,
        confidence=CONFIDENCE,
        programs=tuple(found),
        overall=overall(found, CONFIDENCE),
    )


def _deliver(
    options: Options, outputs: Outputs, document: RankingAgreement, notes: Sequence[str]
) -> None:
    failure = outputs.write(
        json=document.to_json, csv=lambda: as_csv(document), html=lambda: page(document)
    )
    with printing():
        print_agreement(make_console(outputs.stream), document, quiet=options.quiet)
    name_page(outputs, failure, quiet=options.quiet)
    for note in notes:
        tell(note)
    if failure is not None:
        raise failure
