# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Processes that the command leaves behind are recorded to their end, or until that is enough."""

import json
import os
import signal
import subprocess
from pathlib import Path

from .bench import TIMEOUT_S, Bench, environment

WAITING = "left processes behind"


def test_leftover_children_are_awaited_if_children_are_followed(
    recording: Bench, endings: Path
) -> None:
    script = f"(sleep 0.3; {endings} exit 70) & exit 4"
    run = recording.record(["sh", "-c", script], "--follow-children")
    assert run.said["exit_status"] == 4
    assert run.said["seconds"] >= 0.3
    assert WAITING in run.err
    recording.sound(run)
    assert run.of_size(1000).height == 70


def test_leftover_children_are_ignored_unless_followed(recording: Bench, endings: Path) -> None:
    script = f"(sleep 0.3; {endings} exit 70) > /dev/null 2>&1 & exit 4"
    run = recording.record(["sh", "-c", script])
    assert run.said["exit_status"] == 4
    assert WAITING not in run.err
    recording.sound(run)
    assert run.of_size(1000).height == 0


def test_an_interrupt_ends_the_waiting(recording: Bench) -> None:
    reading, writing = os.pipe()
    trace = recording.path()
    options = ("--no-system", "--follow-children", "--result-fd", str(writing))
    words = [*recording.words(trace, *options), "sh", "-c", "sleep 100 > /dev/null 2>&1 & echo $!"]
    with subprocess.Popen(
        words,
        env=environment(),
        pass_fds=[writing],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        os.close(writing)
        assert process.stdout is not None
        assert process.stderr is not None
        left = int(process.stdout.readline())
        try:
            assert WAITING in process.stderr.readline()
            process.send_signal(signal.SIGINT)
            assert process.wait(TIMEOUT_S) == 0
            os.kill(left, 0)  # it is still there
        finally:
            os.kill(left, signal.SIGKILL)
    with os.fdopen(reading) as report:
        said = json.load(report)
    assert said["exit_status"] == 0
    assert said["stop"] == "none"
