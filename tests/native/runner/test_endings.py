# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How a run ends, and that nothing of it is left behind."""

import json
import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Ending
from heapwright.base import native
from heapwright.experiment.runner import RawRun, run_once

from .bench import Bench, of


def alive(name: str) -> list[int]:
    """Processes whose program is that file."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "exe").readlink() == Path(name):
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def test_exit_status_and_signal(bench: Bench) -> None:
    run = bench.run("/bin/sh", "-c", "exit 7")
    assert (run.exit_status, run.signal) == (7, None)
    run = bench.run(bench.program("use"), "0", "0", str(int(signal.SIGSEGV)))
    assert (run.exit_status, run.signal) == (None, signal.SIGSEGV)
    assert not run.timed_out


def test_a_child_killed_by_a_signal_is_known_as_such(bench: Bench) -> None:
    run = bench.run("/bin/sh", "-c", f"{bench.program('use')} 0 0 6; exit 3")
    (process,) = of(run, "use")
    assert (process.ending, process.signal) == (Ending.KILLED, signal.SIGABRT)
    assert run.exit_status == 3


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("/nowhere/program", "No such file"),
        ("no-program-of-this-name", "No such file"),
        (__file__, "Permission denied"),
    ],
)
def test_a_command_that_cannot_be_started(bench: Bench, command: str, words: str) -> None:
    run = bench.run(command)
    assert run.spawn_error is not None
    assert words in run.spawn_error
    assert run.exit_status is None
    assert run.wall_s is None


def test_a_text_without_an_interpreter_is_not_run_by_a_shell(bench: Bench, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("echo hello\n")
    script.chmod(0o755)
    run = bench.run(str(script))
    assert run.spawn_error is not None
    assert "Exec format error" in run.spawn_error


def test_folder_input_and_output(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "in").write_text("given")
    spec = replace(
        bench.spec("/bin/sh", "-c", "pwd; cat"),
        cwd=tmp_path,
        stdin=tmp_path / "in",
        stdout=tmp_path / "out",
    )
    assert run_once(spec).exit_status == 0
    assert (tmp_path / "out").read_text() == f"{tmp_path}\ngiven"
    assert bench.run("/bin/sh", "-c", "read line || exit 5").exit_status == 5  # nothing to read


def test_a_timeout_ends_a_program_that_ignores_signals(bench: Bench) -> None:
    program = bench.program("ignores_signals")
    begun = time.monotonic()
    run = run_once(replace(bench.spec(program), timeout_s=0.5, grace_s=0.5))
    assert run.timed_out
    assert run.signal == signal.SIGKILL
    assert run.stderr_tail.count("ready") == 3
    assert alive(program) == []
    assert time.monotonic() - begun < 20


def test_a_polite_command_is_asked_to_leave(bench: Bench) -> None:
    spec = replace(bench.spec("/bin/sleep", "100"), timeout_s=0.3, grace_s=30.0)
    run = run_once(spec)
    assert run.timed_out
    assert run.signal == signal.SIGTERM
    (process,) = of(run, "sleep")
    assert process.ending == Ending.ENDED_BY_HARNESS


def test_left_processes_are_counted_and_ended(bench: Bench) -> None:
    program = bench.program("ignores_signals")
    spec = replace(bench.spec("/bin/sh", "-c", f"{program} & sleep 0.4; exit 0"), grace_s=0.3)
    run = run_once(spec)
    assert run.exit_status == 0
    assert run.leftover_processes == 3
    assert not run.timed_out
    assert run.wall_s is not None
    assert run.wall_s < 5
    assert alive(program) == []


def test_a_helper_that_leaves_by_itself_is_not_left_over(bench: Bench) -> None:
    run = bench.run("/bin/sh", "-c", "sleep 0.02 & exit 0")
    assert run.leftover_processes == 0


@pytest.mark.usefixtures("bench")
def test_the_runner_works_for_a_caller_that_ignores_sigchld() -> None:
    reading, writing = os.pipe()
    script = (
        f"trap '' CHLD; exec {native.program('run')} --result-fd {writing} -- /bin/sh -c 'exit 4'"
    )
    done = subprocess.run(["bash", "-c", script], pass_fds=[writing], timeout=60, check=False)
    os.close(writing)
    assert done.returncode == 0
    with os.fdopen(reading, "rb") as result:
        assert RawRun.model_validate_json(result.read()).exit_status == 4


def test_a_named_pipe_without_another_side_does_not_hang(bench: Bench, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    run = run_once(replace(bench.spec("/bin/cat"), stdin=pipe))
    assert run.exit_status == 0
    run = run_once(replace(bench.spec("/bin/true"), stdout=pipe))
    assert run.spawn_error is not None


def test_a_flood_on_standard_error_fills_nothing(bench: Bench) -> None:
    flood = r"head -c 300000000 /dev/zero >&2; printf 'caf\303\251 \377\001 end' >&2"
    run = bench.run("/bin/sh", "-c", flood)
    assert run.exit_status == 0
    assert run.stderr_tail.endswith("café \ufffd\x01 end")
    assert len(run.stderr_tail) <= 8192


def interrupted(bench: Bench, *command: str, number: int, times: int) -> tuple[RawRun, str]:
    """Starts a run, sends the runner a signal once the command is up, and reads the result."""
    reading, writing = os.pipe()
    words = [
        str(native.program("run")),
        *("--result-fd", str(writing), "--grace", "0.5" if times == 1 else "60"),
        *("--", *command),
    ]
    process = subprocess.Popen(words, pass_fds=[writing], env=bench.environment())
    os.close(writing)
    deadline = time.monotonic() + 20
    while not alive(command[0]) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.2)
    for _ in range(times):
        process.send_signal(number)
        time.sleep(0.2)
    with os.fdopen(reading, "rb") as result:
        text = result.read()
    assert process.wait() == 0
    return RawRun.model_validate_json(text), text.decode()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_still_reports(bench: Bench, number: int) -> None:
    program = bench.program("ignores_signals", f"-DINTERRUPTED={number}")
    run, _ = interrupted(bench, program, number=number, times=1)
    assert run.interrupted
    assert run.wall_s is not None
    assert run.rss_series
    assert alive(program) == []


def test_asking_twice_ends_at_once(bench: Bench) -> None:
    program = bench.program("ignores_signals", "-DTWICE")
    begun = time.monotonic()
    run, _ = interrupted(bench, program, number=signal.SIGINT, times=2)
    assert run.interrupted
    assert time.monotonic() - begun < 40
    assert alive(program) == []


def test_the_command_is_ended_if_its_reader_is_gone(bench: Bench) -> None:
    program = bench.program("ignores_signals", "-DALONE")
    reading, writing = os.pipe()
    words = [str(native.program("run")), "--result-fd", str(writing), "--", program]
    process = subprocess.Popen(words, pass_fds=[writing], stderr=subprocess.DEVNULL)
    os.close(writing)
    while not alive(program):
        assert process.poll() is None, "the runner ended before its command began"
        time.sleep(0.02)
    os.close(reading)
    process.wait(timeout=30)
    assert alive(program) == []


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--result-fd", "1"],
        ["--result-fd", "1", "--"],
        ["--result-fd", "77", "--", "true"],
        ["--result-fd", "1", "--timeout", "soon", "--", "true"],
        ["--result-fd", "1", "--cpus", "3-1", "--", "true"],
        ["--result-fd", "1", "--frobnicate", "x", "--", "true"],
        ["--result-fd", "1", "--witness", "/nowhere/file", "--", "true"],
    ],
)
@pytest.mark.usefixtures("bench")
def test_a_usage_error_is_reported_and_writes_no_result(words: list[str]) -> None:
    done = subprocess.run(
        [native.program("run"), *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("heapwright-run: ")


def test_the_result_is_one_json_object_whatever_is_in_it(bench: Bench, tmp_path: Path) -> None:
    folder = tmp_path / 'quote " back \\ tab \t é'
    folder.mkdir()
    program = folder / "program"
    program.write_bytes(Path(bench.program("use")).read_bytes())
    program.chmod(0o755)
    done = subprocess.run(
        [native.program("run"), "--result-fd", "1", "--", program, "0", "50", "exit"],
        capture_output=True,
        check=True,
    )
    assert str(program) in {process["exe"] for process in json.loads(done.stdout)["processes"]}
