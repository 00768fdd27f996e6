# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The schedule of a blocked experiment: every treatment once in each block, in random order.

After an interruption, earlier runs are not made again. The schedule replays them, and learns from
them what it learned before. The remaining runs are therefore those of an uninterrupted experiment.

A treatment that ends badly `GIVE_UP_AFTER` times in a row is left out of later blocks. The order of
the others does not change, because it is drawn for all treatments.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import monotonic

from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.experiment.design import Key, block_numbers, block_order, is_warmup
from heapwright.experiment.engine import StopError
from heapwright.experiment.treatments import Treatment

GIVE_UP_AFTER = 3
TIMEOUT_UNKNOWN_S = 3600.0
"""Limit of a run while no expected duration is known."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The runs of an experiment."""

    treatments: Sequence[Treatment]
    seed: int
    blocks: int
    """Measured blocks at most."""
    warmup: int = 1
    timeout_s: float | None = None
    """Limit of one run; None: the schedule finds one."""
    budget_s: float | None = None


@dataclass(frozen=True, slots=True)
class Assignment:
    """One run to make."""

    treatment: Treatment
    block: int
    position: int
    warmup: bool
    timeout_s: float | None

    @property
    def key(self) -> tuple[int, Key]:
        """Block and treatment; in one experiment there is one run of each."""
        return (self.block, self.treatment.key)


@dataclass(frozen=True, slots=True)
class GivenUp:
    """A treatment that was left out of the blocks after `block`."""

    key: Key
    block: int
    outcome: Outcome


class Blocks:
    """The runs of a plan, in their order. Call `over` for each before requesting the next."""

    def __init__(self, plan: Plan, made: Mapping[tuple[int, Key], Outcome] | None = None) -> None:
        """`made` are the runs of an earlier session, and how they ended."""
        self.plan = plan
        self.given_up: list[GivenUp] = []
        self.blocks = 0
        """Completed measured blocks."""
        self._made = made or {}
        self._treatments = {treatment.key: treatment for treatment in plan.treatments}
        self._bad_in_a_row = dict.fromkeys(self._treatments, 0)
        self._begun = monotonic()
        self._runs = 0

    def __iter__(self) -> Iterator[Assignment]:
        for block in block_numbers(self.plan.warmup, self.plan.blocks):
            self._begin_block()
            for position, treatment in enumerate(self._order(block), 1):
                earlier = self._made.get((block, treatment.key))
                if earlier is not None:
                    self._judge(treatment, block, earlier)
                    continue
                self._begin_run()
                yield Assignment(
                    treatment, block, position, is_warmup(block), self._limit_of(treatment)
                )
            if not is_warmup(block):
                self.blocks = block
                self._end_block()

    def over(self, assignment: Assignment, run: Run) -> None:
        """Learn from a run."""
        self._runs += 1
        self._judge(assignment.treatment, run.block, run.outcome)

    @property
    def spent_s(self) -> float:
        """Duration of this session."""
        return monotonic() - self._begun

    def _order(self, block: int) -> Iterator[Treatment]:
        """The treatments of `block` that are still in."""
        order = block_order(
            list(self._treatments), seed=self.plan.seed, block=block, first=self._first(block)
        )
        gone = self._gone()
        return (self._treatments[key] for key in order if key not in gone)

    def _gone(self) -> set[Key]:
        """The treatments that have no further runs."""
        return {given_up.key for given_up in self.given_up}

    def _first(self, block: int) -> Key | None:  # noqa: ARG002 - others have one
        """The treatment that begins `block`; None: the order is random."""
        return None

    def _limit_of(self, treatment: Treatment) -> float | None:  # noqa: ARG002 - others look
        return TIMEOUT_UNKNOWN_S if self.plan.timeout_s is None else self.plan.timeout_s

    def _begin_block(self) -> None:
        """Raises StopError if no further block should begin."""

    def _begin_run(self) -> None:
        """Begin no run that would exceed the budget, estimated from the other runs."""
        if self.plan.budget_s is None or not self._runs:
            return
        if self.spent_s * (1 + 1 / self._runs) > self.plan.budget_s:
            raise StopError(spent(self.plan.budget_s))

    def _end_block(self) -> None:
        """Raises StopError if the results after the block are sufficient."""

    def _judge(self, treatment: Treatment, block: int, outcome: Outcome) -> None:
        """Count bad outcomes in a row, and give up treatments that fail repeatedly."""
        if outcome is Outcome.OK:
            self._bad_in_a_row[treatment.key] = 0
            return
        self._bad_in_a_row[treatment.key] += 1
        if self._bad_in_a_row[treatment.key] == GIVE_UP_AFTER:
            self.given_up.append(GivenUp(treatment.key, block, outcome))


def spent(budget_s: float) -> str:
    """The reason why there is no further run."""
    return f"the budget of {budget_s / 60:g} min is spent"
