# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""An experiment that compares with a baseline: blocks, until the ratios are known well enough.

The first warm-up begins with the baseline, whose time sets the limit for the others. When the
baseline fails in its very first warm-up, or is given up, there is nothing to compare with and the
experiment ends; so it does when nothing but the baseline is left.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from heapwright.artefacts.run.journal import Journal
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.base.errors import HeapwrightError
from heapwright.experiment import blocks
from heapwright.experiment.blocks import TIMEOUT_UNKNOWN_S, Assignment, Blocks, GivenUp, spent
from heapwright.experiment.design import Key
from heapwright.experiment.engine import StopError, conduct
from heapwright.experiment.treatments import Treatment

TIMEOUT_FACTOR = 20.0
TIMEOUT_LEAST_S = 60.0


@dataclass(frozen=True, slots=True)
class Plan(blocks.Plan):
    """What is to be run; the first treatment is the baseline.

    Without a limit of its own a run may take a generous multiple of what the baseline took.
    """

    @property
    def baseline(self) -> Treatment:
        return self.treatments[0]


@dataclass(slots=True)
class Result:
    """What an experiment came to."""

    runs: list[Run] = field(default_factory=list)
    blocks: int = 0
    """Measured blocks that were run to their end."""
    stopped_because: str = ""
    interrupted: bool = False
    timeout_s: float | None = None
    """The limit that was in force in the end."""
    given_up: list[GivenUp] = field(default_factory=list)
    failure: HeapwrightError | None = None
    """What kept the experiment from going on, if it was an error."""


Execute = Callable[[Assignment], Run]
Enough = Callable[[Sequence[Run], int], str]
"""Asked after every measured block with all runs and the number of blocks: why to stop, or ""."""
Left = Callable[[], Collection[Key]]
"""Asked before every block: the treatments that it leaves out."""
Watch = Callable[[Assignment, Run | None], None]
"""Told when a run begins, with None, and when it is over."""


def run_experiment(  # noqa: PLR0913 - what the caller may attach, by name
    plan: Plan,
    execute: Execute,
    *,
    journal: Journal,
    enough: Enough = lambda _runs, _blocks: "",
    left: Left = tuple,
    watch: Watch = lambda _assignment, _run: None,
) -> Result:
    """Run the blocks of `plan` with the rules of the engine."""
    schedule = _ComparedBlocks(plan, enough, left)

    def over(assignment: Assignment, run: Run) -> None:
        schedule.runs.append(run)
        journal.append_line(run.model_dump_json())
        watch(assignment, run)
        schedule.over(assignment, run)

    ending = conduct(schedule, execute, over=over, begins=lambda each: watch(each, None))
    all_blocks = (
        "the one block was run" if plan.blocks == 1 else f"all {plan.blocks} blocks were run"
    )
    return Result(
        runs=schedule.runs,
        blocks=schedule.blocks,
        stopped_because=ending.stopped_because or all_blocks,
        interrupted=ending.interrupted,
        timeout_s=schedule.timeout_s,
        given_up=schedule.given_up,
        failure=ending.failure,
    )


class _ComparedBlocks(Blocks):
    """Blocks with a baseline."""

    def __init__(self, plan: Plan, enough: Enough, left: Left) -> None:
        super().__init__(plan)
        self.runs: list[Run] = []
        self._baseline = plan.baseline.key
        self._enough = enough
        self._left = left

    def _gone(self) -> set[Key]:
        return super()._gone() | set(self._left())

    @property
    def timeout_s(self) -> float | None:
        """The limit of the next run that is not the baseline's."""
        if self.plan.timeout_s is not None:
            return self.plan.timeout_s
        slowest = self._slowest_of_baseline()
        if slowest is None:
            return TIMEOUT_UNKNOWN_S
        return max(TIMEOUT_LEAST_S, TIMEOUT_FACTOR * slowest)

    def _slowest_of_baseline(self) -> float | None:
        """From its warm-ups; from its measured runs only where there are no warm-ups."""
        good = [
            run
            for run in self.runs
            if run.outcome is Outcome.OK
            and (run.allocator, run.level) == self._baseline
            and run.warmup == (self.plan.warmup > 0)
        ]
        return max((run.wall_s for run in good if run.wall_s is not None), default=None)

    def _first(self, block: int) -> Key | None:
        begins = block == 1 - self.plan.warmup and self.plan.warmup > 0
        return self._baseline if begins else None

    def _limit_of(self, treatment: Treatment) -> float | None:
        unlimited = treatment.key == self._baseline and self.plan.timeout_s is None
        return None if unlimited and not self.runs else self.timeout_s

    def _begin_block(self) -> None:
        """Begin no block that would not be over in time, as far as the last one tells."""
        if self.plan.budget_s is None:
            return
        per_block = self.spent_s / (self.blocks + self.plan.warmup) if self.blocks else 0.0
        if self.spent_s + per_block > self.plan.budget_s and self.runs:
            raise StopError(spent(self.plan.budget_s))

    def _begin_run(self) -> None:
        """A block that was begun is run to its end."""

    def _end_block(self) -> None:
        if reason := self._enough(self.runs, self.blocks):
            raise StopError(reason)

    def _judge(self, treatment: Treatment, block: int, outcome: Outcome) -> None:
        """End what has no prospect."""
        super()._judge(treatment, block, outcome)
        is_baseline = treatment.key == self._baseline
        fails = outcome is not Outcome.OK
        if is_baseline and fails and len(self.runs) == 1 and self.runs[0].warmup:
            raise StopError("the command fails under the baseline")
        gone = super()._gone()
        if self._baseline in gone:
            raise StopError("the command fails under the baseline")
        if gone and len(gone) == len(self._treatments) - 1:
            raise StopError("every treatment but the baseline was given up")
