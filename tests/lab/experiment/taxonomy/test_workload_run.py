# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""One run of a workload. The program is a shell script that prints the given text."""

import os
from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.workload import Aspect, WorkloadRun
from heapwright.base import native
from heapwright.experiment.preload import PreloadPaths
from heapwright.experiment.taxonomy.survey import Task
from heapwright.experiment.taxonomy.trials import Trial
from heapwright.experiment.taxonomy.workload_run import (
    Subject,
    WorkloadRunner,
    command,
    numbers,
    read_line,
)

TASK = Task("glibc", Trial(Aspect.SPEED, "loop", 2, ("--max", "64")), 3)
LINE = '{"workload":"loop","threads":2,"seed":4,"operations":10,"seconds":0.5}'


def run(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> WorkloadRun:
    """A run of a script that stands for the workload."""
    try:
        native.native_dir()
    except native.NativeMissingError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    program = folder / "loop"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(native, "workload", lambda _name: program)
    with PreloadPaths() as paths:
        return WorkloadRunner(dict(os.environ), paths, 1).run(TASK, Subject(None, {}))


def test_the_line_of_a_good_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made = run(monkeypatch, tmp_path, f"echo '{LINE}'")
    assert made.good
    assert made.line is not None
    assert made.line.operations == 10
    assert made.arguments == ("--threads", "2", "--seed", "4", "--max", "64")
    assert made.wall_s is not None


@pytest.mark.parametrize(
    ("script", "outcome", "words"),
    [
        ("echo overlap at 7 >&2; exit 1", Outcome.FAILED, "overlap at 7"),
        ("kill -SEGV $$", Outcome.CRASHED, "SIGSEGV"),
        ("echo nonsense", Outcome.FAILED, "no line"),
        ("true", Outcome.FAILED, "no line"),
        ("echo 'threads: Cannot allocate memory' >&2; exit 3", Outcome.OUT_OF_MEMORY, "memory"),
    ],
)
def test_a_bad_end_has_a_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, outcome: Outcome, words: str
) -> None:
    made = run(monkeypatch, tmp_path, script)
    assert made.outcome is outcome
    assert words in made.detail
    assert made.line is None


def test_the_command_line_of_a_workload() -> None:
    words = command(Path("/w/loop"), TASK, Subject(None, {}, ("--bump",)), 5)
    assert words == ("/w/loop", "--threads", "2", "--seed", "8", "--max", "64", "--bump")


def test_the_last_line_counts() -> None:
    assert read_line(f"hello\n{LINE}\n\n") is not None
    assert read_line("") is None
    assert read_line("{}") is None


def test_numbers_of_what_was_counted() -> None:
    assert numbers({"a": 1, "b": 2.5, "c": "x", "d": True, "e": None}) == {"a": 1.0, "b": 2.5}
