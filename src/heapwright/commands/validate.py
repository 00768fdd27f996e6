# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright validate`: run the workloads under an original and its stand-in, compare.

As in `taxonomy`, all refusals come before the first run, and each run is in the journal at once. An
interruption leaves the comparisons of the finished runs.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heapwright import __version__
from heapwright.analysis.taxonomy.rows import conclude
from heapwright.analysis.validation import (
    TOLERANCE,
    checks_of,
    judgements_of,
    sentence_of,
    takes_locks,
    verdict_of,
)
from heapwright.artefacts.run.journal import Journal
from heapwright.artefacts.run.provenance import (
    Allocator,
    Environment,
    inherited_settings,
    read_environment,
)
from heapwright.artefacts.run.workload import Aspect, WorkloadRun
from heapwright.artefacts.taxonomy.document import Plan
from heapwright.artefacts.validation.document import Validation
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.spelling import nearest
from heapwright.commands.interruption import telling_of
from heapwright.commands.output import Outputs, where_runs_are
from heapwright.commands.setup import discovering
from heapwright.commands.taxonomy_progress import measure
from heapwright.commands.text import printing
from heapwright.experiment.design import fresh_seed
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.taxonomy.survey import SurveyPlan, SurveyResult
from heapwright.experiment.taxonomy.trials import Extent
from heapwright.experiment.treatments import Request, explain_inherited
from heapwright.experiment.validation.execution import ValidationExecution
from heapwright.experiment.validation.trials import THREADS, validation_trials
from heapwright.report.console import make_console
from heapwright.report.validation import print_validation

ORIGINAL = "original"
"""The name of the original among the runs."""
STATUS: Mapping[str, int] = {"agrees": 0, "differs": 10, "undecided": 12}
"""The exit status of each verdict; documented in docs/reference/validate.md."""


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    original: str
    stand_in: str
    json_file: str | None
    blocks: int
    budget_s: float | None
    small: bool
    seed: int | None
    quiet: bool


def run_validate(options: Options) -> int:
    """Run the verb; return the exit status. Raises HeapwrightError for a refused request."""
    outputs = Outputs(json=options.json_file)
    environment = dict(os.environ)
    with PreloadPaths() as paths:
        both = _choose(options, environment, paths)
        seed = fresh_seed() if options.seed is None else options.seed
        execution = ValidationExecution(both, environment, paths, seed)
        extent = Extent(len(os.sched_getaffinity(0)), options.small)
        plan = SurveyPlan(
            execution.names,
            list(validation_trials(extent)),
            execution.wanted,
            seed,
            options.blocks,
            options.budget_s,
        )
        machine = read_environment(both, environment)
        header = {
            "verb": "validate",
            "seed": seed,
            "environment": machine.model_dump(mode="json"),
        }
        with Journal.open(header) as journal, telling_of(journal):
            result = measure(plan, execution, journal, quiet=options.quiet)
            _refuse_nothing(result, options)
            described = _describe(options, extent, seed, result)
            notes = [f"{each.name}: {each.reason}" for each in both if each.reason]
            notes += [*explain_inherited(inherited_settings(environment)), *execution.notes]
            document = _conclude(options, described, result, machine, execution, notes)
            _deliver(options, outputs, document, result, journal)
    return ExitCode.INTERRUPTED if result.interrupted else STATUS[document.verdict]


def _choose(options: Options, environment: dict[str, str], paths: PreloadPaths) -> list[Allocator]:
    """The original and the stand-in. Raises HeapwrightError if one cannot serve a program."""
    with discovering(environment, paths) as discovery:
        if options.stand_in not in discovery.names:
            raise HeapwrightError(
                f"unknown allocator {options.stand_in!r}",
                nearest(options.stand_in, discovery.names) or "see `heapwright allocators`",
            )
        both = discovery.look_up([Request(ORIGINAL, options.original), Request(options.stand_in)])
    for allocator, called in zip(both, (options.original, options.stand_in), strict=True):
        if not allocator.usable or not allocator.effective:
            raise HeapwrightError(
                f"{called} cannot be compared: {allocator.reason}",
                "name a shared library that replaces malloc, free, calloc and realloc",
            )
    return both


