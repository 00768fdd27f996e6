# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The process that is looked at continues unchanged, also if the look is killed at any step."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from heapwright.base import native

from .conftest import Shape, Start, compiled

SAMPLE = 12
ENDED = 5


def state_of(pid: int) -> tuple[str, str]:
    """Its state and its tracer."""
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    table = dict(line.split(":", 1) for line in lines)
    return table["State"].strip()[0], table["TracerPid"].strip()


def look(pid: int, preload: Path, **variables: str) -> int:
    """The exit status of a look with the preloaded library."""
    words = [str(native.program("look")), "--pause", "--no-leaks", str(pid)]
    environment = os.environ | {"LD_PRELOAD": str(preload)} | variables
    return subprocess.run(words, env=environment, capture_output=True, check=False).returncode


def assert_unharmed(truth: Shape) -> None:
    """It runs, it is not traced, and its blocks are what they were."""
    assert truth.ask("check") == truth.blocks
    state, tracer = state_of(truth.pid)
    assert state in {"S", "R"}
    assert tracer == "0"
    assert truth.process.poll() is None


def kill_at_steps(shape: Start, folder: Path, most: int | None) -> None:
    """Kill the look before each step, or before a sample of them."""
    preload = compiled(folder, "killed", "-shared", "-fPIC")
    with shape("busy") as truth:
        counted = folder / "steps"
        assert look(truth.pid, preload, COUNT_TO=str(counted)) == 0
        steps = int(counted.read_text(encoding="utf-8"))
        assert steps > SAMPLE
        stride = 1 if most is None else max(steps // most, 1)
        for step in range(1, steps + 1, stride):
            status = look(truth.pid, preload, KILL_AT=str(step))
            assert status in {-signal.SIGKILL, 0}  # the number of steps varies
            assert_unharmed(truth)


def test_a_look_that_is_killed_leaves_the_process_as_it_was(shape: Start, tmp_path: Path) -> None:
    kill_at_steps(shape, tmp_path, SAMPLE)


@pytest.mark.slow
def test_a_look_may_be_killed_at_every_step(shape: Start, tmp_path: Path) -> None:
    kill_at_steps(shape, tmp_path, None)


@pytest.mark.parametrize("options", [(), ("--pause",)])
def test_a_process_that_ends_during_the_look_is_named(
    shape: Start, tmp_path: Path, options: tuple[str, ...]
) -> None:
    environment = os.environ | {"LD_PRELOAD": str(compiled(tmp_path, "killed", "-shared", "-fPIC"))}
    for step in (1, 4, 16):
        with shape("small") as truth:
            words = [str(native.program("look")), *options, str(truth.pid)]
            own = environment | {"KILL_AT": str(step), "KILL_PID": str(truth.pid)}
            done = subprocess.run(words, env=own, capture_output=True, text=True, check=False)
        assert done.returncode == ENDED, (step, done.returncode, done.stderr)
        assert str(truth.pid) in done.stderr
        assert done.stdout == ""


@pytest.mark.parametrize("options", [(), ("--pause",)])
def test_a_look_changes_no_resident_memory(shape: Start, options: tuple[str, ...]) -> None:
    with shape("untouched") as truth:
        rollup = Path(f"/proc/{truth.pid}/smaps_rollup")
        before = rollup.read_text(encoding="utf-8").splitlines()[1]
        words = [str(native.program("look")), *options, str(truth.pid)]
        subprocess.run(words, capture_output=True, check=True)
        assert rollup.read_text(encoding="utf-8").splitlines()[1] == before


def test_a_signal_that_arrives_during_a_pause_is_delivered(shape: Start) -> None:
    with shape("busy") as truth:
        words = [str(native.program("look")), "--pause", "--no-leaks", str(truth.pid)]
        for _ in range(10):
            with subprocess.Popen(words, stdout=subprocess.DEVNULL) as looking:
                truth.process.send_signal(signal.SIGWINCH)
                assert looking.wait() == 0
        truth.process.send_signal(signal.SIGTERM)
        assert truth.process.wait() == -signal.SIGTERM
