# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Order, repetition, giving up and stopping, with runs that are made up instead of measured."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from heapwright.artefacts.run.journal import Journal
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.base.errors import HeapwrightError
from heapwright.experiment import blocks
from heapwright.experiment.blocks import TIMEOUT_UNKNOWN_S, Assignment
from heapwright.experiment.comparison import TIMEOUT_LEAST_S, Plan, run_experiment
from heapwright.experiment.treatments import Treatment

NAMES = ("glibc", "jemalloc", "lea")
TREATMENTS = [Treatment(Allocator(name=name, kind=Kind.FILE)) for name in NAMES]


class Machine:
    """Makes runs up: `wall` seconds each, and the outcome that `outcomes` holds for the moment."""

    def __init__(self, wall: float = 1.0) -> None:
        self.wall = wall
        self.now = 0.0
        self.assignments: list[Assignment] = []
        self.outcome: Callable[[Assignment], Outcome] = lambda _assignment: Outcome.OK
        self.raises: dict[int, BaseException] = {}

    def __call__(self, assignment: Assignment) -> Run:
        if error := self.raises.get(len(self.assignments)):
            raise error
        self.assignments.append(assignment)
        self.now += self.wall
        return Run(
            allocator=assignment.treatment.key[0],
            level=assignment.treatment.key[1],
            block=assignment.block,
            position=assignment.position,
            warmup=assignment.warmup,
            outcome=self.outcome(assignment),
            wall_s=self.wall,
        )

    def order(self) -> list[tuple[int, str]]:
        return [(a.block, a.treatment.key[0]) for a in self.assignments]


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal.open({}, [tmp_path]) as journal:
        yield journal


def plan(**changes: object) -> Plan:
    return Plan(**{"treatments": TREATMENTS, "seed": 1, "blocks": 4, **changes})  # type: ignore[arg-type]


def bad_for(name: str, outcome: Outcome = Outcome.CRASHED) -> Callable[[Assignment], Outcome]:
    return lambda a: outcome if a.treatment.key[0] == name else Outcome.OK


def test_one_block_is_written_in_the_singular(machine: Machine, journal: Journal) -> None:
    result = run_experiment(plan(blocks=1), machine, journal=journal)
    assert result.stopped_because == "the one block was run"


def test_every_block_holds_every_treatment_and_its_position(
    machine: Machine, journal: Journal
) -> None:
    result = run_experiment(plan(warmup=2), machine, journal=journal)
    assert result.blocks == 4
    assert result.stopped_because == "all 4 blocks were run"
    assert [run.block for run in result.runs] == sorted([-1, 0, 1, 2, 3, 4] * 3)
    for block in range(-1, 5):
        runs = [run for run in result.runs if run.block == block]
        assert sorted(run.allocator for run in runs) == sorted(NAMES)
        assert [run.position for run in runs] == [1, 2, 3]
        assert all(run.warmup == (block < 1) for run in runs)


def test_the_very_first_run_is_the_baselines(machine: Machine, journal: Journal) -> None:
    for seed in range(8):
        machine.assignments.clear()
        run_experiment(plan(seed=seed), machine, journal=journal)
        assert machine.order()[0] == (0, "glibc")


def test_the_same_seed_gives_the_same_order_even_if_one_is_given_up(journal: Journal) -> None:
    whole, reduced = Machine(), Machine()
    reduced.outcome = bad_for("lea")
    run_experiment(plan(blocks=8), whole, journal=journal)
    run_experiment(plan(blocks=8), reduced, journal=journal)
    left = [(block, name) for block, name in whole.order() if name != "lea" or block < 3]
    assert reduced.order() == left


def test_every_run_is_in_the_journal_before_the_next_begins(
    machine: Machine, journal: Journal
) -> None:
    seen: list[int] = []

    def execute(assignment: Assignment) -> Run:
        assert journal.path is not None
        seen.append(len(journal.path.read_text().splitlines()) - 1)
        return machine(assignment)

    result = run_experiment(plan(), execute, journal=journal)
    assert seen == list(range(15))
    assert journal.path is not None
    lines = journal.path.read_text().splitlines()[1:]
    assert [Run.model_validate(json.loads(line)) for line in lines] == result.runs


