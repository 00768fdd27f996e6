# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The process continues unharmed if heapwright-attach is killed before any of its steps.

A recorder that was left behind restores the import tables by itself, and `--clear` removes it.
"""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from heapwright.base import native

from .conftest import Start, Worker, agent_range, clear, compiled, pointers_into, recording

KILLED = Path(__file__).parents[1] / "look" / "programs" / "killed.c"
SAMPLE = 25


def attach(target: Worker, trace: Path, preload: Path, **variables: str) -> int:
    """The exit status of a short recording with the preloaded library."""
    words = [str(native.program("attach")), "--trace", str(trace), "--seconds", "0.01", "--stacks"]
    words += ["--library", str(native.library("attached")), str(target.pid)]
    environment = os.environ | {"LD_PRELOAD": str(preload)} | variables
    return subprocess.run(words, env=environment, capture_output=True, check=False).returncode


def kill_at_steps(
    target: Worker, folder: Path, *, most: int | None = None, last: int | None = None
) -> int:
    """Kill the recording before each step or a sample of them, the latest first. Stops when the
    recorder was left in the process `last` times. Returns how often it was."""
    trace = folder / "t.trace"
    preload = compiled(folder, "killed.so", "-shared", "-fPIC", source=KILLED)
    counted = folder / "steps"
    assert attach(target, trace, preload, COUNT_TO=str(counted)) == 0
    steps = int(counted.read_text(encoding="utf-8"))
    assert steps > SAMPLE
    left = 0
    for step in range(steps, 0, -1 if most is None else -(steps // most)):
        status = attach(target, trace, preload, KILL_AT=str(step))
        assert status in {-signal.SIGKILL, 0}  # the number of steps varies
        target.assert_unharmed()
        if target.has_agent():
            left += 1
            assert clear(target) == {"cleared": True, "left": ""}
        target.assert_clean()
        if left == last:
            break
    target.assert_unharmed()
    return left


@pytest.mark.parametrize("threads", ["0", "2"])
def test_a_killed_recording_harms_nothing(worker: Start, tmp_path: Path, threads: str) -> None:
    with worker(threads) as target:
        assert kill_at_steps(target, tmp_path, most=SAMPLE) > 0


def test_children_are_unharmed_between_the_last_steps(worker: Start, tmp_path: Path) -> None:
    with worker("0", "fork") as target:
        assert kill_at_steps(target, tmp_path, last=SAMPLE) == SAMPLE


@pytest.mark.slow
@pytest.mark.parametrize("threads", ["0", "2", "8"])
def test_a_recording_may_be_killed_at_every_step(
    worker: Start, tmp_path: Path, threads: str
) -> None:
    with worker(threads) as target:
        assert kill_at_steps(target, tmp_path) > 0


def test_an_abandoned_recorder_restores_the_import_tables(worker: Start, tmp_path: Path) -> None:
    words = [str(native.program("attach")), "--trace", str(tmp_path / "t.trace")]
    words += ["--library", str(native.library("attached"))]
    with worker("0") as target:
        with subprocess.Popen([*words, str(target.pid)], stderr=subprocess.PIPE) as process:
            assert process.stderr is not None
            assert process.stderr.readline() == b"recording\n"
            process.kill()
        agent = agent_range(target.pid)
        assert pointers_into(target.pid, *agent) >= 4
        for _ in range(100):  # until the recorder wants its next block
            target.ask()
        assert pointers_into(target.pid, *agent) == 0
        assert target.has_agent()
        assert clear(target) == {"cleared": True, "left": ""}
        target.assert_clean()
        with recording(target.pid, tmp_path / "t.trace") as result:
            target.ask()
        assert result["left"] == ""
        target.assert_unharmed()
