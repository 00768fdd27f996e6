# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The survey: every trial under every allocator, block by block, to the end or to an early stop.

A block runs each trial under all allocators in a random order, one after the other. A drift over
minutes therefore affects all alike. Trials with little or no scatter are only in the first blocks.
An early end leaves a complete table with fewer repetitions. A function makes each run. Every run
goes to the journal at once.

After a bad end, an allocator does not run the same trial in later blocks.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic

from heapwright.artefacts.run.journal import Journal
from heapwright.artefacts.run.workload import WorkloadRun
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.blocks import spent
from heapwright.experiment.engine import StopError, conduct
from heapwright.experiment.taxonomy.trials import Trial


@dataclass(frozen=True, slots=True)
class Task:
    """One run to make."""

    allocator: str
    trial: Trial
    block: int


@dataclass(frozen=True, slots=True)
class SurveyPlan:
    """The runs of a survey; `wanted` selects the meaningful trials of an allocator."""

    allocators: Sequence[str]
    trials: Sequence[Trial]
    wanted: Callable[[str, Trial], bool]
    seed: int
    blocks: int
    budget_s: float | None = None

    def tasks(self) -> list[Task]:
        """All runs in their order, which depends only on the seed and not on results."""
        tasks = []
        for block in range(1, self.blocks + 1):
            for number, trial in enumerate(self.trials):
                if trial.blocks is not None and block > trial.blocks:
                    continue
                order = sorted(self.allocators)
                random.Random(f"taxonomy/{self.seed}/{block}/{number}").shuffle(order)
                tasks += [Task(name, trial, block) for name in order if self.wanted(name, trial)]
        return tasks


@dataclass(slots=True)
class SurveyResult:
    runs: list[WorkloadRun] = field(default_factory=list)
    planned: int = 0
    stopped_because: str = ""
    interrupted: bool = False
    failure: HeapwrightError | None = None


Execute = Callable[[Task], WorkloadRun]
Watch = Callable[[Task, int, int], None]
"""Called before each task with the numbers of finished tasks and of all tasks."""


def run_survey(
    plan: SurveyPlan,
    execute: Execute,
    *,
    journal: Journal,
    watch: Watch = lambda _task, _done, _all: None,
) -> SurveyResult:
    """Run all tasks with the rules of the engine."""
    tasks = plan.tasks()
    result = SurveyResult(planned=len(tasks))
    bad: set[tuple[str, Trial]] = set()
    begun = monotonic()

    def schedule() -> Iterator[tuple[int, Task]]:
        for done, task in enumerate(tasks):
            if (task.allocator, task.trial) in bad:
                continue
            if plan.budget_s is not None and result.runs and monotonic() - begun > plan.budget_s:
                raise StopError(spent(plan.budget_s))
            yield done, task

    def over(numbered: tuple[int, Task], run: WorkloadRun) -> None:
        task = numbered[1]
        result.runs.append(run)
        journal.append_line(run.model_dump_json())
        if not run.good:
            bad.add((task.allocator, task.trial))

    ending = conduct(
        schedule(),
        lambda numbered: execute(numbered[1]),
        over=over,
        begins=lambda numbered: watch(numbered[1], numbered[0], len(tasks)),
    )
    result.stopped_because = ending.stopped_because or "all runs were made"
    result.interrupted = ending.interrupted
    result.failure = ending.failure
    return result
