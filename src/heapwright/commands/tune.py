# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright tune`, after its options are read: check, search, confirm, answer."""

import os
import shlex
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from heapwright import __version__
from heapwright.analysis.apply import Invocation, how_to_apply
from heapwright.analysis.tuning.answer import (
    answer_of,
    candidates,
    confirmed_of,
    interactions,
    setting_results,
)
from heapwright.analysis.tuning.design import MOST_FACTORS
from heapwright.analysis.tuning.search import Rules
from heapwright.analysis.tuning.space import Cell, Factor, Space
from heapwright.artefacts.allocator.settings import (
    DEFAULT,
    AllocatorSetting,
    chosen_settings,
    settings_of,
    variables_of,
)
from heapwright.artefacts.program.request import ProgramRequest
from heapwright.artefacts.run.journal import journal_folders
from heapwright.artefacts.run.provenance import Allocator, Environment, read_environment
from heapwright.artefacts.tuning.document import Tuning
from heapwright.artefacts.tuning.folder import SearchFolder, SearchPlan
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.processors import format_cpus
from heapwright.base.spelling import nearest
from heapwright.commands.conclusion import describe
from heapwright.commands.output import Outputs
from heapwright.commands.setup import discovering
from heapwright.commands.tuning_load import Load, opened
from heapwright.commands.tuning_runs import Schedule
from heapwright.commands.tuning_text import SearchDisplay, print_tuning
from heapwright.experiment.design import fresh_seed
from heapwright.experiment.engine import conduct
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.treatments import Treatment, parse_requests

CONFIDENCE = 0.95
OBJECTIVES = ("time", "peak", "idle")
"""Of every run."""
REFUSED = {ExitCode.BAD_INPUT, ExitCode.NOTHING_COMPARED}
"""A search that ends so before its screening leaves no folder."""


@dataclass(frozen=True, slots=True)
class Options:
    """The command line, read."""

    command: tuple[str, ...]
    program: ProgramRequest | None
    allocator: str
    settings: tuple[str, ...]
    finer: bool
    """Race levels outside of the grid too."""
    objective: str
    cap: float | None
    """The largest ratio of the other figure; None: any."""
    budget_s: float | None
    folder: Path | None
    margin: float
    cpus: tuple[int, ...]
    seed: int | None
    json_file: str | None
    quiet: bool


@dataclass(frozen=True, slots=True)
class Target:
    """The allocator and the settings to search, as the runs use them."""

    allocator: Allocator
    settings: tuple[AllocatorSetting, ...]
    space: Space
    environment: Mapping[str, str]

    def variables(self, cell: Cell) -> dict[str, str]:
        """The variables of a cell, without those of the user."""
        return variables_of(self.settings, self.space.levels(cell), {})

    def treatment(self, cell: Cell) -> Treatment:
        """The allocator with the settings of a cell. What the user has set beside them stays."""
        own = {**self.environment, **self.allocator.environment}
        values = variables_of(self.settings, self.space.levels(cell), own)
        return Treatment(
            self.allocator, self.space.label(cell), {**self.allocator.environment, **values}
        )


def run_tuning(options: Options) -> ExitCode:
    """Run the verb; return the exit status. Raises HeapwrightError for a refused request."""
    outputs = Outputs(json=options.json_file)
    environment = dict(os.environ)
    with PreloadPaths() as paths:
        target = _target(options, environment, paths)
        machine = read_environment([target.allocator], environment)
        name = target.allocator.name
        cpus = format_cpus(set(options.cpus)) or None
        with (
            opened(options.command, options.program, name, paths, environment, cpus) as load,
            _folder(options, _plan(options, target, load)) as folder,
        ):
            return _searched(options, outputs, target, folder, load, machine)


def _searched(
    options: Options,
    outputs: Outputs,
    target: Target,
    folder: SearchFolder,
    load: Load,
    machine: Environment,
) -> ExitCode:
    """Search, write the answer and print it. Nothing is lost after any end."""
    rules = Rules(options.margin, options.cap, CONFIDENCE)
    schedule = Schedule(
        target.space,
        rules,
        options.objective,
        options.budget_s,
        folder,
        target.treatment,
        own_time=load.own_time,
    )
    with SearchDisplay(schedule, quiet=options.quiet) as display:
        ending = conduct(schedule, load.execute, over=schedule.over, begins=display.begins)
        if not ending.runs and schedule.search is not None and schedule.search.phase == "over":
            display.announce("heapwright: the search is complete; no run was made")
    if schedule.search is None or schedule.figures is None:
        if ending.failure is not None:
            raise ending.failure
        raise HeapwrightError(
            f"there is no answer: {ending.stopped_because}",
            f"the same command with -o {folder.path} continues the search",
            exit_code=ExitCode.INTERRUPTED if ending.interrupted else ExitCode.NOTHING_COMPARED,
        )
    search, figures = schedule.search, schedule.figures
    answer = answer_of(
        search,
        figures,
        target.variables,
        stopped=ending.stopped_because,
        notes=(*_replayed(options, folder.plan, load), *schedule.warnings),
    )
    document = Tuning(
        heapwright_version=__version__,
        command=folder.plan.command,
        environment=machine,
        allocator=target.allocator.name,
        objective=options.objective,
        figure=figures.objective,
        cap=rules.cap,
        margin=rules.margin,
        confidence=rules.confidence,
        seed=folder.plan.seed,
        settings=setting_results(
            search,
            {each.name: each.default for each in target.settings},
            {each.name: each.restart for each in target.settings},
        ),
        interactions=interactions(search),
        scatter=None if search.screen is None else search.screen.scatter,
        df=None if search.screen is None else search.screen.df,
        raced=candidates(search),
        confirmed=confirmed_of(search),
        answer=answer,
        runs=schedule.runs,
        grid=target.space.size,
        finished=search.phase == "over",
    )
    failure = outputs.write(json=document.to_json)
    lines = _lines(search.winner, target, folder, document, machine)
    print_tuning(document, lines, quiet=options.quiet, stream=outputs.stream)
    if error := failure or ending.failure:
        raise error
    return ExitCode.INTERRUPTED if ending.interrupted else ExitCode.OK


