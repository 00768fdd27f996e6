# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Order, repetition and end of a survey; the runs are made up."""

from pathlib import Path

import pytest

from heapwright.artefacts.run.journal import Journal
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.workload import Aspect, WorkloadRun
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.taxonomy import survey
from heapwright.experiment.taxonomy.survey import SurveyPlan, Task, run_survey
from heapwright.experiment.taxonomy.trials import Trial

OFTEN = Trial(Aspect.SPEED, "loop", 1, ())
ONCE = Trial(Aspect.LINES, "larson", 4, (), blocks=1)
ALL = (OFTEN, ONCE)


def plan(blocks: int = 3, budget_s: float | None = None, seed: int = 1) -> SurveyPlan:
    return SurveyPlan(
        ("a", "b", "c"), ALL, lambda name, _: name != "c", seed, blocks, budget_s=budget_s
    )


def run_of(task: Task, outcome: Outcome = Outcome.OK) -> WorkloadRun:
    return WorkloadRun(
        allocator=task.allocator,
        aspect=task.trial.aspect,
        workload=task.trial.workload,
        threads=task.trial.threads,
        block=task.block,
        outcome=outcome,
    )


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal.open({}, [tmp_path])


def test_each_block_has_each_trial_under_all(journal: Journal) -> None:
    result = run_survey(plan(), run_of, journal=journal)
    done = [(run.block, run.workload, run.allocator) for run in result.runs]
    assert sorted(done) == sorted(
        [(block, "loop", name) for block in (1, 2, 3) for name in "ab"]
        + [(1, "larson", name) for name in "ab"]
    )
    assert [block for block, _, _ in done] == sorted(block for block, _, _ in done)
    assert result.planned == len(done) == 8
    assert not result.interrupted


def test_the_seed_gives_the_order() -> None:
    orders = {tuple(t.allocator for t in plan(20, seed=s).tasks()) for s in (1, 1, 2)}
    assert len(orders) == 2


def test_every_run_is_in_the_journal(journal: Journal) -> None:
    result = run_survey(plan(), run_of, journal=journal)
    journal.close()
    assert journal.path is not None
    lines = journal.path.read_text(encoding="utf-8").splitlines()[1:]
    assert [WorkloadRun.model_validate_json(line) for line in lines] == result.runs


def test_a_treatment_that_failed_is_not_run_again(journal: Journal) -> None:
    def execute(task: Task) -> WorkloadRun:
        bad = (task.allocator, task.trial) == ("a", OFTEN)
        return run_of(task, Outcome.CRASHED if bad else Outcome.OK)

    runs = run_survey(plan(), execute, journal=journal).runs
    assert [run.outcome for run in runs if run.allocator == "a"].count(Outcome.CRASHED) == 1
    assert len([run for run in runs if run.allocator == "b"]) == 4


def test_an_interruption_keeps_what_there_is(journal: Journal) -> None:
    seen: list[Task] = []

    def execute(task: Task) -> WorkloadRun:
        seen.append(task)
        if len(seen) == 4:
            raise KeyboardInterrupt
        return run_of(task)

    result = run_survey(plan(), execute, journal=journal)
    assert result.interrupted
    assert len(result.runs) == 3


def test_a_spent_budget_begins_no_more(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    now = iter(range(0, 1000, 10))
    monkeypatch.setattr(survey, "monotonic", lambda: float(next(now)))
    result = run_survey(plan(budget_s=25), run_of, journal=journal)
    assert 0 < len(result.runs) < 8
    assert "budget" in result.stopped_because


def test_an_error_stops_the_survey_and_is_reported(journal: Journal) -> None:
    def fail(_: Task) -> WorkloadRun:
        raise HeapwrightError("no disk")

    with pytest.raises(HeapwrightError, match="no disk"):
        run_survey(plan(), fail, journal=journal)
    made: list[WorkloadRun] = []

    def later(task: Task) -> WorkloadRun:
        if made:
            raise HeapwrightError("no disk")
        made.append(run_of(task))
        return made[0]

    result = run_survey(plan(), later, journal=journal)
    assert result.runs == made
    assert result.failure is not None


def test_progress_is_reported(journal: Journal) -> None:
    told: list[tuple[int, int]] = []
    run_survey(plan(), run_of, journal=journal, watch=lambda _, done, of: told.append((done, of)))
    assert told == [(done, 8) for done in range(8)]
