# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Programs and signals mark moments of a recording; without a recorder nothing happens."""

import signal
from collections import Counter
from pathlib import Path

import pytest

from heapwright.artefacts.trace.file import TraceMark, trace_info
from support.running import ran

from .bench import Bench, environment
from .test_switching import steps

INCLUDE = Path(__file__).parents[3] / "include"
USR2 = str(int(signal.SIGUSR2))
THREADS, MARKS, SIGNALS = 4, 300, 30


@pytest.fixture(scope="session")
def marking(recording: Bench) -> Path:
    return recording.program("marks.c", f"-I{INCLUDE}", "-Wall", "-Wextra", "-Werror")


def names(marks: tuple[TraceMark, ...]) -> list[str]:
    return [mark.name for mark in marks]


def test_a_mark_is_between_the_calls_around_it(recording: Bench, marking: Path) -> None:
    recorded = recording.record([marking])
    recording.sound(recorded)
    first, second = recorded.info.marks
    assert (first.name, second.name) == ("first", "second")
    assert (first.signal, first.process) == (0, 0)
    times = [recorded.of_size(size)["time"][0] for size in (1001, 1002, 1003)]
    assert times[0] <= first.time_ns <= times[1] <= second.time_ns <= times[2]


def test_a_signal_marks_its_moment(recording: Bench) -> None:
    with steps(recording, "--mark-signal", USR2) as run:
        run.do(1001)
        run.do("toggle")
        run.do(1002)
    found = [(mark.name, mark.signal) for mark in trace_info(run.trace).marks]
    assert found == [("USR2", int(signal.SIGUSR2))]


def test_marks_of_threads_and_signals_are_all_there(recording: Bench, marking: Path) -> None:
    recorded = recording.record([marking, "threads"], "--mark-signal", USR2)
    recording.sound(recorded)
    expected = THREADS * (MARKS + SIGNALS) + 2
    assert recorded.info.mark_count == expected
    assert recorded.info.lost == 0
    shown = recorded.info.marks
    assert len(shown) == min(expected, 1000)
    assert [mark.time_ns for mark in shown] == sorted(mark.time_ns for mark in shown)
    counts = Counter(names(shown))
    del counts["USR2"]
    assert set(counts.values()) == {1}
    assert all(name in {"first", "second"} or name.startswith("thread ") for name in counts)


def test_a_forked_child_has_marks_of_its_own(recording: Bench, marking: Path) -> None:
    recorded = recording.record([marking, "fork"], "--follow-children")
    found = {mark.name: mark.process for mark in recorded.info.marks}
    assert found == {"first": 0, "second": 0, "child": 1, "parent": 0}


def test_a_long_name_is_cut(recording: Bench, marking: Path) -> None:
    recorded = recording.record([marking, "long"])
    assert names(recorded.info.marks) == ["first", "second", "x" * 120]


def test_while_recording_is_paused_there_are_no_marks(recording: Bench, marking: Path) -> None:
    assert recording.record([marking], "--paused").info.mark_count == 0


def test_without_a_recorder_a_mark_does_nothing(marking: Path) -> None:
    done = ran([str(marking)], env=environment())
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
