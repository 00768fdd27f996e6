# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The whole of `heapwright agree`: each program run, recorded, replayed, imitated, and ranked.

A program that cannot be asked (something is missing, it answers wrongly, nothing can be recorded)
is in the document with the reason, and the others go on. Who breaks off has what was ready.
"""

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapwright import __version__
from heapwright.artefacts.agreement import LOADS, Load, ProgramAgreement, RankingAgreement
from heapwright.artefacts.errors import ExitCode, HeapwrightError
from heapwright.artefacts.journal import Journal
from heapwright.artefacts.program_library import program_names
from heapwright.artefacts.runs import Run
from heapwright.cli.interrupting import ended_as_interrupted, telling_of
from heapwright.cli.options import AskedProgram
from heapwright.cli.output import Outputs
from heapwright.cli.program_setup import ProgramSetup, set_up_program, tell
from heapwright.cli.progress import Display
from heapwright.cli.recording import record_program
from heapwright.cli.setup import Choice, choose
from heapwright.cli.text import printing
from heapwright.experiment.comparison import Execute, Plan, run_experiment
from heapwright.experiment.design import fresh_seed
from heapwright.experiment.measurement import Conditions, Measurement
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.program.measurement import ProgramMeasurement
from heapwright.profile.run import profile_trace
from heapwright.replay.preparing import prepare, run_words
from heapwright.replay.reading import figures_of
from heapwright.report.console import make_console
from heapwright.synth import program as synthetic

BASELINE = "glibc"
CONFIDENCE = 0.95
TOUCH = "as-recorded-size"
"""A program writes into what it asks for: memory that is never touched ranks otherwise."""
LEFT_OUT = ("reference",)
"""Of --all: nobody runs it."""


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    names: tuple[str, ...]
    everything: bool
    scale: str | None
    allocators: tuple[str, ...]
    blocks: int
    seed: int | None
    json_file: str | None
    csv_file: str | None
    html_file: str | None
    quiet: bool

    @property
    def wanted(self) -> tuple[str, ...]:
        if not self.everything:
            return self.names
        return tuple(name for name in program_names() if name not in LEFT_OUT)


def run_agree(options: Options) -> ExitCode:
    """Do it. Raises HeapwrightError for what is refused, and if no program could be asked."""
    if bool(options.names) == options.everything:
        raise HeapwrightError("name programs, or give --all", "heapwright programs list")
    outputs = Outputs(json=options.json_file, csv=options.csv_file, html=options.html_file)
    seed = fresh_seed() if options.seed is None else options.seed
    found: list[ProgramAgreement] = []
    interrupted = False
    with PreloadPaths() as paths:
        environment = dict(os.environ)
        choice = choose(options.allocators, (), BASELINE, environment, paths)
        for name in options.wanted:
            try:
                found.append(_program(name, options, choice, paths, seed))
            except KeyboardInterrupt:
                interrupted = True
                break
    document = _document(options, choice, seed, found)
    _deliver(options, outputs, document, choice.notes)
    if interrupted:
        return ExitCode.INTERRUPTED
    if not any(each.agreements for each in found):
        raise HeapwrightError(
            "no program could be asked",
            "\n".join(f"{each.program}: {each.why}" for each in found),
            exit_code=ExitCode.NOTHING_COMPARED,
        )
    return ExitCode.OK


def _program(
    name: str, options: Options, choice: Choice, paths: PreloadPaths, seed: int
) -> ProgramAgreement:
    """What one program says."""
    from heapwright.cli.agreement_figures import ranked  # noqa: PLC0415

    asked = AskedProgram(name, options.scale, ())
    try:
        with ended_as_interrupted(), tempfile.TemporaryDirectory(prefix="heapwright-") as folder:
            setup = set_up_program(asked, os.environ)
            events, executes = _loads(asked, setup, Path(folder), paths, seed)
            runs = {
                load: _measured(f"{name}, {load}", options, choice, executes[load], seed)
                for load in LOADS
            }
    except HeapwrightError as error:
        tell(f"{name}: {error.message}")
        return ProgramAgreement(program=name, why=error.message)
    keys = [treatment.key for treatment in choice.treatments]
    return ranked(name, events, keys, runs, CONFIDENCE, seed)


def _loads(
    asked: AskedProgram, setup: ProgramSetup, folder: Path, paths: PreloadPaths, seed: int
) -> tuple[int, Mapping[Load, Execute]]:
    """What makes the runs of each load. The program is recorded once, under what it has."""
    from heapwright.synth import model as recipe  # noqa: PLC0415

    trace, drawn = folder / "recorded", folder / "drawn"
    outcome, _ = record_program(asked, trace)
    if outcome.asked_to_end:
        raise KeyboardInterrupt
    profile = profile_trace(trace)
    if profile.totals.allocations == 0:
        raise HeapwrightError("nothing could be recorded of it")
    synthetic.draw(recipe.plan(profile, factor=1.0, threads=None, seed=seed), drawn)
    executes: dict[Load, Execute] = {
        "program": ProgramMeasurement(setup.prepared, setup.specs(paths)).execute
    }
    sources: tuple[tuple[Load, Path], ...] = (("replay", trace), ("synthetic", drawn))
    for load, source in sources:
        plan = folder / f"plan-{load}"
        prepare(source, plan)
        source.unlink()
        conditions = Conditions(
            run_words(plan, touch=TOUCH), dict(os.environ), Path.cwd(), reader=figures_of
        )
        executes[load] = Measurement(conditions, paths).execute
    return profile.provenance.events, executes


def _measured(
    title: str, options: Options, choice: Choice, execute: Execute, seed: int
) -> Sequence[Run]:
    """The runs of one load under every allocator, in randomised blocks after a warm-up."""
    plan = Plan(choice.treatments, seed, options.blocks, 1, None, None)
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
    options: Options, choice: Choice, seed: int, found: Sequence[ProgramAgreement]
) -> RankingAgreement:
    from heapwright.cli.agreement_figures import overall  # noqa: PLC0415

    return RankingAgreement(
        heapwright_version=__version__,
        allocators=tuple(treatment.allocator.name for treatment in choice.treatments),
        scale=options.scale or "",
        blocks=options.blocks,
        seed=seed,
        confidence=CONFIDENCE,
        programs=tuple(found),
        overall=overall(found, CONFIDENCE),
    )


def _deliver(
    options: Options, outputs: Outputs, document: RankingAgreement, notes: Sequence[str]
) -> None:
    from heapwright.report.agreement import as_csv, page, print_agreement  # noqa: PLC0415

    failure = outputs.write(
        json=document.to_json, csv=lambda: as_csv(document), html=lambda: page(document)
    )
    with printing():
        print_agreement(make_console(outputs.stream), document, quiet=options.quiet)
    for note in notes:
        tell(note)
    if failure is not None:
        raise failure
