# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The work of `heapwright study run` and `resume`: set up, run with the engine, print the state.

A session ends when all runs are made, when its budget is spent, or when it is interrupted. In each
case the folder has every finished run, and `resume` makes the missing ones. A run that was
unfinished when the tool was killed is made again.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.study.file import StudyFile, parse_study
from heapwright.artefacts.study.published import keep
from heapwright.artefacts.study_results.folder import Folder
from heapwright.artefacts.study_results.runs import STUDY_FILE, StudyRun
from heapwright.artefacts.study_results.store import Store, refuse_used
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.quantities import several
from heapwright.base.space import refuse_without_space
from heapwright.cluster.scheduler import Meeting, SchedulerPlace, connected
from heapwright.commands.study_hosts import conduct_at
from heapwright.commands.study_libraries import refuse_other_libraries
from heapwright.commands.study_machine import open_with_allocators
from heapwright.commands.study_progress import StudyDisplay
from heapwright.commands.study_setup import Setup, only_planned, set_up
from heapwright.commands.study_status import status_of
from heapwright.commands.text import printing
from heapwright.experiment.blocks import GIVE_UP_AFTER, Assignment, Blocks, Plan
from heapwright.experiment.design import Key, fresh_seed
from heapwright.experiment.engine import Ending, conduct
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.spread import Spread
from heapwright.experiment.study_measurement import StudyMeasurement
from heapwright.report.console import make_console
from heapwright.report.study_status import print_end

ALL_MADE = "all runs are made"
BYTES_A_RUN = 1024
BYTES_A_RESPONSE = 64
"""Of the results of a study, as they are written: one line for each run."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one session."""

    budget_s: float | None = None
    """None: the study's own."""
    quiet: bool = False
    scheduler: str | None = None
    """Address of a running Dask scheduler."""
    listen: str | None = None
    """HOST:PORT or PORT of a scheduler that heapwright starts."""
    hosts: tuple[str, ...] = ()
    """Hosts on which workers are started over ssh."""
    insecure: bool = False
    """Whether workers need no certificate."""

    @property
    def place(self) -> SchedulerPlace | None:
        """The meeting point of other hosts; None: the runs are made here."""
        if self.scheduler is None and self.listen is None and not self.hosts:
            return None
        return SchedulerPlace(self.scheduler, self.listen, self.hosts, self.insecure)


def run_study(
    name: str, scale: str | None, folder: Path | None, seed: int | None, options: Options
) -> ExitCode:
    """Begin a study. Raises HeapwrightError for a refused request."""
    file = open_with_allocators(name, scale)
    own = file.study.design.seed
    chosen = seed if seed is not None else fresh_seed() if own is None else own
    target = folder if folder is not None else Path(default_folder(file))
    refuse_used(target)
    for table in file.study.published:
        if not (file.folder / table.file).is_file():
            raise HeapwrightError(f"there is no published table {file.folder / table.file}")
    with (
        PreloadPaths() as paths,
        set_up(file, chosen, paths) as setup,
        connected(options.place) as meeting,
    ):
        _refuse_without_space(target, setup)
        _tell([f"{setup.design.study}: {_extent(setup)}", *setup.notes], quiet=options.quiet)
        with Store.create(target, file.text, setup.design) as store:
            keep_published(file, target)
            return sit(setup, store, paths, options, meeting)


def resume_study(path: Path, options: Options) -> ExitCode:
    """Continue a study. Raises HeapwrightError for a refused request."""
    folder = Folder.open(path)
    with (
        PreloadPaths() as paths,
        set_up_again(folder, paths) as setup,
        connected(options.place) as meeting,
        Store(folder) as store,
    ):
        keep_published(setup.file, path)
        _tell([f"{len(store.made):,} runs are made", *setup.notes], quiet=options.quiet)
        return sit(setup, store, paths, options, meeting)


def _refuse_without_space(target: Path, setup: Setup) -> None:
    runs = setup.design.planned
    needed = runs * (BYTES_A_RUN + BYTES_A_RESPONSE * len(setup.design.responses))
    what = f"the results of {several(runs, 'run')}"
    refuse_without_space(target, needed, what, "-o names a folder on another file system")


