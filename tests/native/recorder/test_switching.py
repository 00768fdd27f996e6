# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Recording starts paused, and goes on and off while the program runs."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from heapwright.artefacts.trace.frame import open_trace

from .bench import TIMEOUT_S, Bench, environment

RECORDING = 200
"""The offset of the word in the header that switches recording (native/trace/FORMAT.md)."""


@dataclass
class Steps:
    """The program that does one thing for each line it is given."""

    process: subprocess.Popen[str]
    trace: Path

    def do(self, line: object) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(line, file=self.process.stdin, flush=True)
        assert self.process.stdout.readline() == f"{line}\n"

    def wait_until(self, recording: bool) -> None:
        end = time.monotonic() + TIMEOUT_S
        while self.trace.read_bytes()[RECORDING] != recording:
            assert time.monotonic() < end
            time.sleep(0.002)


@contextmanager
def steps(recording: Bench, *options: str) -> Iterator[Steps]:
    trace = recording.path()
    program = recording.program("steps.c")
    words = recording.words(trace, "--no-system", *options)
    with subprocess.Popen(
        [*words, str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        text=True,
    ) as process:
        yield Steps(process, trace)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(TIMEOUT_S) == 0


def sizes(run: Steps) -> list[int]:
    events = open_trace(run.trace).collect()
    return [size for size in events["size"].unique(maintain_order=True).to_list() if size]


def test_it_starts_paused_and_is_turned_on_by_the_launchers_signal(recording: Bench) -> None:
    with steps(recording, "--paused") as run:
        run.do(1001)
        run.process.send_signal(signal.SIGUSR1)
        run.wait_until(True)
        run.do(1002)
        run.process.send_signal(signal.SIGUSR1)
        run.wait_until(False)
        run.do(1003)
    assert sizes(run) == [1002]


def test_a_signal_to_the_program_itself(recording: Bench) -> None:
    with steps(recording, "--toggle-signal", str(int(signal.SIGUSR2))) as run:
        run.do(1001)
        run.do("toggle")
        run.do(1002)
        run.do("toggle")
        run.do(1003)
    assert sizes(run) == [1001, 1003]


def test_a_control_file(recording: Bench, tmp_path: Path) -> None:
    control = tmp_path / "control"
    with steps(recording, "--paused", "--control", str(control)) as run:
        run.do(1001)
        control.write_text("on\n")
        run.wait_until(True)
        run.do(1002)
        control.write_text("neither\n")
        run.do(1003)
        control.write_text("off")
        run.wait_until(False)
        run.do(1004)
    assert sizes(run) == [1002, 1003]


def test_a_control_file_that_is_there_from_the_start(recording: Bench, tmp_path: Path) -> None:
    control = tmp_path / "control"
    control.write_text("0\n")
    with steps(recording, "--control", str(control)) as run:
        run.do(1001)
    assert sizes(run) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_to_the_launcher_ends_the_command(recording: Bench, number: int) -> None:
    trace = recording.path()
    reading, writing = os.pipe()
    words = recording.words(trace, "--no-system", "--result-fd", str(writing))
    with subprocess.Popen([*words, "sleep", "60"], pass_fds=[writing], env=environment()) as run:
        os.close(writing)
        end = time.monotonic() + TIMEOUT_S
        while not trace.exists() or trace.stat().st_size <= 4096:
            assert time.monotonic() < end
            time.sleep(0.002)
        run.send_signal(number)
        assert run.wait(TIMEOUT_S) == 0
    with os.fdopen(reading) as report:
        assert json.load(report)["signal"] == number
