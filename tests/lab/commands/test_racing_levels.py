# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Races at several levels of parameters: each has its own candidates and its own end."""

from io import StringIO

from rich.console import Console

from heapwright.artefacts.comparison.levels import views
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.artefacts.run.provenance import Environment
from heapwright.commands.comparison_notes import why_nothing
from heapwright.commands.conclusion import Question, conclude, is_compared
from heapwright.commands.race_progress import RaceDisplay
from heapwright.commands.racing import Racing, is_over, race_looks
from heapwright.experiment.candidates import AS_IT_IS, NamedCommand, crossed
from heapwright.experiment.comparison import Plan, Result
from heapwright.report.render import report_text
from support.documents import made

COMMANDS = [NamedCommand(name, (f"./{name}", "{t}")) for name in ("old", "new")]
TREATMENTS = crossed([AS_IT_IS], COMMANDS, {"t": ("1", "2")})
PLAN = Plan(TREATMENTS, seed=1, blocks=120)
QUESTION = Question(("./old", "1"), race_looks(4, 0.95), 0.02, None, (), race=True)
SECONDS = {"old, t=1": 1.0, "new, t=1": 0.5, "old, t=2": 2.0, "new, t=2": 2.0}
"""The new command is twice as fast at one level, and makes no difference at the other."""


def run(level: str, block: int, **more: object) -> Run:
    wall = SECONDS[level] * (1 + 0.002 * ((block * len(level) + len(level[0])) % 5))
    fields = {"outcome": Outcome.OK, "wall_s": wall, "user_s": wall, "sys_s": 0.0, **more}
    return Run.model_validate(
        {"allocator": "", "level": level, "block": block, "position": 1, "warmup": block < 1}
        | fields
    )


def raced(blocks: int, **more: object) -> tuple[Racing, list[Run], str]:
    racing, runs, why = Racing(PLAN, QUESTION), [], ""
    for block in range(blocks + 1):
        gone = racing.left()
        runs += [run(level, block, **more) for level in SECONDS if ("", level) not in gone]
        why = racing.enough(runs, block) if block else ""
        if why:
            break
    return racing, runs, why


def test_a_level_that_is_decided_leaves_the_blocks() -> None:
    racing, runs, why = raced(200)
    assert why == "every level is decided"
    first, second = racing.races
    assert first.ending is not None
    assert first.ending.named == ("", "new, t=1")
    assert second.ending is not None
    assert second.ending.named == ("", "old, t=2")
    last = {level: max(each.block for each in runs if each.level == level) for level in SECONDS}
    assert last["old, t=1"] == last["new, t=1"] < last["old, t=2"] == last["new, t=2"]


def test_the_document_has_an_answer_for_each_level() -> None:
    _, runs, why = raced(200)
    result = Result(runs=runs, blocks=runs[-1].block, stopped_because=why)
    comparison = conclude(PLAN, QUESTION, result, made(Environment))
    assert [each.verdict.action for each in comparison.levels] == ["switch", "stay"]
    assert comparison.verdict.reason == (
        "Undecided: it depends on the level: switch to new at t=1; keep old at t=2"
    )
    assert comparison.design.race == "cpu"
    assert not comparison.responses
    assert is_compared(comparison)
    one = comparison.effect(("", "new, t=1"), "time")
    assert one is not None
    assert 0.49 < one.ratio < 0.51
    (_, view), _ = views(comparison)
    assert view.verdict.how == ("run: ./new 1",)
    text = report_text(comparison)
    assert text.index("t=1\nCandidate") < text.index("Switch to new") < text.index("t=2\nCandidate")
    assert text.count("simultaneous 95 % intervals") == 1
    assert comparison == comparison.from_json(comparison.to_json())


def test_wall_time_decides_if_one_command_waits() -> None:
    runs = [run("old, t=1", 0), run("new, t=1", 0, user_s=0.01)]
    assert QUESTION.figure(runs, TREATMENTS) == "time"
    assert QUESTION.figure([run(level, 0) for level in SECONDS], TREATMENTS) == "cpu"


def test_the_line_counts_levels_and_the_table_has_all_candidates() -> None:
    racing = next(
        found for blocks in range(40) if any(map(is_over, (found := raced(blocks)[0]).races))
    )
    shown = RaceDisplay(racing, PLAN, console=Console(file=StringIO(), width=120))
    assert "3 of 4 in the race, 1 of 2 levels decided" in shown.line()
    console = Console(file=StringIO(), width=120)
    console.print(shown.table())
    assert isinstance(console.file, StringIO)
    text = console.file.getvalue()
    assert all(level in text for level in SECONDS)


def test_nothing_is_compared_if_every_new_command_crashes() -> None:
    runs = [run(level, 0) for level in SECONDS if level.startswith("old")]
    runs += [
        run(level, 0, outcome=Outcome.CRASHED, detail="killed by SIGSEGV")
        for level in SECONDS
        if level.startswith("new")
    ]
    result = Result(runs=runs, blocks=0, stopped_because="no candidate is left")
    comparison = conclude(PLAN, QUESTION, result, made(Environment))
    assert not is_compared(comparison)
    assert "crashed" in why_nothing(comparison).message
