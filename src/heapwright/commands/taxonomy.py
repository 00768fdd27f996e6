# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright taxonomy`, after its options are read: select, measure, conclude, print.

As in `compare`, all refusals come before the first run, and each run is in the journal at once. An
interruption leaves a table of the measurements so far.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from heapwright import __version__
from heapwright.analysis.taxonomy.limits import CRITERIA
from heapwright.analysis.taxonomy.rows import conclude
from heapwright.artefacts.run.journal import Journal
from heapwright.artefacts.run.provenance import (
    Allocator,
    Environment,
    inherited_settings,
    read_environment,
)
from heapwright.artefacts.taxonomy.document import Plan, Taxonomy
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.commands.interruption import telling_of
from heapwright.commands.output import Outputs, where_runs_are
from heapwright.commands.setup import discovering
from heapwright.commands.taxonomy_progress import measure
from heapwright.commands.text import print_taxonomy
from heapwright.experiment.design import fresh_seed
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.taxonomy.execution import Execution
from heapwright.experiment.taxonomy.survey import SurveyPlan, SurveyResult
from heapwright.experiment.taxonomy.trials import Extent, trials
from heapwright.experiment.treatments import explain_inherited, parse_requests
from heapwright.report.taxonomy.page import page


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    allocators: tuple[str, ...]
    json_file: str | None
    html_file: str | None
    blocks: int
    budget_s: float | None
    small: bool
    seed: int | None
    quiet: bool


def run_taxonomy(options: Options) -> ExitCode:
    """Run the verb; return the exit status. Raises HeapwrightError for a refused request."""
    outputs = Outputs(json=options.json_file, html=options.html_file)
    environment = dict(os.environ)
    with PreloadPaths() as paths:
        allocators, notes = _choose(options.allocators, environment, paths)
        seed = fresh_seed() if options.seed is None else options.seed
        execution = Execution(allocators, environment, paths, seed)
        extent = Extent(len(os.sched_getaffinity(0)), options.small)
        plan = SurveyPlan(
            execution.names,
            list(trials(extent)),
            execution.wanted,
            seed,
            options.blocks,
            options.budget_s,
        )
        machine = read_environment(allocators, environment)
        header = {
            "verb": "taxonomy",
            "seed": seed,
            "environment": machine.model_dump(mode="json"),
        }
        with Journal.open(header) as journal, telling_of(journal):
            result = measure(plan, execution, journal, quiet=options.quiet)
            described = _describe(options, extent, seed, result)
            document = _conclude(described, result, machine, (*notes, *execution.notes))
            return _deliver(options, outputs, document, result, journal)


def _choose(
    names: Sequence[str], environment: dict[str, str], paths: PreloadPaths
) -> tuple[list[Allocator], list[str]]:
    """The requested allocators; without names, all usable ones."""
    with discovering(environment, paths) as discovery:
        if names:
            allocators = discovery.requested(parse_requests(names, discovery.names))
            left: list[Allocator] = []
        else:
            everything = discovery.everything()
            allocators = [allocator for allocator in everything if allocator.usable]
            left = [allocator for allocator in everything if not allocator.usable]
    notes = [f"{allocator.name} is left out: {allocator.reason}" for allocator in left]
    notes += [f"{each.name}: {each.reason}" for each in allocators if each.reason]
    return allocators, [*notes, *explain_inherited(inherited_settings(environment))]


def _conclude(
    plan: Plan, result: SurveyResult, machine: Environment, notes: tuple[str, ...]
) -> Taxonomy:
    """Analyse the runs."""
    return Taxonomy(
        heapwright_version=__version__,
        environment=machine,
        plan=plan,
        criteria=CRITERIA,
        rows=conclude(result.runs, machine.allocators),
        notes=notes,
        runs=tuple(result.runs),
    )


def _describe(options: Options, extent: Extent, seed: int, result: SurveyResult) -> Plan:
    return Plan(
        seed=seed,
        blocks=options.blocks,
        threads=extent.timed,
        counted_threads=extent.counted,
        small=options.small,
        budget_s=options.budget_s,
        planned=result.planned,
        done=len(result.runs),
        stopped_because=result.stopped_because,
    )


def _deliver(
    options: Options,
    outputs: Outputs,
    document: Taxonomy,
    result: SurveyResult,
    journal: Journal,
) -> ExitCode:
    """Write the files, then print. Remove the journal only when all runs are in another file."""
    failure = outputs.write(json=document.to_json, html=lambda: page(document))
    whereabouts = list(_whereabouts(outputs, result, journal, failure))
    try:
        print_taxonomy(document, whereabouts, quiet=options.quiet, stream=outputs.stream)
    except HeapwrightError as unprinted:
        failure = failure or unprinted
    if failure is not None and journal.path is not None:
        failure.hint = f"nothing is lost: every raw run is in {journal.path}"
    error = failure or result.failure
    if error is not None:
        raise error
    return ExitCode.INTERRUPTED if result.interrupted else ExitCode.OK


def _whereabouts(
    outputs: Outputs, result: SurveyResult, journal: Journal, failure: HeapwrightError | None
) -> Iterator[str]:
    page = outputs["html"]
    if page is not None and failure is None and not page.is_standard_output:
        yield f"the curves: {page.text}"
    yield from where_runs_are(outputs, journal, failure, any_runs=bool(result.runs))
