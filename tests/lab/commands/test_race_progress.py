# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a race shows of itself: the line of a pipe and the table of a terminal."""

from io import StringIO

import pytest
from rich.console import Console

from heapwright.analysis.race.race import Figures
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.commands.conclusion import Question
from heapwright.commands.race_progress import RaceDisplay
from heapwright.commands.racing import BLOCKS_OF_BUDGET, COMPLETE_BLOCKS, Racing, race_looks
from heapwright.experiment.blocks import Assignment
from heapwright.experiment.comparison import Plan
from heapwright.experiment.treatments import Treatment

TREATMENTS = tuple(
    Treatment(Allocator(name=name, kind=Kind.SYSTEM, usable=True, effective=True))
    for name in ("glibc", "fast", "slow")
)
TIMES = {"glibc": 1.0, "fast": 0.8, "slow": 1.6}


def plan(budget_s: float | None = None) -> Plan:
    return Plan(TREATMENTS, seed=1, blocks=90, budget_s=budget_s)


def racing(budget_s: float | None = None) -> Racing:
    question = Question(("x",), race_looks(3, 0.95), 0.02, None, (), race=True)
    return Racing(plan(budget_s), question)


def run(name: str, block: int, outcome: Outcome = Outcome.OK) -> Run:
    return Run(
        allocator=name, block=block, position=1, warmup=block < 1, outcome=outcome,
        wall_s=TIMES[name] * (1 + 0.001 * (block % 3)), user_s=0.01, sys_s=0.0,
    )  # fmt: skip


def raced(blocks: int, *, failing: str = "") -> Racing:
    race = racing()
    runs: list[Run] = []
    for block in range(blocks + 1):
        gone = race.left()
        for name in TIMES:
            if (name, "") not in gone:
                bad = name == failing
                runs.append(run(name, block, Outcome.CRASHED if bad else Outcome.OK))
        if block and race.enough(runs, block):
            break
    return race


def display(race: Racing, *, budget_s: float | None = None) -> RaceDisplay:
    console = Console(file=StringIO(), force_terminal=False, width=100)
    return RaceDisplay(race, plan(budget_s), console=console)


def table_text(shown: RaceDisplay) -> str:
    console = Console(file=StringIO(), width=120)
    console.print(shown.table())
    file = console.file
    assert isinstance(file, StringIO)
    return file.getvalue()


def test_a_race_is_followed_to_its_end() -> None:
    race = raced(40)
    assert race.races[0].ending is not None
    assert race.races[0].ending.named == ("fast", "")
    assert ("slow", "") in race.left()
    assert ("glibc", "") not in race.left()


def test_the_table_has_estimates_intervals_and_dropped_candidates() -> None:
    text = table_text(display(raced(40)))
    assert "0.800 (" in text
    assert "leads" in text
    assert "slower than the leader" in text


def test_before_the_first_block_nothing_is_claimed() -> None:
    line = display(racing()).line()
    assert line.startswith("warm-up, 3 of 3 in the race;")
    assert "leads" not in line


def test_the_remaining_time_is_never_more_than_the_budget() -> None:
    shown = display(racing(60.0), budget_s=60.0)
    shown.watch(Assignment(TREATMENTS[1], 1, 1, False, None), run("fast", 1))
    assert "at most" in shown.line()
    assert "min" not in shown.line().split("at most")[1]


def test_a_candidate_that_fails_leaves_and_is_counted() -> None:
    race = raced(1, failing="slow")
    assert race.left() == {("slow", "")}
    shown = display(race)
    shown.watch(Assignment(TREATMENTS[2], 1, 1, False, None), run("slow", 1, Outcome.CRASHED))
    assert "1 bad" in shown.line()


def test_no_candidate_left_ends_the_race() -> None:
    race = racing()
    runs = [run("fast", 0, Outcome.CRASHED), run("slow", 0, Outcome.CRASHED), run("glibc", 1)]
    assert race.enough(runs, 1) in {"no candidate is left", "the race is decided"}


def test_a_race_has_the_runs_of_some_complete_blocks() -> None:
    race = racing()
    for block in range(1, 3):
        race.races[0].observe(block, {("glibc", ""): Figures(1.0), ("fast", ""): Figures(1.0)})
    assert race.most_runs == 3 * COMPLETE_BLOCKS


def test_a_budget_is_the_limit_of_a_race_instead() -> None:
    question = Question(("x",), race_looks(3, 0.95, 600.0), 0.02, None, (), race=True)
    race = Racing(Plan(TREATMENTS, seed=1, blocks=900, budget_s=600.0), question)
    runs = [
        run(name, block)
        for block in range(1, COMPLETE_BLOCKS + 2)
        for name in ("glibc", "fast", "slow")
    ]
    assert len(runs) > 3 * COMPLETE_BLOCKS
    assert "runs were made" not in race.enough(runs, COMPLETE_BLOCKS + 1)
    assert race.most_runs == 3 * BLOCKS_OF_BUDGET
    assert question.looks.most_blocks >= race.most_runs


@pytest.mark.parametrize("treatments", [2, 30])
def test_a_race_may_go_on_with_two_until_its_runs_are_made(treatments: int) -> None:
    assert race_looks(treatments, 0.95).most_blocks >= COMPLETE_BLOCKS * treatments / 2