def test_the_limit_is_a_multiple_of_the_baselines_warm_up(journal: Journal) -> None:
    for wall, expected in ((1.0, TIMEOUT_LEAST_S), (10.0, 200.0)):
        machine = Machine(wall)
        result = run_experiment(plan(), machine, journal=journal)
        assert machine.assignments[0].timeout_s is None
        assert {a.timeout_s for a in machine.assignments[1:]} == {expected}
        assert result.timeout_s == expected


def test_a_limit_that_is_given_holds_from_the_start(machine: Machine, journal: Journal) -> None:
    result = run_experiment(plan(timeout_s=3), machine, journal=journal)
    assert {a.timeout_s for a in machine.assignments} == {3}
    assert result.timeout_s == 3


def test_without_warm_ups_the_limit_waits_for_the_baseline(
    machine: Machine, journal: Journal
) -> None:
    run_experiment(plan(warmup=0, seed=3), machine, journal=journal)
    names = [name for _, name in machine.order()]
    first = names.index("glibc")
    assert first > 0  # else this seed shows nothing
    limits = [a.timeout_s for a in machine.assignments]
    assert limits[: first + 1] == [TIMEOUT_UNKNOWN_S] * (first + 1)
    assert set(limits[first + 1 :]) == {TIMEOUT_LEAST_S}


def test_three_bad_ends_in_a_row_are_enough(machine: Machine, journal: Journal) -> None:
    machine.outcome = bad_for("lea", Outcome.TIMEOUT)
    result = run_experiment(plan(blocks=6), machine, journal=journal)
    assert [block for block, name in machine.order() if name == "lea"] == [0, 1, 2]
    (given_up,) = result.given_up
    assert (given_up.key, given_up.block, given_up.outcome) == (("lea", ""), 2, Outcome.TIMEOUT)
    assert result.blocks == 6


def test_a_good_end_between_bad_ones_keeps_a_treatment_in(
    machine: Machine, journal: Journal
) -> None:
    machine.outcome = lambda a: (
        Outcome.CRASHED if a.treatment.key[0] == "lea" and a.block % 3 else Outcome.OK
    )
    result = run_experiment(plan(blocks=12), machine, journal=journal)
    assert result.given_up == []


def test_a_baseline_that_fails_at_once_ends_it(machine: Machine, journal: Journal) -> None:
    machine.outcome = lambda _assignment: Outcome.FAILED
    result = run_experiment(plan(), machine, journal=journal)
    assert len(result.runs) == 1
    assert result.blocks == 0
    assert "fails under the baseline" in result.stopped_because


def test_a_baseline_that_fails_later_ends_it_after_three(
    machine: Machine, journal: Journal
) -> None:
    machine.outcome = lambda a: (
        Outcome.FAILED if a.treatment.key[0] == "glibc" and a.block > 1 else Outcome.OK
    )
    result = run_experiment(plan(blocks=9), machine, journal=journal)
    assert [block for block, name in machine.order() if name == "glibc"] == [0, 1, 2, 3, 4]
    assert "fails under the baseline" in result.stopped_because


def test_it_ends_when_only_the_baseline_is_left(machine: Machine, journal: Journal) -> None:
    machine.outcome = lambda a: (
        Outcome.OK if a.treatment.key[0] == "glibc" else Outcome.NOT_INTERPOSED
    )
    result = run_experiment(plan(blocks=9), machine, journal=journal)
    assert result.stopped_because == "every treatment but the baseline was given up"
    assert len(result.given_up) == 2
    assert max(run.block for run in result.runs) == 2


def test_enough_is_asked_after_each_measured_block(machine: Machine, journal: Journal) -> None:
    asked: list[tuple[int, int]] = []

    def enough(runs: Sequence[Run], count: int) -> str:
        asked.append((len(runs), count))
        return "precise" if count == 3 else ""

    result = run_experiment(plan(), machine, journal=journal, enough=enough)
    assert asked == [(6, 1), (9, 2), (12, 3)]
    assert (result.stopped_because, result.blocks) == ("precise", 3)


