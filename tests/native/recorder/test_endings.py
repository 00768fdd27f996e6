# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""For each end of a program, all its requests until then are in the trace."""

import signal
from pathlib import Path

import pytest

from .bench import Bench

KILLED = {"kill": signal.SIGKILL, "abort": signal.SIGABRT, "crash": signal.SIGSEGV}
LEFT = {"exit": 5, "_exit": 7}


@pytest.mark.parametrize("way", [*KILLED, *LEFT])
def test_nothing_is_lost_at_the_end(recording: Bench, endings: Path, way: str) -> None:
    run = recording.record([endings, way, "5000"])
    assert run.said["signal"] == KILLED.get(way, 0)
    assert run.said["exit_status"] == LEFT.get(way, -1)
    recording.sound(run)
    counts = run.counts()
    assert counts == {"malloc": 5000, "free": 4500}
    assert len(run.live()) == 500
    (process,) = run.info.processes
    assert Path(process.executable) == endings
    assert process.arguments[1:] == (way, "5000")
    assert (process.end_ns is not None) == (way == "exit")
    assert run.said["lost"] == 0


def test_exec_is_a_new_process_of_the_same_number(recording: Bench, endings: Path) -> None:
    run = recording.record([endings, "exec"])
    recording.sound(run)
    first, second = run.info.processes
    assert first.pid == second.pid
    assert second.cause == "exec"
    assert second.parent == first.process
    assert second.arguments[0] == "again"
    assert run.counts(0) == run.counts(1) == {"malloc": 100, "free": 90}


@pytest.mark.parametrize("way", ["fork", "clone"])
def test_a_forked_child_has_a_stream_of_its_own(recording: Bench, endings: Path, way: str) -> None:
    run = recording.record([endings, way], "--follow-children")
    recording.sound(run)
    parent, child = run.info.processes
    assert (child.cause, child.parent) == ("fork", parent.process)
    assert child.pid != parent.pid
    assert run.counts(parent.process) == {"malloc": 110, "free": 99}
    assert run.counts(child.process) == {"malloc": 50, "free": 45}
    assert run.info.followed


@pytest.mark.parametrize("way", ["fork", "clone", "vfork"])
def test_children_are_left_out_and_counted_unless_asked_for(
    recording: Bench, endings: Path, way: str
) -> None:
    run = recording.record([endings, way])
    recording.sound(run)
    assert run.said["unfollowed"] == 1
    assert run.said["processes"] == 1
    assert run.of_size(1000).height == 110


def test_a_vfork_child_works_in_its_parents_heap_until_it_executes(
    recording: Bench, endings: Path
) -> None:
    run = recording.record([endings, "vfork"], "--follow-children")
    recording.sound(run)
    parent, child = run.info.processes
    assert (child.cause, child.parent) == ("exec", parent.process)
    assert child.arguments == ("child", "exit", "50")
    assert run.of_size(777)["process"].to_list() == [parent.process]
    assert run.counts(child.process) == {"malloc": 50, "free": 45}


def test_a_program_may_close_our_descriptor(recording: Bench, endings: Path) -> None:
    run = recording.record([endings, "close"])
    recording.sound(run)
    assert run.said["stop"] == "none"
    assert run.of_size(1000).height == 100 + 100000 + 10
