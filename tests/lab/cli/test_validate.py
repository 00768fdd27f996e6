# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright validate` from its options to its document."""

from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.workload import Aspect, WorkloadRun
from heapwright.artefacts.validation.document import Validation
from heapwright.base import native as parts
from heapwright.experiment.taxonomy.survey import Task
from heapwright.experiment.validation.execution import ValidationExecution

from .tools import Heapwright, forwarding, library

DOCS = Path(__file__).parents[3] / "docs"


def made_up(_: object, task: Task) -> WorkloadRun:
    """What a run would say; nothing is run. The original holds twice the memory in phong."""
    trial = task.trial
    twice = task.allocator == "original" and trial.workload == "phong"
    peak = 0 if trial.aspect is Aspect.FIXED else 2**24 * (2 if twice else 1)
    points = [[at, 2**20, peak] for at in range(0, 10_000, 50)]
    line = {
        "workload": trial.workload,
        "threads": trial.threads,
        "seed": 1,
        "operations": 10_000,
        "seconds": (1.0 if task.allocator == "limit" else 1.5) * (1 + 0.01 * task.block),
        "size": 64,
        "memory": points,
        "false_sharing": {"active": 0, "passive": 0, "mallocs": 5000},
    }
    counts = {"lock_takes": 0.0, "lock_hand_overs": 0.0}
    return WorkloadRun.model_validate(
        {
            "allocator": task.allocator,
            "aspect": trial.aspect,
            "workload": trial.workload,
            "threads": trial.threads,
            "block": task.block,
            "outcome": Outcome.OK,
            "line": line,
            "counts": counts if trial.aspect is Aspect.EVENTS else {},
        }
    )


@pytest.fixture
def nothing_is_run(native: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del native
    monkeypatch.setattr(ValidationExecution, "execute", made_up)


@pytest.mark.usefixtures("nothing_is_run")
def test_table_verdict_and_document(heapwright: Heapwright, tmp_path: Path) -> None:
    original = forwarding(tmp_path / "original.so", limit=2**30)
    done = heapwright("validate", original, "--as", "hoard-3.8", "--json", "v.json")
    assert done.status == 10, done.err
    sentence = "hoard-3.8 differs from original.so in peak memory (phong)."
    assert done.out.splitlines()[-1] == sentence
    assert "locks are not compared: original takes no pthread mutex" in " ".join(done.out.split())
    text = (tmp_path / "v.json").read_text(encoding="utf-8")
    document = Validation.from_json(text)
    assert document.to_json() == text
    assert (document.verdict, document.sentence) == ("differs", sentence)
    assert document.plan.done == document.plan.planned == len(document.runs)
    assert {each.what for each in document.checks} == {"peak memory", "speedup"}
    assert not list((tmp_path / "state").rglob("*.jsonl"))


@pytest.mark.usefixtures("nothing_is_run")
def test_one_block_decides_nothing(heapwright: Heapwright, tmp_path: Path) -> None:
    original = forwarding(tmp_path / "original.so", limit=2**30)
    done = heapwright("validate", original, "--as", "lea", "-n", "1", "-q")
    assert done.status == 12
    assert done.out.startswith("Undecided: lea agrees with original.so in ")
    assert len(done.out.splitlines()) == 1


def test_ctrl_c_leaves_what_was_measured(
    heapwright: Heapwright, native: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del native
    seen: list[Task] = []

    def interrupted(execution: object, task: Task) -> WorkloadRun:
        seen.append(task)
        if len(seen) > 30:
            raise KeyboardInterrupt
        return made_up(execution, task)

    monkeypatch.setattr(ValidationExecution, "execute", interrupted)
    original = forwarding(tmp_path / "original.so", limit=2**30)
    done = heapwright("validate", original, "--as", "lea", "--json", "v.json")
    assert done.status == 130
    document = Validation.from_json((tmp_path / "v.json").read_text(encoding="utf-8"))
    assert len(document.runs) == 30


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("int malloc_is_not_here;", "it defines no malloc"),
        ("#include <stddef.h>\nvoid *malloc(size_t n) { (void)n; __builtin_trap(); }",
         "killed by SIG"),
    ],
)  # fmt: skip
def test_a_library_that_is_no_allocator(
    heapwright: Heapwright, native: Path, tmp_path: Path, text: str, words: str
) -> None:
    del native
    original = library(tmp_path / "original.so", text)
    done = heapwright("validate", original, "--as", "lea")
    assert done.status == 2
    assert words in done.err
    assert f"{original} cannot be compared" in done.err


def test_an_original_that_crashes_in_every_run(
    heapwright: Heapwright, native: Path, tmp_path: Path
) -> None:
    del native
    original = forwarding(tmp_path / "original.so", "__builtin_trap()", 400)
    done = heapwright("validate", original, "--as", "lea", "--small", "-n", "1", "--budget", "0.2")
    assert done.status == 1, done.err
    assert "nothing can be compared: every run under" in done.err
    assert "crashed" in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("no-such.so", "--as", "lea"), "no-such.so"),
        (("text.so", "--as", "lea"), "text.so cannot be compared: it does not load"),
        (("text.so", "--as", "hord"), "did you mean hoard"),
        (("text.so", "--as", "./lea.so"), "unknown allocator './lea.so'"),
        (("text.so",), "--as"),
        (("text.so", "--as", "lea", "--json", "/no/where/v.json"), "--json"),
        (("text.so", "--as", "lea", "-n", "0"), "-n"),
    ],
)
def test_requests_that_are_refused_before_the_first_run(
    heapwright: Heapwright, native: Path, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    del native
    (tmp_path / "text.so").write_text("no library\n", encoding="utf-8")
    done = heapwright("validate", *arguments)
    assert done.status == 2
    assert words in " ".join(done.err.split())


@pytest.mark.programs
@pytest.mark.long
@pytest.mark.parametrize("name", ["kingsley", "hoard-3.8", "nedmalloc"])
def test_each_stand_in_agrees_with_its_own_library(
    heapwright: Heapwright, native: Path, tmp_path: Path, name: str
) -> None:
    """On a busy machine too many comparisons may stay open, but none may differ."""
    del native
    done = heapwright("validate", parts.library(name), "--as", name, "--small", "-n", "3",
                      "--json", "v.json")  # fmt: skip
    assert done.status in (0, 12), done.out
    document = Validation.from_json((tmp_path / "v.json").read_text(encoding="utf-8"))
    assert {each.answer for each in document.checks if each.what == "lock acquisitions"}
    assert "differs" not in {each.answer for each in document.checks}
    assert "differs" not in {each.answer for each in document.judgements}


@pytest.mark.programs
@pytest.mark.long
def test_a_wrong_stand_in_differs(heapwright: Heapwright, native: Path, tmp_path: Path) -> None:
    del native
    done = heapwright("validate", parts.library("kingsley"), "--as", "hoard-3.8", "--small",
                      "-n", "3", "--json", "v.json")  # fmt: skip
    assert done.status == 10, done.out
    document = Validation.from_json((tmp_path / "v.json").read_text(encoding="utf-8"))
    differing = {each.what for each in document.checks if each.answer == "differs"}
    assert {"peak memory", "lock acquisitions"} <= differing
    columns = {each.column for each in document.judgements if each.answer == "differs"}
    assert "avoids false sharing" in columns


def test_the_page_names_every_key() -> None:
    page = (DOCS / "reference" / "validate.md").read_text(encoding="utf-8")
    for key in ("environment", "checks", "judgements", "rows"):
        assert f"`{key}`" in page
