# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright taxonomy` from its options to its files."""

from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.workload import Aspect, WorkloadRun
from heapwright.artefacts.taxonomy.document import Taxonomy
from heapwright.base import native as parts
from heapwright.experiment.taxonomy.execution import Execution
from heapwright.experiment.taxonomy.survey import Task

from .tools import Heapwright


def points() -> list[list[float]]:
    """Memory of a run under private heaps: it grows with time."""
    return [[at, 2**20, 2**21 + 40 * at] for at in range(0, 10_000, 50)]


def made_up(_: Execution, task: Task) -> WorkloadRun:
    """What a run would say; nothing is run."""
    trial = task.trial
    line = {
        "workload": trial.workload,
        "threads": trial.threads,
        "seed": 1,
        "operations": 10_000,
        "seconds": (1.0 if task.allocator == "limit" else 1.5) * (1 + 0.01 * task.block),
        "size": 64,
        "memory": points(),
        "false_sharing": {"active": 0, "passive": 0, "mallocs": 5000},
    }
    return WorkloadRun.model_validate(
        {
            "allocator": task.allocator,
            "aspect": trial.aspect,
            "workload": trial.workload,
            "threads": trial.threads,
            "block": task.block,
            "outcome": Outcome.OK,
            "line": line,
        }
    )


@pytest.fixture
def nothing_is_run(native: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del native
    monkeypatch.setattr(Execution, "execute", made_up)


@pytest.mark.usefixtures("nothing_is_run")
def test_table_document_and_page(heapwright: Heapwright, tmp_path: Path) -> None:
    done = heapwright("taxonomy", "-a", "glibc,kingsley", "--json", "t.json", "--html", "t.html")
    assert done.status == 0, done.err
    assert done.out.splitlines()[1].split()[:2] == ["glibc", "yes"]
    assert "unbounded" in done.out
    document = Taxonomy.from_json((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert [row.allocator for row in document.rows] == ["glibc", "kingsley"]
    assert document.plan.done == document.plan.planned == len(document.runs)
    assert document.environment.allocators[0].name == "glibc"
    assert "</html>" in (tmp_path / "t.html").read_text(encoding="utf-8")
    assert not list((tmp_path / "state").rglob("*.jsonl"))


@pytest.mark.usefixtures("nothing_is_run")
def test_without_a_document_the_runs_stay_in_the_journal(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    done = heapwright("taxonomy", "-a", "glibc", "-n", "1", "--small")
    assert done.status == 0, done.err
    (journal,) = (tmp_path / "state").rglob("*.jsonl")
    assert str(journal) in done.out


def test_ctrl_c_leaves_what_was_measured(
    heapwright: Heapwright, native: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del native
    seen: list[Task] = []

    def interrupted(execution: Execution, task: Task) -> WorkloadRun:
        seen.append(task)
        if len(seen) > 9:
            raise KeyboardInterrupt
        return made_up(execution, task)

    monkeypatch.setattr(Execution, "execute", interrupted)
    done = heapwright("taxonomy", "-a", "glibc", "--json", "t.json")
    assert done.status == 130
    document = Taxonomy.from_json((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert len(document.runs) == 9
    assert "interrupted" in document.plan.stopped_because
    assert done.out.startswith("Allocator")


def test_a_failed_run_has_a_name(
    heapwright: Heapwright, native: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del native

    def failing(execution: Execution, task: Task) -> WorkloadRun:
        if task.trial.aspect is not Aspect.TIME:
            return made_up(execution, task)
        return made_up(execution, task).model_copy(
            update={"outcome": Outcome.CRASHED, "detail": "killed by SIGSEGV", "line": None}
        )

    monkeypatch.setattr(Execution, "execute", failing)
    done = heapwright("taxonomy", "-a", "glibc", "-n", "2")
    assert done.status == 0
    assert "producer-consumer with 2 threads (time) ended as crashed: killed by SIGSEGV" in done.out
    assert "glibc, blowup: no run has a series" in done.out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-a", "no-such"), "unknown allocator 'no-such'"),
        (("--json", "-", "--html", "-"), "same place"),
        (("--json", "/no/where/t.json"), "--json"),
        (("-n", "0"), "-n"),
    ],
)
def test_requests_that_are_refused_before_the_first_run(
    heapwright: Heapwright, native: Path, arguments: tuple[str, ...], words: str
) -> None:
    del native
    done = heapwright("taxonomy", *arguments)
    assert done.status == 2
    assert words in done.err


def test_for_real(heapwright: Heapwright, native: Path, tmp_path: Path) -> None:
    """Blowup of two, measured: the first minute of a survey is about that."""
    del native
    try:
        parts.workload("round-robin")
    except parts.NativeMissingError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    done = heapwright("taxonomy", "-a", "kingsley", "--small", "-n", "1", "--budget", "0.05",
                      "--json", "t.json")  # fmt: skip
    assert done.status == 0, done.err
    document = Taxonomy.from_json((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert document.runs
    assert {run.outcome for run in document.runs} == {Outcome.OK}
    assert "budget" in document.plan.stopped_because