def test_no_block_begins_that_would_exceed_the_budget(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(10.0)
    monkeypatch.setattr(blocks, "monotonic", lambda: machine.now)
    result = run_experiment(plan(blocks=50, budget_s=114), machine, journal=journal)
    # a block takes 30 s: the warm-up and two blocks are over at 90 s, one more at 120 s
    assert result.blocks == 2
    assert machine.now == 90
    assert "budget of 1.9 min is spent" in result.stopped_because


@pytest.mark.parametrize(
    ("budget_s", "made", "least"),
    [
        (25, 3, "--budget 1"),  # ends within the warm-up of 30 s
        (45, 3, "--budget 1"),  # the warm-up is over, and a block is not
    ],
)
def test_a_budget_too_small_for_one_block_says_how_much_one_takes(
    journal: Journal, monkeypatch: pytest.MonkeyPatch, budget_s: float, made: int, least: str
) -> None:
    machine = Machine(10.0)
    monkeypatch.setattr(blocks, "monotonic", lambda: machine.now)
    result = run_experiment(plan(budget_s=budget_s), machine, journal=journal)
    assert result.blocks == 0
    assert len(result.runs) == made
    assert "too small for one block" in result.stopped_because
    assert least in result.stopped_because


def test_an_interruption_keeps_what_was_measured(machine: Machine, journal: Journal) -> None:
    machine.raises[7] = KeyboardInterrupt()
    result = run_experiment(plan(), machine, journal=journal)
    assert result.interrupted
    assert len(result.runs) == 7
    assert result.blocks == 1


def test_an_error_before_the_first_result_is_raised(machine: Machine, journal: Journal) -> None:
    machine.raises[0] = HeapwrightError("the preparation failed")
    with pytest.raises(HeapwrightError, match="preparation"):
        run_experiment(plan(), machine, journal=journal)


def test_a_later_error_keeps_what_was_measured(machine: Machine, journal: Journal) -> None:
    error = HeapwrightError("the preparation failed")
    machine.raises[4] = error
    result = run_experiment(plan(), machine, journal=journal)
    assert result.failure is error
    assert len(result.runs) == 4
    assert result.stopped_because == "the preparation failed"


def test_the_watcher_hears_of_each_run_twice(machine: Machine, journal: Journal) -> None:
    heard: list[tuple[Assignment, Run | None]] = []
    result = run_experiment(
        plan(blocks=1), machine, journal=journal, watch=lambda a, run: heard.append((a, run))
    )
    assert [a for a, run in heard if run is None] == machine.assignments
    assert [run for _, run in heard if run is not None] == result.runs
    assert [run is None for _, run in heard] == [True, False] * 6


def leveled(**changes: object) -> Plan:
    treatments = [
        Treatment(Allocator(name=name, kind=Kind.FILE), f"t={t}", levels={"t": t})
        for t in ("1", "2")
        for name in NAMES
    ]
    return plan(treatments=treatments, **changes)


def test_each_level_has_a_baseline(machine: Machine, journal: Journal) -> None:
    assert [level[0] for level in leveled().levels()] == [("glibc", "t=1"), ("glibc", "t=2")]
    machine.outcome = lambda a: Outcome.CRASHED if a.key[1] == ("glibc", "t=1") else Outcome.OK
    result = run_experiment(leveled(), machine, journal=journal)
    assert result.stopped_because == "all 4 blocks were run"
    levels = [{run.level for run in result.runs if run.block == block} for block in range(5)]
    assert levels == [{"t=1", "t=2"}] + [{"t=2"}] * 4


def test_without_any_good_baseline_nothing_is_run(machine: Machine, journal: Journal) -> None:
    machine.outcome = bad_for("glibc")
    result = run_experiment(leveled(), machine, journal=journal)
    assert result.stopped_because == "the command fails under the baseline"
    assert {run.block for run in result.runs} == {0}


def test_a_level_with_only_its_baseline_left_ends(machine: Machine, journal: Journal) -> None:
    machine.outcome = lambda a: (
        Outcome.CRASHED
        if a.treatment.level == "t=2" and a.treatment.key[0] != "glibc"
        else Outcome.OK
    )
    result = run_experiment(leveled(blocks=6), machine, journal=journal)
    assert {run.level for run in result.runs if run.block == 2} == {"t=1", "t=2"}
    assert {run.level for run in result.runs if run.block == 3} == {"t=1"}
    machine.outcome = lambda a: Outcome.OK if a.treatment.key[0] == "glibc" else Outcome.CRASHED
    result = run_experiment(leveled(blocks=6), machine, journal=journal)
    assert result.stopped_because == "every treatment but the baseline was given up"
