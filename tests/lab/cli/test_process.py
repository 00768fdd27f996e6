# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The command as a process among others: signals, closed pipes, terminals, full disks."""

import fcntl
import os
import pty
import re
import shlex
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from heapwright.artefacts.comparison.document import Comparison
from heapwright.base.errors import ExitCode
from support.running import ran

from .tools import Heapwright

pytestmark = pytest.mark.usefixtures("native")
COMMAND = [sys.executable, "-m", "heapwright", "compare"]
PATIENCE_S = 60.0
ENDED_AT_ITS_START = """
import os, sys
class Ending:
    def find_spec(name, path, target=None):
        if name == "typer":
            os.kill(os.getpid(), int(sys.argv[1]))
sys.meta_path.insert(0, Ending)
from heapwright.__main__ import main
main()
"""
ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "GLIBC_TUNABLES")}
    return {**kept, "XDG_STATE_HOME": str(tmp_path / "state")}


@contextmanager
def running(
    arguments: list[str], environment: dict[str, str], cwd: Path
) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [*COMMAND, *arguments],
        env=environment,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def journal_lines(tmp_path: Path) -> int:
    journals = list((tmp_path / "state").glob("heapwright/*.jsonl"))
    return len(journals[0].read_text().splitlines()) if journals else 0


def wait_for_lines(process: subprocess.Popen[str], tmp_path: Path, lines: int) -> None:
    end = time.monotonic() + PATIENCE_S
    while journal_lines(tmp_path) < lines:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end, "nothing was measured"
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_request_to_end_before_the_verb_begins_is_an_interruption(
    number: signal.Signals, tmp_path: Path
) -> None:
    done = ran([sys.executable, "-c", ENDED_AT_ITS_START, str(int(number))], cwd=tmp_path)
    assert done.returncode == ExitCode.INTERRUPTED
    assert not done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_keeps_and_analyses_what_was_measured(
    number: signal.Signals, environment: dict[str, str], worker: Path, tmp_path: Path
) -> None:
    arguments = ["-n", "1000", "-a", "lea", "--json", "out.json", "--", str(worker), "10", "50"]
    with running(arguments, environment, tmp_path) as process:
        wait_for_lines(process, tmp_path, 1 + 2 + 4)  # the header, the warm-up, two blocks
        os.killpg(process.pid, number)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == ExitCode.INTERRUPTED, err
    assert "Traceback" not in err
    comparison = Comparison.from_json((tmp_path / "out.json").read_text())
    assert 2 <= comparison.design.blocks < 1000
    assert comparison.design.stopped_because == "it was interrupted"
    assert comparison.effects
    assert comparison.verdict.reason in out


def test_an_interrupted_race_reports_its_state_and_keeps_every_run(
    environment: dict[str, str], worker: Path, tmp_path: Path
) -> None:
    arguments = ["--command", f"old={worker} 10 50", "--command", f"new={worker} 10 49"]
    with running([*arguments, "--json", "out.json"], environment, tmp_path) as process:
        wait_for_lines(process, tmp_path, 1 + 2 + 4)  # the header, the warm-up, two blocks
        lines = journal_lines(tmp_path)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == ExitCode.INTERRUPTED, err
    comparison = Comparison.from_json((tmp_path / "out.json").read_text())
    assert len(comparison.runs) >= lines - 1
    assert comparison.race is not None
    assert f"after block {comparison.design.blocks}, still in the race: old, new" in out
    assert "old (baseline)" in out
    assert comparison.verdict.reason in out


def test_a_terminal_that_closes_under_nohup_changes_nothing(
    environment: dict[str, str], worker: Path, tmp_path: Path
) -> None:
    arguments = ["-n", "6", "-a", "lea", "--json", "out.json", "--", str(worker), "10", "50"]
    previous = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does; it is inherited
    try:
        with running(arguments, environment, tmp_path) as process:
            wait_for_lines(process, tmp_path, 1 + 2)
            os.kill(process.pid, signal.SIGHUP)
            _, err = process.communicate(timeout=PATIENCE_S)
    finally:
        signal.signal(signal.SIGHUP, previous)
    assert process.returncode == ExitCode.OK, err
    assert Comparison.from_json((tmp_path / "out.json").read_text()).design.blocks == 6


def test_an_interruption_before_anything_is_known(
    environment: dict[str, str], worker: Path, tmp_path: Path
) -> None:
    with running(["-a", "lea", "--", str(worker), "10", "60000"], environment, tmp_path) as process:
        wait_for_lines(process, tmp_path, 1)
        time.sleep(0.3)
        os.killpg(process.pid, signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == ExitCode.INTERRUPTED
    assert "Traceback" not in err


def test_the_command_ends_with_the_interruption(
    environment: dict[str, str], worker: Path, tmp_path: Path
) -> None:
    mark = f"60{os.getpid()}"
    with running(["-a", "lea", "--", str(worker), "10", mark], environment, tmp_path) as process:
        wait_for_lines(process, tmp_path, 1)
        end = time.monotonic() + PATIENCE_S
        while not processes_with(mark, worker) and time.monotonic() < end:
            time.sleep(0.02)
        assert processes_with(mark, worker)
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=PATIENCE_S)
    assert not processes_with(mark, worker)


