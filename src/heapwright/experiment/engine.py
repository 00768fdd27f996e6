# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The experiment: blocks of runs, until enough is known or something ends it.

The engine knows order, repetition and when to stop; how one run is made is given to it as a
function, and whether the results suffice is asked of another. Every finished run goes to the
journal before the next one starts. Whatever ends the experiment (an interruption, a spent budget, a
preparation that fails), the runs made so far are in the result.

A treatment that ends badly `GIVE_UP_AFTER` times in a row is left out of later blocks; that never
changes the order of the others, which is drawn for all of them. When the baseline is the one, or
when it fails in its very first warm-up, there is nothing to compare with and the experiment ends.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic

from heapwright.artefacts.errors import HeapwrightError
from heapwright.artefacts.journal import Journal
from heapwright.artefacts.runs import Outcome, Run
from heapwright.experiment.design import Key, block_numbers, block_order, is_warmup
from heapwright.experiment.treatments import Treatment

GIVE_UP_AFTER = 3
TIMEOUT_FACTOR = 20.0
TIMEOUT_LEAST_S = 60.0
TIMEOUT_UNKNOWN_S = 3600.0
"""Limit of a run while it is not known how long the baseline takes; only without warm-ups."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be run; the first treatment is the baseline."""

    treatments: Sequence[Treatment]
    seed: int
    blocks: int
    """Measured blocks at most."""
    warmup: int = 1
    timeout_s: float | None = None
    """Limit of one run; None: a generous multiple of the baseline's own time."""
    budget_s: float | None = None

    @property
    def baseline(self) -> Treatment:
        return self.treatments[0]


@dataclass(frozen=True, slots=True)
class Assignment:
    """One run that is to be made."""

    treatment: Treatment
    block: int
    position: int
    warmup: bool
    timeout_s: float | None


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A treatment that was left out of the blocks after `block`."""

    key: Key
    block: int
    outcome: Outcome


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
Watch = Callable[[Assignment, Run | None], None]
"""Told when a run begins, with None, and when it is over."""


class _StopError(Exception):
    """Ends the blocks from within; its text is the reason."""


def run_experiment(
    plan: Plan,
    execute: Execute,
    *,
    journal: Journal,
    enough: Enough = lambda _runs, _blocks: "",
    watch: Watch = lambda _assignment, _run: None,
) -> Result:
    """Run the blocks of `plan`; never raises for what a run or a preparation does.

    A HeapwrightError of `execute` before the first run is over is raised, because then there is
    nothing to keep; a later one ends the experiment and is in the result.
    """
    experiment = _Experiment(plan, execute, journal, watch)
    result = experiment.result
    try:
        result.stopped_because = experiment.run(enough)
    except _StopError as stop:
        result.stopped_because = str(stop)
    except KeyboardInterrupt:
        result.interrupted = True
        result.stopped_because = "it was interrupted"
    except HeapwrightError as error:
        if not result.runs:
            raise
        result.failure = error
        result.stopped_because = error.message
    result.timeout_s = experiment.timeout_s
    return result


class _Experiment:
    """The state of one experiment while it runs."""

    def __init__(
        self,
        plan: Plan,
        execute: Execute,
        journal: Journal,
        watch: Watch,
    ) -> None:
        self.result = Result()
        self._plan = plan
        self._execute = execute
        self._journal = journal
        self._watch = watch
        self._treatments = {treatment.key: treatment for treatment in plan.treatments}
        self._bad_in_a_row = dict.fromkeys(self._treatments, 0)
        self._begun = monotonic()

    def run(self, enough: Enough) -> str:
        """All blocks; returns why it ended when it came to the end by itself."""
        for block in block_numbers(self._plan.warmup, self._plan.blocks):
            self._check_budget()
            self._run_block(block)
            if is_warmup(block):
                continue
            self.result.blocks = block
            if reason := enough(self.result.runs, block):
                return reason
        blocks = self._plan.blocks
        return "the one block was run" if blocks == 1 else f"all {blocks} blocks were run"

    @property
    def timeout_s(self) -> float | None:
        """The limit of the next run that is not the baseline's."""
        if self._plan.timeout_s is not None:
            return self._plan.timeout_s
        slowest = self._slowest_of_baseline()
        if slowest is None:
            return TIMEOUT_UNKNOWN_S
        return max(TIMEOUT_LEAST_S, TIMEOUT_FACTOR * slowest)

    def _slowest_of_baseline(self) -> float | None:
        """From its warm-ups; from its measured runs only where there are no warm-ups."""
        good = [
            run
            for run in self.result.runs
            if run.outcome is Outcome.OK
            and (run.allocator, run.level) == self._plan.baseline.key
            and run.warmup == (self._plan.warmup > 0)
        ]
        return max((run.wall_s for run in good if run.wall_s is not None), default=None)

    def _check_budget(self) -> None:
        """Begin no block that would not be over in time, as far as the last one tells."""
        if self._plan.budget_s is None:
            return
        spent = monotonic() - self._begun
        per_block = spent / (self.result.blocks + self._plan.warmup) if self.result.blocks else 0.0
        if spent + per_block > self._plan.budget_s and self.result.runs:
            raise _StopError(f"the budget of {self._plan.budget_s / 60:g} min is spent")

    def _run_block(self, block: int) -> None:
        for position, treatment in enumerate(self._order(block), 1):
            is_baseline = treatment.key == self._plan.baseline.key
            unlimited = is_baseline and self._plan.timeout_s is None
            assignment = Assignment(
                treatment,
                block,
                position,
                is_warmup(block),
                None if unlimited and not self.result.runs else self.timeout_s,
            )
            self._watch(assignment, None)
            run = self._execute(assignment)
            self.result.runs.append(run)
            self._journal.append_line(run.model_dump_json())
            self._watch(assignment, run)
            self._judge(treatment, run)

    def _order(self, block: int) -> Iterator[Treatment]:
        """The treatments of `block` that are still in; the very first warm-up is the baseline's."""
        begins = block == 1 - self._plan.warmup and self._plan.warmup > 0
        first = self._plan.baseline.key if begins else None
        order = block_order(list(self._treatments), seed=self._plan.seed, block=block, first=first)
        gone = {given_up.key for given_up in self.result.given_up}
        return (self._treatments[key] for key in order if key not in gone)

    def _judge(self, treatment: Treatment, run: Run) -> None:
        """Count bad outcomes in a row, and end what has no prospect."""
        if run.outcome is Outcome.OK:
            self._bad_in_a_row[treatment.key] = 0
            return
        self._bad_in_a_row[treatment.key] += 1
        is_baseline = treatment.key == self._plan.baseline.key
        if is_baseline and len(self.result.runs) == 1 and run.warmup:
            raise _StopError("the command fails under the baseline")
        if self._bad_in_a_row[treatment.key] < GIVE_UP_AFTER:
            return
        self.result.given_up.append(GivenUp(treatment.key, run.block, run.outcome))
        if is_baseline:
            raise _StopError("the command fails under the baseline")
        if len(self.result.given_up) == len(self._treatments) - 1:
            raise _StopError("every treatment but the baseline was given up")