def _replayed(options: Options, plan: SearchPlan, load: Load) -> tuple[str, ...]:
    """That the figures of a trace are not those of its program."""
    if not load.is_replay:
        return ()
    words = ["heapwright", "tune"]
    words += [] if plan.allocator == "glibc" else ["-a", plan.allocator]
    words += [] if plan.objective == "time" else ["--objective", plan.objective]
    words += [word for each in options.settings for word in ("--setting", each)]
    words += ["--finer"] if plan.finer else []
    command = shlex.join(plan.command) or "COMMAND"
    return (
        "times and memory are those of the replayer: confirm with "
        f"{shlex.join(words)} -- {command}",
    )


def _lines(
    winner: Cell, target: Target, folder: SearchFolder, document: Tuning, machine: Environment
) -> list[str]:
    """How to apply the answer, and how to continue an unfinished search."""
    lines = []
    if document.answer.action == "set":
        invocation = Invocation(document.command, machine.settings)
        info = describe(target.treatment(winner)).model_copy(update={"command": ()})
        lines.append(how_to_apply(info, invocation)[0])
        if all(each.restart for each in target.settings if each.name in document.answer.settings):
            lines.append("only a new process reads these settings")
    if not document.finished:
        lines.append(f"the same command with -o {shlex.quote(str(folder.path))} continues")
    lines.append(f"runs: {folder.path}")
    return lines


def _target(options: Options, environment: Mapping[str, str], paths: PreloadPaths) -> Target:
    """The allocator and its settings. Raises HeapwrightError for one that it does not have."""
    with discovering(environment, paths) as discovery:
        requests = parse_requests([options.allocator], discovery.names)
        if len(requests) != 1:
            raise HeapwrightError(f"{options.allocator} names more than one allocator")
        chosen_settings(settings_of(requests[0].name), options.settings)
        (allocator,) = discovery.requested(requests)
    if not allocator.effective:
        raise HeapwrightError(f"{allocator.name} would have no effect: {allocator.reason}")
    known = settings_of(allocator.name, allocator.version)
    settings = chosen_settings(known, options.settings)
    if not 1 <= len(settings) <= MOST_FACTORS:
        raise HeapwrightError(
            f"{len(settings)} settings cannot be searched at once: it is 1 to {MOST_FACTORS}",
            "name them with --setting",
        )
    factors = tuple(
        Factor(
            each.name,
            each.levels,
            each.levels.index(DEFAULT),
            each.finer_levels() if options.finer else (),
        )
        for each in settings
    )
    return Target(allocator, settings, Space(factors), environment)


def _plan(options: Options, target: Target, load: Load) -> SearchPlan:
    """The question. Raises HeapwrightError for an objective that the runs do not have."""
    known = (*OBJECTIVES, *load.measures)
    if options.objective not in known:
        raise HeapwrightError(
            f"--objective cannot be {options.objective!r}",
            nearest(options.objective, known)
            or f"it is {' or '.join(known)}"
            + ("" if options.program else "; figures of a program need --program NAME"),
        )
    return SearchPlan(
        command=load.command,
        program=load.name,
        cwd=str(Path.cwd()),
        allocator=target.allocator.name,
        library=target.allocator.sha256 or "",
        settings={each.name: each.levels for each in target.settings},
        finer=options.finer,
        objective=options.objective,
        cap=options.cap,
        margin=options.margin,
        seed=fresh_seed() if options.seed is None else options.seed,
    )


@contextmanager
def _folder(options: Options, plan: SearchPlan) -> Iterator[SearchFolder]:
    """The folder of -o, or a new one beside the journals of other verbs."""
    path = options.folder
    if path is None:
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        path = journal_folders()[0] / f"tune-{stamp}-{os.getpid()}"
    with SearchFolder.open(path, plan, same_seed=options.seed is not None) as folder:
        try:
            yield folder
        except HeapwrightError as error:
            if error.exit_code in REFUSED:
                folder.discard()
            raise
