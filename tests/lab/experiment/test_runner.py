# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The binding to heapwright-run; what that measures is proven in tests/native/runner."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.experiment.runner import RunInterrupted, RunSpec, run_once, with_preload


@pytest.fixture
def environment() -> dict[str, str]:
    try:
        return with_preload(os.environ, str(native.witness()))
    except HeapwrightError as error:
        pytest.skip(f"needs the compiled parts: {error}")


def test_preloads_come_before_the_users_own() -> None:
    merged = with_preload({"LD_PRELOAD": "own.so other.so", "A": "b"}, "x.so", "w.so")
    assert merged == {"LD_PRELOAD": "x.so:w.so:own.so other.so", "A": "b"}
    assert with_preload({"LD_PRELOAD": ""}, "w.so") == {"LD_PRELOAD": "w.so"}
    assert with_preload({"A": "b"}) == {"A": "b"}


def test_a_run_comes_back_whole(environment: dict[str, str]) -> None:
    run = run_once(RunSpec(("/bin/sh", "-c", "echo oh >&2; exit 3"), environment))
    assert (run.exit_status, run.signal, run.stderr_tail) == (3, None, "oh\n")
    assert run.wall_s is not None
    assert run.wall_s > 0
    assert run.balance.total_s > 0
    assert [Path(process.exe).name for process in run.processes][:1] != [""]


def test_the_environment_is_the_one_given(environment: dict[str, str]) -> None:
    command = ("/bin/sh", "-c", '[ "$X" = 1 ] && [ -z "$HOME" ]')
    only = {"PATH": "/usr/bin:/bin", "X": "1", "LD_PRELOAD": environment["LD_PRELOAD"]}
    assert run_once(RunSpec(command, only)).exit_status == 0


def test_nothing_is_left_in_the_folders_for_temporary_files(
    environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heapwright.experiment.runner.IN_MEMORY", tmp_path)
    run_once(RunSpec(("/bin/true",), environment))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("moment", ["_handle_of", "Running.__enter__"])
def test_nothing_is_left_of_a_run_that_is_interrupted_at_its_start(
    moment: str, environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "witness"

    def interrupted(_: object) -> None:
        while not file.exists():
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr("heapwright.experiment.runner.witness_file", lambda: str(file))
    monkeypatch.setattr(f"heapwright.experiment.runner.{moment}", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_once(RunSpec(("/bin/true",), environment))
    gc.collect()
    assert not file.exists()


def test_no_descriptor_is_lost(environment: dict[str, str]) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    run_once(RunSpec(("/bin/true",), environment))
    assert len(list(Path("/proc/self/fd").iterdir())) == before


def test_a_misuse_reports_the_message_of_the_runner(environment: dict[str, str]) -> None:
    with pytest.raises(HeapwrightError, match="cannot use --cpus nonsense"):
        run_once(RunSpec(("/bin/true",), environment, cpus="nonsense"))


def test_ctrl_c_gives_the_partial_result(environment: dict[str, str]) -> None:
    """As on a terminal: the interpreter's main thread gets SIGINT while the command runs."""
    thread = threading.main_thread().ident
    assert thread is not None
    threading.Timer(0.5, signal.pthread_kill, [thread, signal.SIGINT]).start()
    begun = time.monotonic()
    with pytest.raises(RunInterrupted) as caught:
        run_once(RunSpec(("/bin/sleep", "60"), environment, grace_s=30.0))
    assert time.monotonic() - begun < 20
    partial = caught.value.partial
    assert partial.interrupted
    assert partial.signal == signal.SIGTERM
    assert partial.wall_s is not None
    assert partial.wall_s >= 0.2


def test_when_the_tool_itself_is_killed_the_command_ends(
    environment: dict[str, str], tmp_path: Path
) -> None:
    mark = tmp_path / "pid"
    records = tmp_path / "records"
    records.mkdir()
    script = (
        "import os, pathlib\n"
        "from heapwright.experiment import runner\n"
        "from heapwright.experiment.runner import RunSpec, run_once\n"
        f"runner.IN_MEMORY = pathlib.Path({str(records)!r})\n"
        f"run_once(RunSpec(('/bin/sh', '-c', 'echo $$ > {mark}; exec sleep 60'), os.environ))\n"
    )
    tool = subprocess.Popen([sys.executable, "-c", script], env=environment)
    while not mark.exists() or not mark.read_text().strip():
        assert tool.poll() is None, "the tool ended before its command began"
        time.sleep(0.02)
    pid = int(mark.read_text())
    assert list(records.iterdir()), "the records of the witnesses lie elsewhere"
    tool.kill()
    tool.wait()
    deadline = time.monotonic() + 20
    while (Path(f"/proc/{pid}").exists() or any(records.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not Path(f"/proc/{pid}").exists()
    assert not list(records.iterdir()), "the runner left its records behind"
