# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A study that is killed at any moment continues with nothing lost and nothing run twice."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.study_results.reader import open_results
from heapwright.base.errors import ExitCode

from .studies import marks, write_study
from .tools import Heapwright

pytestmark = pytest.mark.usefixtures("native")
COMMAND = [sys.executable, "-m", "heapwright", "study"]
PATIENCE_S = 120.0
RUNS = 4 * 4
SERVER = """
[hooks.server]
command = ["{folder}/marking", "server", "600"]
ready = { path = "{folder}/begun" }
"""


@contextmanager
def started(*arguments: str, cwd: Path) -> Iterator[subprocess.Popen[bytes]]:
    environment = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "GLIBC_TUNABLES")}
    with subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=cwd,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def lines_in(folder: Path) -> list[bytes]:
    """The runs that are written to the end, without the header."""
    file = folder / "runs.jsonl"
    data = file.read_bytes() if file.exists() else b""
    return data[: data.rfind(b"\n") + 1].splitlines()[1:]


def wait_until_begun(process: subprocess.Popen[bytes], folder: Path, runs: int) -> bool:
    """Whether this number of runs was begun before the process ended."""
    end = time.monotonic() + PATIENCE_S
    while len(marks(folder, "begun")) < runs:
        if process.poll() is not None:
            return False
        assert time.monotonic() < end, "nothing is run"
        time.sleep(0.005)
    return True


@pytest.mark.parametrize(
    "moments",
    [
        (0, 9, 17),
        pytest.param((1, 2, 9), marks=pytest.mark.slow),
        pytest.param((0, 5, 5, 14), marks=pytest.mark.slow),
        pytest.param((16, 17), marks=pytest.mark.slow),
    ],
)
def test_nothing_is_lost_and_nothing_run_twice(moments: tuple[int, ...], tmp_path: Path) -> None:
    """Killed when this number of runs has begun, at a random moment within one, again and again."""
    study = write_study(tmp_path, blocks=4, discard=1, pause=0.1)
    results = tmp_path / "results"
    chance = random.Random(sum(moments))
    before: list[bytes] = []
    kills = 0
    for moment in (*moments, None):
        begun = (results / "design.json").exists()
        verb = ["resume", "results"] if begun else ["run", str(study), "-o", "results"]
        with started(*verb, cwd=tmp_path) as process:
            if moment is None:
                assert process.wait(PATIENCE_S) == ExitCode.OK
            elif wait_until_begun(process, tmp_path, moment):
                time.sleep(chance.random() * 0.2)
                process.send_signal(signal.SIGKILL)
                process.wait(PATIENCE_S)
                kills += 1
        now = lines_in(results)
        assert now[: len(before)] == before
        before = now
    assert kills >= 1
    found = open_results(results)
    frame = found.frame()
    assert found.notes == ()
    assert sorted(zip(frame["block"], frame["treatment"], strict=True)) == sorted(
        (block, cell.id) for block in range(4) for cell in found.design.treatments
    )
    assert set(frame["outcome"]) == {Outcome.OK.value}
    assert len(frame) == len(before) == RUNS
    assert len(marks(tmp_path, "begun")) <= RUNS + kills
    assert RUNS <= len(marks(tmp_path, "ended")) <= RUNS + kills


def test_the_order_is_what_it_would_have_been(tmp_path: Path, heapwright: Heapwright) -> None:
    study = write_study(tmp_path)
    assert heapwright("study", "run", study, "-o", "whole", "-q").status == ExitCode.OK
    assert heapwright("study", "run", study, "-o", "broken", "-q").status == ExitCode.OK
    file = tmp_path / "broken" / "runs.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[:6]) + lines[6][:40])
    done = heapwright("study", "resume", "broken")
    assert done.status == ExitCode.OK, done.err
    columns = ("treatment", "block", "position", "warmup")
    whole, broken = (open_results(tmp_path / name).frame() for name in ("whole", "broken"))
    assert broken.select(columns).rows() == whole.select(columns).rows()


@pytest.mark.parametrize("server", [False, True])
def test_processes_of_a_killed_run_are_ended(server: bool, tmp_path: Path) -> None:
    study = write_study(tmp_path, pause=600, more=SERVER if server else "")
    with started("run", str(study), "-o", "results", cwd=tmp_path) as process:
        assert wait_until_begun(process, tmp_path, 2 if server else 1)
        process.send_signal(signal.SIGKILL)
    end = time.monotonic() + PATIENCE_S
    program = os.fsencode(tmp_path / "marking")
    while any(program in words for words in command_lines()):
        assert time.monotonic() < end, "the command goes on though nobody measures it"
        time.sleep(0.05)
    assert lines_in(tmp_path / "results") == []


def command_lines() -> Iterator[bytes]:
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            yield (folder / "cmdline").read_bytes()
        except OSError:
            continue


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_is_no_run_and_says_how_to_go_on(
    number: signal.Signals, tmp_path: Path, heapwright: Heapwright
) -> None:
    study = write_study(tmp_path, pause=0.2)
    with started("run", str(study), "-o", "results", cwd=tmp_path) as process:
        assert wait_until_begun(process, tmp_path, 3)
        os.killpg(process.pid, number)
        assert process.wait(PATIENCE_S) == ExitCode.INTERRUPTED
    assert 2 <= len(lines_in(tmp_path / "results")) <= 3
    assert "heapwright study resume results" in heapwright("study", "status", "results").out


def test_one_process_at_a_time_runs_a_study(tmp_path: Path, heapwright: Heapwright) -> None:
    study = write_study(tmp_path, pause=600)
    with started("run", str(study), "-o", "results", cwd=tmp_path) as process:
        assert wait_until_begun(process, tmp_path, 1)
        refused = heapwright("study", "resume", "results")
        assert refused.status == ExitCode.BAD_INPUT
        assert "another heapwright is running" in refused.err
        assert "is being run" in heapwright("study", "status", "results").out
