# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A recording begins in a running process, and leaves nothing behind when it ends."""

import ctypes
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from heapwright.artefacts.trace.file import trace_info

from .conftest import (
    PROGRAMS,
    Start,
    agent_range,
    clear,
    compiled,
    maps_of,
    pointers_into,
    recording,
    started,
    status_of,
)

CYCLES = 20
DETACH, SEIZE, INTERRUPT = 17, 0x4206, 0x4207
WALL = 0x40000000


def trace(request: int, thread: int) -> None:
    """One request of ptrace."""
    assert ctypes.CDLL(None).ptrace(request, thread, None, None) == 0


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


def test_threads_that_end_meanwhile_are_unharmed(worker: Start, tmp_path: Path) -> None:
    with worker("3", "brief") as target:
        for _ in range(CYCLES):
            with recording(target.pid, tmp_path / "t.trace") as result:
                target.ask()
            assert result["left"] == ""
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


def test_an_allocator_that_only_its_own_library_calls_keeps_its_calls(
    worker: Start, tmp_path: Path
) -> None:
    plugin = compiled(
        tmp_path, "plugin.so", "-shared", "-fPIC", "-fno-builtin", source=PROGRAMS / "plugin.c"
    )
    with worker("1", "plugin", str(plugin)) as target:
        with recording(target.pid, tmp_path / "t.trace") as result:
            target.ask()
            target.ask()
        assert result["left"] == ""
        target.assert_unharmed()


def test_a_replaced_file_of_the_c_library_is_recognised(tmp_path: Path) -> None:
    (library,) = {each.split()[5] for each in maps_of(os.getpid()) if each.endswith("/libc.so.6")}
    copy = tmp_path / "libc.so.6"
    shutil.copy(library, copy)
    words = (f"-Wl,-rpath,{tmp_path}", "-Wl,--disable-new-dtags")
    program = compiled(tmp_path, "old", *words, source=PROGRAMS / "worker.c")
    with started(program, "1") as target:
        copy.unlink()
        assert f"{copy} (deleted)" in "".join(maps_of(target.pid))
        with recording(target.pid, tmp_path / "t.trace") as result:
            target.ask()
        assert result["left"] == ""
        target.assert_clean()
        target.assert_unharmed()


def test_a_thread_that_cannot_be_stopped_keeps_the_recorder_loaded(
    worker: Start, tmp_path: Path
) -> None:
    with worker("1") as target:
        (other,) = {int(each.name) for each in target.tasks()} - {target.pid}
        with recording(target.pid, tmp_path / "t.trace") as result:
            target.ask()
            trace(SEIZE, other)
        trace(INTERRUPT, other)
        os.waitpid(other, WALL)
        trace(DETACH, other)  # or the process could not be killed
        assert result["left"]
        assert target.has_agent()
        assert clear(target) == {"cleared": True, "left": ""}
        target.assert_clean()
        target.assert_unharmed()


def test_a_thread_that_stops_late_continues(worker: Start, tmp_path: Path) -> None:
    with worker("1", "vfork") as target:
        (other,) = (each for each in target.tasks() if each.name != str(target.pid))
        with recording(target.pid, tmp_path / "t.trace") as result:
            target.ask()
            while (other / "stat").read_text(encoding="utf-8").split()[2] != "D":
                time.sleep(0.01)
        assert result["left"] == ""  # the check waits for it
        target.assert_clean()
        target.assert_unharmed()


def test_a_process_without_its_first_thread_still_holds_the_recorder(
    worker: Start, tmp_path: Path
) -> None:
    with worker("1", "leave") as target:
        with recording(target.pid, tmp_path / "t.trace") as result:
            assert target.process.stdin is not None
            target.process.stdin.close()
            while status_of(target.pid)["State"][0] != "Z":
                time.sleep(0.01)
        assert result["left"]


def test_a_process_that_executes_another_program_was_replaced(tmp_path: Path) -> None:
    other = compiled(tmp_path, "other", "-static", source=PROGRAMS / "worker.c")
    script = f"import os; print('ready', flush=True); input(); os.execv('{other}', ['{other}'])"
    with started(Path(sys.executable), "-c", script) as target:
        with recording(target.pid, tmp_path / "t.trace") as result:
            assert target.process.stdin is not None
            target.process.stdin.write("go\n")
            target.process.stdin.flush()
            while "other" not in Path(f"/proc/{target.pid}/comm").read_text(encoding="utf-8"):
                time.sleep(0.01)
        assert (result["ending"], result["left"]) == ("replaced", "")


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
