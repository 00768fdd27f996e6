# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runners are started by one that stays, which needs no end and can be replaced."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from heapwright.base.errors import HeapwrightError
from heapwright.base.native import program
from heapwright.experiment.runner import RunSpec, run_once
from heapwright.experiment.starter import Starter, starter

ENVIRONMENT = {key: text for key, text in os.environ.items() if key != "LD_PRELOAD"}
PATIENCE_S = 60.0


@pytest.fixture(autouse=True)
def programs(needs_programs: Callable[..., None]) -> None:
    needs_programs("run")


def status_of(*words: str, **environment: str) -> int | None:
    return run_once(RunSpec(words, {**ENVIRONMENT, **environment})).exit_status


def wait_until_gone(pid: int) -> None:
    end = time.monotonic() + PATIENCE_S
    while Path(f"/proc/{pid}/exe").exists():
        assert time.monotonic() < end, f"{pid} is still there"
        time.sleep(0.01)


def test_all_runs_are_started_by_the_same() -> None:
    assert status_of("/bin/true") == 0
    pid = starter(program("run")).pid
    assert status_of("/bin/false") == 1
    assert starter(program("run")).pid == pid
    assert Path(f"/proc/{pid}/exe").readlink() == program("run")


def test_one_that_was_killed_is_replaced() -> None:
    assert status_of("/bin/true") == 0
    pid = starter(program("run")).pid
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert status_of("/bin/true") == 0
    assert starter(program("run")).pid != pid


def test_an_interrupted_request_does_not_answer_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C in the moment in which a runner is started."""
    assert status_of("/bin/true") == 0
    serving = starter(program("run"))
    connection = serving._socket  # noqa: SLF001
    assert connection is not None

    class Broken:
        def __getattr__(self, name: str) -> object:
            return getattr(connection, name)

        def recv(self, *_: object) -> bytes:
            raise KeyboardInterrupt

    monkeypatch.setattr(serving, "_socket", Broken())
    with pytest.raises(KeyboardInterrupt):
        status_of("/bin/false")
    assert [status_of("/bin/sh", "-c", f"exit {number}") for number in (3, 4)] == [3, 4]


def test_each_run_has_its_own_folder_and_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b c"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        line = 'test "$(basename "$PWD")" = "$HERE" && test "$EMPTY" = "" && test -z "$GONE"'
        assert status_of("/bin/sh", "-c", line, HERE=name, EMPTY="") == 0
        monkeypatch.setenv("GONE", "x")  # what the tool has, the command has if it is given it


def test_signals_are_not_ignored_for_the_command() -> None:
    assert status_of("/bin/sh", "-c", "kill -PIPE $$; exit 7") is None


def test_large_environments_arrive() -> None:
    many = {f"V{number}": "x" * 1000 for number in range(1000)}
    assert status_of("/bin/sh", "-c", 'test "${#V999}" = 1000', **many) == 0


def test_runs_of_several_threads_do_not_mix() -> None:
    with ThreadPoolExecutor(8) as pool:
        ends = pool.map(lambda number: status_of("/bin/sh", "-c", f"exit {number}"), range(64))
        assert list(ends) == list(range(64))


def test_zero_bytes_are_refused() -> None:
    with pytest.raises(HeapwrightError, match="zero byte"):
        status_of("/bin/true", "a\0b")


def test_a_program_that_does_not_serve_is_an_error() -> None:
    reading, writing = os.pipe()
    try:
        with pytest.raises(HeapwrightError, match="/bin/true cannot be run"):
            Starter(Path("/bin/true")).start(["x"], {}, writing)
    finally:
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize("end", ["", "os.kill(os.getpid(), 9)"])
def test_it_ends_with_the_tool(end: str) -> None:
    script = (
        "import os\n"
        "from heapwright.base.native import program\n"
        "from heapwright.experiment.runner import RunSpec, run_once\n"
        "from heapwright.experiment.starter import starter\n"
        "run_once(RunSpec(('/bin/true',), os.environ))\n"
        "print(starter(program('run')).pid, flush=True)\n" + end
    )
    done = subprocess.run(
        [sys.executable, "-c", script], env=ENVIRONMENT, stdout=subprocess.PIPE, check=False
    )
    wait_until_gone(int(done.stdout))
