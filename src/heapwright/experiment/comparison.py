# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""An experiment that compares with a baseline: blocks, until the ratios are precise enough.

The first warm-up begins with the baseline, whose time sets the limit for the others. The experiment
ends if the baseline fails in its very first warm-up or is given up, because there is nothing to
compare with. It also ends if only the baseline is left.

Where treatments have levels of parameters, each level has a baseline of its own. A level with such
a failed baseline is left out of later blocks. The experiment ends with the last level.
"""

import math
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
    """The runs of an experiment. The first treatment of each level of parameters is its baseline.

    Without an explicit limit, a run may take a large multiple of the baseline's time.
    """

    @property
    def baseline(self) -> Treatment:
        """That of the first level."""
        return self.treatments[0]

    def levels(self) -> list[list[Key]]:
        """The treatments of each level of parameters, the baseline first."""
        found: dict[tuple[tuple[str, str], ...], list[Key]] = {}
        for treatment in self.treatments:
            found.setdefault(tuple(treatment.levels.items()), []).append(treatment.key)
        return list(found.values())


@dataclass(slots=True)
class Result:
    """The result of an experiment."""

    runs: list[Run] = field(default_factory=list)
    blocks: int = 0
    """Completed measured blocks."""
    stopped_because: str = ""
    interrupted: bool = False
    timeout_s: float | None = None
    """The limit at the end."""
    given_up: list[GivenUp] = field(default_factory=list)
    failure: HeapwrightError | None = None
    """The error that ended the experiment, if there was one."""


Execute = Callable[[Assignment], Run]
Enough = Callable[[Sequence[Run], int], str]
"""Called after every measured block with all runs and the number of blocks. Returns why to stop,
or ""."""
Left = Callable[[], Collection[Key]]
"""Called before every block. Returns the treatments to leave out."""
Watch = Callable[[Assignment, Run | None], None]
"""Called with None at the start of a run, and with the run at its end."""


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


def too_small(budget_s: float, needed_s: float) -> str:
    """Why there was no measured block, and what to do."""
    minutes = math.ceil(needed_s / 6) / 10
    return (
        f"the budget of {budget_s / 60:g} min is too small for one block; it takes at least "
        f"--budget {max(minutes, 0.1):g}, or fewer candidates"
    )


class _ComparedBlocks(Blocks):
    """Blocks with a baseline."""

    def __init__(self, plan: Plan, enough: Enough, left: Left) -> None:
        super().__init__(plan)
        self.runs: list[Run] = []
        self._levels = plan.levels()
        self._baseline_of = {key: level[0] for level in self._levels for key in level}
        self._begun_badly: set[Key] = set()
        """Baselines that failed in their very first run, a warm-up."""
        self._enough = enough
        self._left = left

    def _gone(self) -> set[Key]:
        over = {key for level in self._levels if self._is_over(level) for key in level}
        return super()._gone() | set(self._left()) | over

    def _is_over(self, level: Sequence[Key]) -> bool:
        """Whether there is nothing left to compare in a level, or nothing to compare with."""
        given_up = super()._gone()
        alone = bool(level[1:]) and given_up.issuperset(level[1:])
        return alone or self._has_no_baseline(level)

    def _has_no_baseline(self, level: Sequence[Key]) -> bool:
        return level[0] in self._begun_badly or level[0] in super()._gone()

    @property
    def timeout_s(self) -> float | None:
        """The limit of the next run that is no baseline's, in the slowest level."""
        limits = [self._timeout_of(level[0]) for level in self._levels]
        return max(limits)

    def _timeout_of(self, baseline: Key) -> float:
        """The limit of a run that is compared with `baseline`."""
        if self.plan.timeout_s is not None:
            return self.plan.timeout_s
        slowest = self._slowest_of(baseline)
        if slowest is None:
            return TIMEOUT_UNKNOWN_S
        return max(TIMEOUT_LEAST_S, TIMEOUT_FACTOR * slowest)

    def _slowest_of(self, baseline: Key) -> float | None:
        """From its warm-ups; without warm-ups, from its measured runs."""
        good = [
            run
            for run in self.runs
            if run.outcome is Outcome.OK
            and (run.allocator, run.level) == baseline
            and run.warmup == (self.plan.warmup > 0)
        ]
        return max((run.wall_s for run in good if run.wall_s is not None), default=None)

    def _first(self, block: int) -> Key | None:
        begins = block == 1 - self.plan.warmup and self.plan.warmup > 0
        return self._levels[0][0] if begins else None

    def _limit_of(self, treatment: Treatment) -> float | None:
        unlimited = treatment.key == self._levels[0][0] and self.plan.timeout_s is None
        if unlimited and not self.runs:
            return None
        return self._timeout_of(self._baseline_of[treatment.key])

    def _begin_block(self) -> None:
        """Begin no block that would exceed the budget, estimated from the last one."""
        if self.plan.budget_s is None:
            return
        gone_through = len({run.block for run in self.runs})
        per_block = self.spent_s / gone_through if gone_through else 0.0
        if self.spent_s + per_block > self.plan.budget_s and self.runs:
            if not self.blocks:
                raise StopError(too_small(self.plan.budget_s, self.spent_s + per_block))
            raise StopError(spent(self.plan.budget_s))

    def _begin_run(self) -> None:
        """Complete a started block, unless even the first takes too long."""
        budget_s, made = self.plan.budget_s, len(self.runs)
        if budget_s is not None and made and not self.blocks and self.spent_s > budget_s:
            blocks = 1 + self.plan.warmup
            needed = self.spent_s / made * len(self._treatments) * blocks
            raise StopError(too_small(budget_s, max(needed, self.spent_s)))

    def _end_block(self) -> None:
        if reason := self._enough(self.runs, self.blocks):
            raise StopError(reason)

    def _judge(self, treatment: Treatment, block: int, outcome: Outcome) -> None:
        """End experiments that cannot give a result."""
        super()._judge(treatment, block, outcome)
        key = treatment.key
        is_baseline = self._baseline_of[key] == key
        if is_baseline and outcome is not Outcome.OK and block == 1 - self.plan.warmup < 1:
            self._begun_badly.add(key)
        if all(map(self._has_no_baseline, self._levels)):
            raise StopError("the command fails under the baseline")
        if all(map(self._is_over, self._levels)):
            raise StopError("every treatment but the baseline was given up")
