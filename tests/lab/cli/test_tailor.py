# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright tailor`: what it refuses, and one short search of two proposals from end to end."""

import fcntl
import json
from pathlib import Path
from typing import Any

import pytest

from heapwright.analysis.looks import fixed
from heapwright.base.errors import ExitCode
from heapwright.commands import tailor, tailor_candidates, tailor_race
from heapwright.experiment.measurement import Measurement
from heapwright.tailor.figures import Figures
from heapwright.tailor.grammar import Sentence
from heapwright.tailor.proposals import propose

from .tools import Done, Heapwright, compile_c

pytestmark = pytest.mark.usefixtures("native")


def refused(done: Done, *words: str, status: ExitCode = ExitCode.BAD_INPUT) -> None:
    assert done.status == status, done.err
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err


def test_a_command_or_traces_are_needed(heapwright: Heapwright, worker: Path) -> None:
    refused(heapwright("tailor"), "no command and no trace")
    refused(heapwright("tailor", worker), "stands after --")
    assert heapwright("record", "-o", "run.trace", "--", worker).status == 0
    refused(heapwright("tailor", "run.trace", "--", worker), "stands beside a command")
    refused(heapwright("tailor", "--unseen", "'", "--", worker), "--unseen", "cannot be read")


def test_a_name_of_the_catalogue_is_refused(heapwright: Heapwright, worker: Path) -> None:
    refused(heapwright("tailor", "--name", "kingsley", "--", worker), "in the catalogue already")


def test_without_a_compiler_the_proposals_are_printed(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    done = heapwright("tailor", "--compiler", "no-such-c++", "-o", "search", "--", worker)
    refused(done, "there is no compiler 'no-such-c++'", "need no compiler")
    assert "allocations of" in done.out
    assert "caches-" in done.out
    assert "% of the requests" in done.out
    assert not (tmp_path / "search").exists()


@pytest.mark.usefixtures("cxx")
def test_a_budget_that_no_compilation_fits_is_refused(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    done = heapwright("tailor", "--budget", "0.01", "-o", "search", "--", worker)
    refused(done, "the budget of 0.01 min is too small", "--budget ")
    assert not (tmp_path / "search").exists()


def test_a_program_without_allocations_is_refused(heapwright: Heapwright, tmp_path: Path) -> None:
    program = compile_c(tmp_path / "none", "int main(void) { return 0; }")
    refused(heapwright("tailor", "--", program), "nothing to fit an allocator to")


def test_a_failing_input_ends_the_search_before_it_begins(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    fails = compile_c(tmp_path / "fails", "int main(void) { return 3; }")
    status = ExitCode.NOTHING_COMPARED
    refused(heapwright("tailor", "--", fails), "failed while it was recorded", status=status)
    done = heapwright("tailor", "--unseen", str(fails), "--", worker)
    refused(done, "nothing can be judged", status=status)


def test_a_folder_of_something_else_is_refused(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    refused(heapwright("tailor", "-o", "mine", "--", worker), "holds other files")
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "question.json").write_text("{")
    refused(heapwright("tailor", "-o", "damaged", "--", worker), "question", "damaged")
    assert (tmp_path / "mine" / "notes.txt").exists()


def test_two_searches_in_one_folder_are_refused(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    (tmp_path / "search").mkdir()
    with (tmp_path / "search" / "lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = heapwright("tailor", "-o", "search", "--", worker)
    refused(done, "another heapwright searches in search", "another folder with -o")


@pytest.mark.slow
@pytest.mark.usefixtures("cxx")
def test_a_search_is_interrupted_continues_and_delivers(
    heapwright: Heapwright, worker: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def two(figures: Figures) -> tuple[Sentence, ...]:
        return propose(figures)[:2]

    monkeypatch.setattr(tailor, "propose", two)
    monkeypatch.setattr(tailor, "newest_peers", lambda _: ("glibc", "granary"))
    monkeypatch.setattr(tailor_race, "race_looks", lambda *_: fixed(3, 0.95))
    monkeypatch.setattr(tailor_race, "MOST_BLOCKS", 5)
    words: tuple[str, ...] = (
        "tailor",
        "--seed",
        "1",
        "-o",
        "search",
        "--unseen",
        f"{worker} 9000",
        "--name",
        "own",
    )
    words += ("--json", "out.json", "--", str(worker), "20000")
    with monkeypatch.context() as patched:
        _interrupt_at(patched, 9)
        done = heapwright(*words)
    assert done.status == ExitCode.INTERRUPTED, done.err
    assert "the same command with -o search continues" in done.out
    assert not json.loads((tmp_path / "out.json").read_text("utf-8"))["finished"]
    with monkeypatch.context() as patched:
        patched.setattr(tailor_candidates, "build_library", _never)
        patched.setattr(tailor_candidates, "replay_once", _never)
        done = heapwright(*words)
    assert done.status == 0, done.err
    document = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert document["finished"]
    assert document["answer"]["action"] in {"tailored", "existing"}
    assert [each["unseen"] for each in document["judged"]] == [True]
    assert {"glibc", "granary"} < document["raced"].keys()
    header = Path(document["header"]).read_text("utf-8")
    assert "using Own = ANSIWrapper<" in header
    assert f"Fitted to: {worker} 20000" in " ".join(header.replace("//", "").split())
    assert Path(document["library"]).is_file()
    again = heapwright(*words[:-5], "-q", *words[-3:])
    assert again.out.strip() == document["answer"]["reason"]
    other = heapwright(*words[:-1], "30000")
    refused(other, "search has another search: it differs in inputs")


def _never(*_: Any, **__: Any) -> Any:
    raise AssertionError("this stage is complete")


def _interrupt_at(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """Make the run of this number raise the interruption of Ctrl-C."""
    left = [number]
    execute = Measurement.execute

    def interrupted(self: Measurement, assignment: Any) -> Any:
        left[0] -= 1
        if not left[0]:
            raise KeyboardInterrupt
        return execute(self, assignment)

    monkeypatch.setattr(Measurement, "execute", interrupted)
