# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runs that are spread over hosts which appear and disappear are each made, and reported once."""

from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.blocks import GIVE_UP_AFTER, Assignment, Blocks, Plan
from heapwright.experiment.design import Key, block_order
from heapwright.experiment.engine import Ending, conduct
from heapwright.experiment.spread import Event, Spread, conduct_spread
from heapwright.experiment.treatments import Treatment

TREATMENTS = [Treatment(Allocator(name=name, kind=Kind.FILE)) for name in ("a", "b", "c", "d")]
PLAN = Plan(TREATMENTS, seed=3, blocks=4, warmup=1)
ALL = {(block, each.key) for block in range(5) for each in TREATMENTS}


def run_of(assignment: Assignment, outcome: Outcome = Outcome.OK) -> Run:
    name, level = assignment.treatment.key
    return Run(
        allocator=name,
        level=level,
        block=assignment.block,
        position=assignment.position,
        outcome=outcome,
    )


class Script:
    """Hosts that do what is written: at each step one is done, is lost, comes, or all rest."""

    def __init__(self, steps: Sequence[tuple[str, str]], bad: str = "") -> None:
        self.steps = list(steps)
        self.bad = bad
        self.there: list[str] = []
        self.making: dict[str, tuple[Assignment, int]] = {}
        self.begun: list[tuple[str, Assignment, int]] = []
        self.stopped = False

    def idle(self) -> list[str]:
        return [host for host in self.there if host not in self.making]

    def begin(self, host: str, assignment: Assignment, attempt: int) -> None:
        assert host in self.idle(), "one run at a time"
        self.making[host] = (assignment, attempt)
        self.begun.append((host, assignment, attempt))

    def wait(self) -> list[Event[Run]]:
        if not self.steps:  # for all possible writes, in the end one host does all the remaining
            # work
            self.steps = [("come", "z"), *[("done", host) for host in self.there], ("done", "z")]
        what, host = self.steps.pop(0)
        if what == "come" and host not in self.there:
            self.there.append(host)
        elif what == "lose" and host in self.there:
            self.there.remove(host)
            if self.making.pop(host, None) is not None:
                return [Event(host)]
        elif what == "done" and host in self.making:
            assignment, _ = self.making.pop(host)
            failed = assignment.treatment.key[0] == self.bad
            outcome = Outcome.CRASHED if failed else Outcome.OK
            return [Event(host, run_of(assignment, outcome))]
        elif what == "error" and host in self.making:
            return [Event(host, error=HeapwrightError("no"))]
        elif what == "interrupt":
            raise KeyboardInterrupt
        return []

    def stop(self) -> None:
        self.stopped = True


def carried_out(
    crew: Script, plan: Plan = PLAN, made: dict[tuple[int, Key], Outcome] | None = None
) -> tuple[list[tuple[int, Key]], Ending, Spread]:
    told: list[tuple[int, Key]] = []
    schedule = Spread(plan, made)

    def over(assignment: Assignment, run: Run) -> None:
        told.append(assignment.key)
        schedule.over(assignment, run)

    ending = conduct_spread(schedule, crew, over=over)
    assert crew.stopped
    return told, ending, schedule


@given(
    st.lists(
        st.tuples(st.sampled_from(["come", "done", "lose", "rest"]), st.sampled_from("uvwx")),
        max_size=80,
    )
)
def test_each_run_is_reported_once_whatever_its_hosts_do(steps: list[tuple[str, str]]) -> None:
    crew = Script(steps)
    told, ending, schedule = carried_out(crew)
    assert Counter(told) == Counter(ALL)
    assert ending.runs == len(ALL)
    assert ending.stopped_because == ""
    assert schedule.finished


def test_a_block_is_one_hosts_unless_that_is_lost() -> None:
    crew = Script([("come", "u"), ("come", "v")])
    carried_out(crew)
    owners = {(assignment.block, host) for host, assignment, _ in crew.begun}
    assert len(owners) == len({block for block, _ in owners})
    order = [a.treatment.key for _, a, _ in crew.begun if a.block == 2]
    keys = [each.key for each in TREATMENTS]
    assert order == block_order(keys, seed=PLAN.seed, block=2)


def test_a_run_of_a_lost_host_restarts_on_another_host() -> None:
    crew = Script([("come", "u"), ("done", "u"), ("lose", "u"), ("come", "v")])
    told, _, _ = carried_out(crew)
    lost = crew.begun[1][1]
    assert [(host, attempt) for host, a, attempt in crew.begun if a.key == lost.key] == [
        ("u", 1),
        ("v", 2),
    ]
    assert told.count(lost.key) == 1
    assert {host for host, a, _ in crew.begun if a.block == lost.block} == {"u", "v"}


def test_one_host_does_what_the_engine_does() -> None:
    crew = Script([("come", "z")], bad="b")
    told, _, spread = carried_out(crew)
    plain = Blocks(PLAN)
    order: list[tuple[int, Key]] = []

    def over(assignment: Assignment, run: Run) -> None:
        order.append(assignment.key)
        plain.over(assignment, run)

    def execute(assignment: Assignment) -> Run:
        failed = assignment.treatment.key[0] == "b"
        return run_of(assignment, Outcome.CRASHED if failed else Outcome.OK)

    conduct(plain, execute, over=over)
    assert told == order
    assert spread.given_up == plain.given_up


def test_a_treatment_that_always_fails_is_given_up() -> None:
    told, _, schedule = carried_out(Script([("come", "u"), ("come", "v")], bad="c"))
    assert [gone.key[0] for gone in schedule.given_up] == ["c"]
    assert GIVE_UP_AFTER <= sum(key[0] == "c" for _, key in told) < PLAN.blocks + PLAN.warmup


def test_runs_that_were_made_before_are_not_made_again() -> None:
    made = dict.fromkeys(sorted(ALL)[::3], Outcome.OK)
    told, _, _ = carried_out(Script([("come", "u")]), made=made)
    assert Counter(told) == Counter(ALL - made.keys())
    told, ending, _ = carried_out(Script([]), made=dict.fromkeys(ALL, Outcome.OK))
    assert (told, ending.runs) == ([], 0)


def test_interrupted_is_not_failed() -> None:
    told, ending, _ = carried_out(Script([("come", "u"), ("done", "u"), ("interrupt", "")]))
    assert ending.interrupted
    assert len(told) == 1


def test_a_run_that_cannot_be_made_ends_it() -> None:
    told, ending, _ = carried_out(Script([("come", "u"), ("done", "u"), ("error", "u")]))
    assert len(told) == 1
    assert ending.failure is not None
    with pytest.raises(HeapwrightError, match="no"):
        carried_out(Script([("come", "u"), ("error", "u")]))


def test_a_spent_budget_lets_what_was_begun_come_to_its_end() -> None:
    plan = Plan(TREATMENTS, seed=3, blocks=4, warmup=1, budget_s=0.0)
    steps = [("come", "u"), ("come", "v"), ("done", "u"), ("rest", ""), ("done", "v")]
    crew = Script(steps)
    told, ending, _ = carried_out(crew, plan)
    assert len(crew.begun) == len(told) == 2
    assert "budget" in ending.stopped_because