def keep_published(file: StudyFile, target: Path) -> None:
    """Copy the missing published tables into the results folder."""
    missing = [
        table
        for table in file.study.published
        if not (target / table.file).exists() and (file.folder / table.file).is_file()
    ]
    keep(missing, file.folder, target)


@contextmanager
def set_up_again(folder: Folder, paths: PreloadPaths) -> Iterator[Setup]:
    """Check the study of a results folder on this machine again."""
    design = folder.design
    file = parse_study(
        folder.study_text,
        str(folder.path / STUDY_FILE),
        design.scale or None,
        Path(design.folder),
    )
    with set_up(file, design.seed, paths) as setup:
        refuse_other_libraries(folder, setup)
        yield only_planned(setup, design)


def sit(
    setup: Setup,
    store: Store,
    paths: PreloadPaths,
    options: Options,
    meeting: Meeting | None = None,
) -> ExitCode:
    """Make the missing runs, on the hosts of a meeting if there is one; return the exit status."""
    if meeting is not None:
        spread = Spread(*schedule_of(setup, store, options))
        ending = conduct_at(meeting, setup, store, spread, quiet=options.quiet)
        return finish(store, ending, spread, quiet=options.quiet)
    store.add_host(setup.machine)
    schedule = Blocks(*schedule_of(setup, store, options))
    measurement = StudyMeasurement(setup.job, paths)
    with (
        StudyDisplay(schedule, store.made, quiet=options.quiet) as display,
    ):

        def over(assignment: Assignment, run: StudyRun) -> None:
            store.keep(run)
            display.over(assignment, run)
            schedule.over(assignment, run)

        ending = conduct(schedule, measurement.execute, over=over, begins=display.begins)
        _close(measurement, ending)
    return finish(store, ending, schedule, quiet=options.quiet)


def schedule_of(
    setup: Setup, store: Store, options: Options
) -> tuple[Plan, dict[tuple[int, Key], Outcome]]:
    """The runs to make, and the earlier ones."""
    design, study = setup.design, setup.file.study
    own = study.design.budget_min
    budget = options.budget_s if options.budget_s is not None else own and own * 60
    keys = {treatment.level: treatment.key for treatment in setup.treatments}
    made = {
        (block, keys[treatment]): outcome
        for (block, treatment), outcome in store.made.items()
        if treatment in keys
    }
    plan = Plan(
        setup.treatments, design.seed, design.blocks, design.discard, study.timeout_s, budget
    )
    return plan, made


def _close(measurement: StudyMeasurement, ending: Ending) -> None:
    """Run the last hook. Report its failure if there is no other error."""
    try:
        measurement.close()
    except HeapwrightError as error:
        ending.failure = ending.failure or error


def finish(store: Store, ending: Ending, schedule: Blocks, *, quiet: bool) -> ExitCode:
    """Print the present state."""
    because = ending.stopped_because or ALL_MADE
    status = status_of(store.folder)
    if not quiet:
        with printing():
            print_end(make_console(), status, because, _given_up(schedule))
    if ending.failure is not None:
        raise ending.failure
    if ending.interrupted:
        return ExitCode.INTERRUPTED
    if status.made and not status.good:
        raise HeapwrightError(
            "no run was good, so there is nothing to analyse",
            f"why: heapwright study status {store.folder.path}",
            exit_code=ExitCode.NOTHING_COMPARED,
        )
    return ExitCode.OK


def _given_up(schedule: Blocks) -> list[str]:
    """Notes on treatments that were given up."""
    levels = {each.key: " ".join(each.levels.values()) for each in schedule.plan.treatments}
    return [
        f"given up after block {each.block}: {levels[each.key]}: {each.outcome} "
        f"{GIVE_UP_AFTER} times in a row"
        for each in schedule.given_up
    ]


def default_folder(file: StudyFile) -> str:
    """The default folder of results."""
    return f"{file.study.name}-{file.scale}-results" if file.scale else f"{file.study.name}-results"


def _extent(setup: Setup) -> str:
    design = setup.design
    blocks = design.blocks + design.discard
    return f"{len(design.treatments):,} treatments in {blocks} blocks: {design.planned:,} runs"


def _tell(sentences: Sequence[str], *, quiet: bool) -> None:
    if not quiet:
        console = make_console(sys.stderr)
        for sentence in sentences:
            console.print(sentence, soft_wrap=True)
