# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A recording begins in a running process, and leaves nothing behind when it ends."""

import subprocess
import sys
from pathlib import Path

import pytest

from heapwright.artefacts.trace.file import trace_info

from .conftest import Start, agent_range, pointers_into, recording

CYCLES = 20


def events_of(trace: Path) -> int:
    return sum(each.events for each in trace_info(trace).threads)


@pytest.mark.parametrize("threads", ["0", "8"])
@pytest.mark.parametrize("options", [(), ("--stacks",)])
def test_the_import_tables_are_as_before_after_a_recording(
    worker: Start, tmp_path: Path, threads: str, options: tuple[str, ...]
) -> None:
    trace = tmp_path / "t.trace"
    with worker(threads) as target:
        with recording(target.pid, trace, *options) as result:
            agent = agent_range(target.pid)
            assert pointers_into(target.pid, *agent) >= 4  # malloc, free, calloc, realloc
            target.ask()
        assert pointers_into(target.pid, *agent) == 0
        assert result["left"] == ""
        target.assert_clean()
        target.assert_unharmed()
    assert 400 <= events_of(trace) == result["events"]


def test_twenty_cycles_leave_no_mapping_and_no_descriptor(worker: Start, tmp_path: Path) -> None:
    with worker("2") as target:
        target.ask()
        for _ in range(CYCLES):
            with recording(target.pid, tmp_path / "t.trace", "--stacks") as result:
                target.ask()
            assert result["left"] == ""
            assert events_of(tmp_path / "t.trace") > 0
            target.assert_clean()
        target.assert_unharmed()


def test_a_forked_child_is_counted_and_unharmed(worker: Start, tmp_path: Path) -> None:
    with worker("0", "fork") as target:
        with recording(target.pid, tmp_path / "t.trace") as result:
            target.ask()
            target.ask()
        assert result["unfollowed"] == 2
        target.assert_clean()
        target.assert_unharmed()


def test_a_stored_address_of_the_recorder_keeps_it_loaded(worker: Start, tmp_path: Path) -> None:
    with worker("0") as target:
        with recording(target.pid, tmp_path / "t.trace") as result:
            target.ask("keep")
        assert result["left"]
        target.assert_unharmed()  # it calls the recorder's malloc again


def test_the_end_of_the_process_ends_the_recording(worker: Start, tmp_path: Path) -> None:
    with worker("2") as target, recording(target.pid, tmp_path / "t.trace") as result:
        target.process.kill()
        target.process.wait()
    assert result["ending"] == "ended"
    assert events_of(tmp_path / "t.trace") == result["events"]


def test_the_verb_records_for_a_time_and_says_what_it_did(worker: Start, tmp_path: Path) -> None:
    trace = tmp_path / "t.trace"
    words = [sys.executable, "-m", "heapwright", "attach", "--seconds", "3", "--stacks"]
    with worker("1") as target:
        done = subprocess.run(
            [*words, "-o", str(trace), str(target.pid)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        assert f"recording process {target.pid} (worker); for 3 s" in done.stderr
        assert f"{events_of(trace):,} calls of 1 thread" in done.stderr
        target.assert_clean()
        target.assert_unharmed()
    assert trace_info(trace).stacks