def processes_with(mark: str, worker: Path) -> list[str]:
    """The processes that run `worker` with `mark` as an argument."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_text().split("\0")
            except OSError:
                continue
            if words[0] == str(worker) and mark in words:
                found.append(entry.name)
    return found


def test_a_closed_output_pipe_ends_without_an_error_message(
    environment: dict[str, str], worker: Path, tmp_path: Path
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, "-n", "1", "-a", "lea", "--json", "out.json", "--", worker],
        env=environment,
        cwd=tmp_path,
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert done.stderr == ""
    assert done.returncode == 128 + signal.SIGPIPE
    assert Comparison.from_json((tmp_path / "out.json").read_text()).effects


def test_a_full_disk_at_the_end_names_the_journal(
    heapwright: Heapwright, worker: Path, tmp_path: Path
) -> None:
    done = heapwright("compare", "-n", "1", "-a", "lea", "--json", "/dev/full", "--", worker)
    assert done.status == ExitCode.NOT_WRITTEN
    assert "--json /dev/full could not be written: No space left on device" in done.err
    assert "nothing is lost: every raw run is in " in done.err
    (journal,) = (tmp_path / "state" / "heapwright").iterdir()
    assert f" {journal}" in done.err
    assert len(journal.read_text().splitlines()) == 5
    assert "glibc (baseline)" in done.out  # the answer is given all the same


def test_output_that_cannot_be_printed_is_an_error(
    environment: dict[str, str], worker: Path, tmp_path: Path
) -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:  # noqa: PTH123
        done = subprocess.run(
            [*COMMAND, "-n", "1", "-a", "lea", "--json", "out.json", "--", worker],
            env=environment, cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, text=True,
            check=False,
        )  # fmt: skip
    assert done.returncode == ExitCode.NOT_WRITTEN
    assert "Traceback" not in done.stderr
    assert "could not be printed: No space left on device" in done.stderr


def on_terminal(
    arguments: list[str], environment: dict[str, str], cwd: Path, columns: int
) -> tuple[int, str]:
    """Run on a terminal with this number of columns. Returns the exit status, and all that was
    drawn there.
    """
    own, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    kept = {k: v for k, v in environment.items() if k not in ("COLUMNS", "LINES", "NO_COLOR")}
    with subprocess.Popen(
        [*COMMAND, *arguments],
        env={**kept, "TERM": "xterm"},
        cwd=cwd,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        drawn = bytearray()
        while True:
            try:
                piece = os.read(own, 65536)
            except OSError:  # the last one closed the terminal
                break
            if not piece:
                break
            drawn += piece
        status = process.wait(PATIENCE_S)
    os.close(own)
    return status, ESCAPES.sub("", drawn.decode())


@pytest.mark.parametrize("columns", [30, 60, 200])
def test_on_a_terminal_of_any_width_nothing_is_cut_off(
    columns: int, environment: dict[str, str], worker: Path, tmp_path: Path
) -> None:
    status, drawn = on_terminal(
        ["-n", "2", "-a", "lea", "--json", "o.json", "--", str(worker), "10", "100"],
        environment, tmp_path, columns,
    )  # fmt: skip
    assert status == 0, drawn
    assert "…" not in drawn.partition("Baseline")[2]
    assert "lea" in drawn
    comparison = Comparison.from_json((tmp_path / "o.json").read_text())
    folded = "".join(drawn.split())
    assert "".join(comparison.verdict.reason.split()) in folded
    assert "o.json" in folded


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_stream_that_is_closed_is_no_error(
    closed: str, environment: dict[str, str], worker: Path, tmp_path: Path
) -> None:
    words = [*COMMAND, "-n", "1", "-a", "lea", "--json", "out.json", "--", str(worker)]
    line = f"{shlex.join(words)} {closed}"
    done = ran(["/bin/sh", "-c", line], env=environment, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert Comparison.from_json((tmp_path / "out.json").read_text()).effects


def test_a_memory_limit_that_is_too_low_is_reported_without_a_traceback(
    environment: dict[str, str], worker: Path, tmp_path: Path
) -> None:
    words = shlex.join([*COMMAND, "-n", "1", "-a", "lea", "--", str(worker)])
    line = f"ulimit -n 8; exec {words}"
    done = ran(["/bin/sh", "-c", line], env=environment, cwd=tmp_path)
    assert done.returncode == ExitCode.NOTHING_COMPARED
    assert "too little: Too many open files" in done.stderr
    assert "Traceback" not in done.stderr
