# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The layer under a trial and the kind of run: plain, self-counting, or instrumented.

The limit is the bump pointer inside the workload programs. Where instructions are counted, the
limit is a library, as the allocators are. A composition of heapwright has a second library that
counts interactions of its threads. Other libraries run under valgrind for these counts.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import Allocator
from heapwright.artefacts.run.workload import Aspect, WorkloadRun
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.base.paths import is_file
from heapwright.experiment import instrument
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.taxonomy.survey import Task
from heapwright.experiment.taxonomy.trials import Trial
from heapwright.experiment.taxonomy.workload_run import (
    Subject,
    WorkloadRunner,
    command,
    run_of,
)
from heapwright.experiment.treatments import TUNABLES, merge_tunables

LIMIT = "limit"
LIMITED = frozenset({Aspect.SPEED, Aspect.INSTRUCTIONS})
"""What the limit is a limit of."""
INSTRUMENTED = frozenset({Aspect.INSTRUCTIONS, Aspect.SHARING})
PROCESSORS = "HEAPWRIGHT_PROCESSORS"
"""Sets the number of processors that heapwright's allocators assume."""
UNTIMED = frozenset({Aspect.EVENTS, Aspect.LINES, Aspect.THREADS})
"""The aspects measured as on a machine with a processor for each thread."""
COUNT_LIMITS = instrument.Limits(seconds=60.0)


class Execution:
    """Makes the runs of a survey. Pass `execute` to the survey."""

    def __init__(
        self,
        allocators: Sequence[Allocator],
        environment: Mapping[str, str],
        paths: PreloadPaths,
        seed: int,
    ) -> None:
        self._allocators = {allocator.name: allocator for allocator in allocators}
        self._environment = dict(environment)
        self._seed = seed
        self._runner = WorkloadRunner(environment, paths, seed)
        self._uncountable = instrument.missing()
        self._missing: dict[str, str] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """All subjects of trials: the limit, then the allocators."""
        return (LIMIT, *self._allocators)

    @property
    def notes(self) -> tuple[str, ...]:
        """Trials that could not run, with reasons."""
        uncounted = f"no instructions and no lines are counted: {self._uncountable}"
        return (*self._missing.values(), *([uncounted] if self._uncountable else []))

    def wanted(self, name: str, trial: Trial) -> bool:
        """Whether the trial is meaningful and possible."""
        if not self._program_exists(trial.workload):
            return False
        if trial.aspect in INSTRUMENTED and self._uncountable:
            return False
        if name == LIMIT:
            return trial.aspect in LIMITED
        counting = counting_library(self._allocators[name])
        if trial.aspect is Aspect.EVENTS:
            return counting is not None
        return trial.aspect is not Aspect.SHARING or counting is None

    def execute(self, task: Task) -> WorkloadRun:
        """One run. Raises HeapwrightError if it cannot be made, KeyboardInterrupt on Ctrl-C."""
        subject = self._subject(task)
        if task.trial.aspect in INSTRUMENTED:
            return self._count(task, subject)
        return self._runner.run(task, subject)

    def _program_exists(self, workload: str) -> bool:
        try:
            native.workload(workload)
        except native.NativeMissingError as error:
            self._missing[workload] = f"{workload} is not run: {error.message}"
            return False
        return True

    def _subject(self, task: Task) -> Subject:
        if task.allocator == LIMIT:
            if task.trial.aspect is Aspect.INSTRUCTIONS:
                return Subject(native.library("limit"), {})
            return Subject(None, {}, ("--bump",))
        allocator = self._allocators[task.allocator]
        library = Path(allocator.path) if allocator.path else None
        own = dict(allocator.environment)
        if task.trial.aspect is Aspect.EVENTS:
            library = counting_library(allocator) or library
        if task.trial.aspect in UNTIMED:
            own[PROCESSORS] = str(task.trial.threads)
        if TUNABLES in own:
            own[TUNABLES] = merge_tunables(self._environment.get(TUNABLES, ""), own[TUNABLES])
        return Subject(library, own)

    def _count(self, task: Task, subject: Subject) -> WorkloadRun:
        words = command(native.workload(task.trial.workload), task, subject, self._seed)
        outcome, detail, text, wall = Outcome.OK, "", "", None
        figures: dict[str, float] = {}
        try:
            counts = instrument.count(
                subject.library,
                {**self._environment, **subject.environment},
                words,
                limits=COUNT_LIMITS,
            )
        except HeapwrightError as error:
            outcome, detail = Outcome.FAILED, error.message
        else:
            text, wall = counts.output, counts.seconds
            figures = {
                "instructions": float(counts.instructions),
                "locked_instructions": float(counts.locked_instructions),
                "shared_metadata_lines": float(counts.shared_metadata_lines),
                "writes_to_shared_lines": float(counts.writes_to_shared_lines),
            }
            if not counts.complete:
                outcome, detail, figures = Outcome.FAILED, counts.reason, {}
        run = run_of(task, words, outcome, detail, text)
        return run.model_copy(update={"wall_s": wall, "counts": figures})


def counting_library(allocator: Allocator) -> Path | None:
    """The library that counts what its threads do to each other, if there is one."""
    if allocator.path is None:
        return None
    library = Path(os.path.abspath(allocator.path))  # noqa: PTH100 (no link is to be followed)
    found = library.parent / "counting" / library.name
    return found if is_file(found) else None