def _refuse_nothing(result: SurveyResult, options: Options) -> None:
    """Raise HeapwrightError if one of the two has no good run of a whole workload."""
    for name, called in ((ORIGINAL, options.original), (options.stand_in, options.stand_in)):
        own = [run for run in result.runs if run.allocator == name and run.aspect is Aspect.PEAK]
        if own and not any(run.good for run in own):
            first = own[0]
            raise HeapwrightError(
                f"nothing can be compared: every run under {called} ends as {first.outcome}: "
                f"{first.detail}",
                f"try it alone: heapwright compare -a {called},glibc -- ls",
                exit_code=ExitCode.NOTHING_COMPARED,
            )


def _conclude(
    options: Options,
    plan: Plan,
    result: SurveyResult,
    machine: Environment,
    execution: ValidationExecution,
    notes: Sequence[str],
) -> Validation:
    """Analyse the runs."""
    names = ORIGINAL, options.stand_in
    alike = [execution.counts_itself(name) for name in names]
    silent = [
        name
        for name, itself in zip(names, alike, strict=True)
        if not itself and not takes_locks(result.runs, name)
    ]
    checks = checks_of(result.runs, *names, locks=not silent)
    rows = conclude(_for_taxonomy(result.runs, machine.cpus), machine.allocators)
    judgements = judgements_of(*rows)
    verdict = verdict_of(checks, judgements)
    called = Path(options.original).name
    return Validation(
        heapwright_version=__version__,
        environment=machine,
        original=called,
        stand_in=options.stand_in,
        plan=plan,
        tolerance=TOLERANCE,
        verdict=verdict,
        sentence=sentence_of(verdict, called, options.stand_in, checks, judgements),
        checks=checks,
        judgements=judgements,
        rows=rows,
        notes=(*notes, *_on_locks(silent)),
        runs=tuple(result.runs),
    )


def _on_locks(silent: Sequence[str]) -> Iterator[str]:
    if silent:
        yield (
            f"locks are not compared: {' and '.join(silent)} takes no pthread mutex or spin lock, "
            "and other locks cannot be counted from outside"
        )


def _for_taxonomy(runs: Sequence[WorkloadRun], cpus: int) -> list[WorkloadRun]:
    """The runs that are measured alike on both sides, with a processor for each timed thread."""
    return [
        run
        for run in runs
        if run.aspect is not Aspect.EVENTS
        and not (run.aspect is Aspect.SPEEDUP and run.threads > cpus)
    ]


def _describe(options: Options, extent: Extent, seed: int, result: SurveyResult) -> Plan:
    return Plan(
        seed=seed,
        blocks=options.blocks,
        threads=THREADS,
        counted_threads=THREADS,
        small=extent.small,
        budget_s=options.budget_s,
        planned=result.planned,
        done=len(result.runs),
        stopped_because=result.stopped_because,
    )


def _deliver(
    options: Options,
    outputs: Outputs,
    document: Validation,
    result: SurveyResult,
    journal: Journal,
) -> None:
    """Write the file, then print. Remove the journal only when all runs are in another file."""
    failure = outputs.write(json=document.to_json)
    places = tuple(where_runs_are(outputs, journal, failure, any_runs=bool(result.runs)))
    told = document.model_copy(update={"notes": (*document.notes, *places)})
    try:
        with printing():
            print_validation(make_console(outputs.stream), told, quiet=options.quiet)
    except HeapwrightError as unprinted:
        failure = failure or unprinted
    if failure is not None and journal.path is not None:
        failure.hint = f"nothing is lost: every raw run is in {journal.path}"
    error = failure or result.failure
    if error is not None:
        raise error
