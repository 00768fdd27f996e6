# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The blocks go on after an end as they would have without it, and nothing is run twice."""

import random
from collections.abc import Callable

import pytest

from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.experiment import blocks
from heapwright.experiment.blocks import TIMEOUT_UNKNOWN_S, Assignment, Blocks, Plan
from heapwright.experiment.design import Key
from heapwright.experiment.engine import Ending, conduct
from heapwright.experiment.treatments import Treatment

TREATMENTS = [Treatment(Allocator(name=name, kind=Kind.FILE)) for name in ("a", "b", "c", "d")]
PLAN = Plan(TREATMENTS, seed=3, blocks=6, warmup=2)
Outcomes = Callable[[Assignment], Outcome]


class Sitting:
    """One sitting of an experiment that may be interrupted after a number of runs."""

    def __init__(
        self,
        plan: Plan = PLAN,
        made: dict[tuple[int, Key], Outcome] | None = None,
        most: int = 10**6,
        outcome: Outcomes = lambda _: Outcome.OK,
    ) -> None:
        self.order: list[Assignment] = []
        self.made = dict(made or {})
        self.schedule = Blocks(plan, made)
        self._most = most
        self._outcome = outcome

    def run(self) -> Ending:
        return conduct(self.schedule, self._execute, over=self._over)

    def _execute(self, assignment: Assignment) -> Run:
        if len(self.order) == self._most:
            raise KeyboardInterrupt
        self.order.append(assignment)
        return Run(
            allocator=assignment.treatment.key[0],
            block=assignment.block,
            position=assignment.position,
            outcome=self._outcome(assignment),
        )

    def _over(self, assignment: Assignment, run: Run) -> None:
        self.made[assignment.key] = run.outcome
        self.schedule.over(assignment, run)


def bad(assignment: Assignment) -> Outcome:
    name = assignment.treatment.key[0]
    fails = name == "b" or (name == "c" and assignment.block % 2)
    return Outcome.TIMEOUT if fails else Outcome.OK


@pytest.mark.parametrize("most", [0, 1, 3, 4, 5, 11, 17, 23, 31])
@pytest.mark.parametrize("outcome", [lambda _: Outcome.OK, bad])
def test_two_sittings_make_what_one_would_have_made(most: int, outcome: Outcomes) -> None:
    whole = Sitting(outcome=outcome)
    whole.run()
    first = Sitting(most=most, outcome=outcome)
    assert first.run().interrupted == (most < len(whole.order))
    second = Sitting(made=first.made, outcome=outcome)
    second.run()
    assert first.order + second.order == whole.order
    assert second.schedule.given_up == whole.schedule.given_up


def test_runs_that_are_missing_in_the_middle_are_made() -> None:
    whole = Sitting()
    whole.run()
    lost = random.Random(1).sample(sorted(whole.made), 5)
    again = Sitting(made={key: end for key, end in whole.made.items() if key not in lost})
    again.run()
    assert sorted(assignment.key for assignment in again.order) == sorted(lost)


def test_each_block_has_each_treatment_at_its_position() -> None:
    sitting = Sitting()
    assert sitting.run().stopped_because == ""
    for block in range(-1, 7):
        own = [each for each in sitting.order if each.block == block]
        assert sorted(each.treatment.key[0] for each in own) == ["a", "b", "c", "d"]
        assert [each.position for each in own] == [1, 2, 3, 4]
        assert all(each.warmup == (block < 1) for each in own)
    assert sitting.schedule.blocks == 6


def test_a_limit_that_is_not_given_is_long() -> None:
    assert {each.timeout_s for each in Blocks(PLAN)} == {TIMEOUT_UNKNOWN_S}
    assert {each.timeout_s for each in Blocks(Plan(TREATMENTS, 1, 1, 0, timeout_s=7))} == {7}


def test_no_run_begins_that_would_exceed_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(blocks, "monotonic", lambda: now[0])
    schedule = Blocks(Plan(TREATMENTS, seed=3, blocks=60, budget_s=65))

    def execute(assignment: Assignment) -> Run:
        now[0] += 10
        return Run(allocator="a", block=assignment.block, position=1, outcome=Outcome.OK)

    ending = conduct(schedule, execute, over=schedule.over)
    assert now[0] == 60
    assert "budget" in ending.stopped_because
