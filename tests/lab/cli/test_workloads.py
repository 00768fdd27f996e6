# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright workloads`, `workloads show` and `workloads path`."""

import fcntl
import json
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.workload.library import Workload
from heapwright.base.errors import ExitCode
from heapwright.base.native import workload_dir

from .tools import Heapwright, forwarding, read

pytestmark = pytest.mark.usefixtures("native")


@pytest.fixture
def names() -> list[str]:
    return sorted(path.name for path in workload_dir().iterdir() if path.is_file())


def test_the_list_has_every_workload_with_a_line(heapwright: Heapwright, names: list[str]) -> None:
    done = heapwright("workloads")
    assert done.status == 0
    lines = done.out.splitlines()[1:]
    assert [line.split()[0] for line in lines] == names
    assert all(len(line.split()) > 4 for line in lines)


def test_the_list_as_json(heapwright: Heapwright, names: list[str]) -> None:
    found = json.loads(heapwright("workloads", "--json").out)
    assert [Workload.model_validate(each).name for each in found] == names


def test_one_is_shown_with_what_was_published(heapwright: Heapwright) -> None:
    done = heapwright("workloads", "show", "threadtest")
    assert done.status == 0
    for text in ("100,000", "(10,000,000 objects in all)", "--objects", "--rounds", "Berger 2002"):
        assert text in done.out
    assert str(workload_dir() / "threadtest") in done.out


def test_one_as_json(heapwright: Heapwright) -> None:
    found = Workload.model_validate(
        json.loads(heapwright("workloads", "show", "bem", "--json").out)
    )
    assert found.name == "bem"
    assert {parameter.name for parameter in found.parameters} == {"panels", "phase", "steps"}


def test_a_path_is_all_that_is_printed(heapwright: Heapwright) -> None:
    done = heapwright("workloads", "path", "larson")
    assert done.status == 0
    assert done.out == f"{workload_dir() / 'larson'}\n"
    assert done.err == ""


def test_a_workload_is_compared_by_its_path(heapwright: Heapwright, tmp_path: Path) -> None:
    path = heapwright("workloads", "path", "larson").out.strip()
    words = (path, "--threads", "4", "--blocks", "50", "--steps", "200")
    forwarding(tmp_path / "mine.so")
    done = heapwright(
        "compare", "-a", "glibc,./mine.so", "-n", "2", "--json", "out.json", "--", *words
    )
    assert done.status == 0, done.err
    runs = read(tmp_path / "out.json").runs
    assert {run.outcome for run in runs} == {Outcome.OK}


@pytest.mark.parametrize("verb", ["show", "path"])
def test_an_unknown_name_suggests_the_nearest(heapwright: Heapwright, verb: str) -> None:
    done = heapwright("workloads", verb, "larsen")
    assert done.status == ExitCode.BAD_INPUT
    assert done.out == ""
    assert "there is no workload 'larsen'" in done.err
    assert "did you mean larson?" in done.err
    assert "`heapwright workloads` lists them" in done.err


@pytest.mark.parametrize("name", ["", "../bin/heapwright-run", "/bin/true", "."])
def test_a_path_is_no_name(heapwright: Heapwright, name: str) -> None:
    done = heapwright("workloads", "path", name)
    assert done.status == ExitCode.BAD_INPUT
    assert done.out == ""


def test_a_narrow_terminal_folds_and_cuts_nothing(names: list[str]) -> None:
    primary, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 25, 40, 0, 0))
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "xterm"}
    environment.pop("COLUMNS", None)
    command = [sys.executable, "-m", "heapwright", "workloads"]
    with subprocess.Popen(command, stdout=terminal, stdin=terminal, env=environment) as process:
        os.close(terminal)
        printed = b""
        try:
            while piece := os.read(primary, 4096):
                printed += piece
        except OSError:
            pass  # the other end is closed
    os.close(primary)
    assert process.returncode == 0
    lines = re.sub(r"\x1b\[[0-9;]*m", "", printed.decode()).splitlines()
    assert max(map(len, lines)) <= 40
    for name in names:
        assert any(line.startswith(name) for line in lines)
    assert "…" not in printed.decode()


def test_a_closed_output_pipe_ends_without_an_error_message() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-m", "heapwright", "workloads"]
    done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert done.stderr == b""
    assert done.returncode == 128 + signal.SIGPIPE


def test_an_installation_without_workloads_reports_it(
    heapwright: Heapwright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("HEAPWRIGHT_NATIVE", str(tmp_path))
    done = heapwright("workloads")
    assert done.status == ExitCode.BAD_INPUT
    assert f"there are no workloads in {tmp_path / 'workloads'}" in done.err


def test_a_program_that_does_not_describe_itself_is_named(
    heapwright: Heapwright, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "workloads"
    folder.mkdir()
    (tmp_path / "bin").mkdir()
    (folder / "broken").write_text("#!/bin/sh\necho '{}'\n")
    (folder / "broken").chmod(0o755)
    monkeypatch.setenv("HEAPWRIGHT_NATIVE", str(tmp_path))
    done = heapwright("workloads")
    assert done.status == ExitCode.BAD_INPUT
    assert "the workload broken does not describe itself" in done.err
