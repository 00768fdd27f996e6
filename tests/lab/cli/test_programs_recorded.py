# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`record`, `profile` and `explain` of a program that its file describes."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwright.artefacts.trace.file import trace_info
from heapwright.base.errors import ExitCode

from .tools import Heapwright

pytestmark = pytest.mark.usefixtures("native")
SMALL = ("--program", "reference", "--scale", "small")
FILE = """format = 1
name = "mine"
title = "A program of mine"
command = ["sh", "-c", "cat {data}/text {way}"]
[parameters]
way = ""
[data]
commands = ["echo words >text"]
[[check]]
what = "the words are there"
pattern = "^words$"
"""


def test_a_server_is_recorded_under_its_client(heapwright: Heapwright, tmp_path: Path) -> None:
    done = heapwright("record", *SMALL)
    assert "it is an example and no real program" in done.err
    assert "not so" not in done.err
    info = trace_info(tmp_path / "reference.trace")
    (process,) = info.processes
    assert "serve" in process.arguments
    assert "ask" not in process.arguments


def test_a_program_is_profiled_so_often(heapwright: Heapwright, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(FILE)
    done = heapwright("profile", "--program", path, "-n", "2", "--json", "P")
    assert done.status == ExitCode.OK, done.err
    assert json.loads((tmp_path / "P").read_text())
    assert not list(tmp_path.glob("*.trace"))


def test_wrong_answers_of_a_recorded_program_are_reported(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(FILE)
    done = heapwright("record", "--program", path, "-p", "way=>/dev/null", "-o", "T")
    assert done.status == ExitCode.NOTHING_COMPARED
    assert "failed: not so: the words are there" in done.err
    assert (tmp_path / "T").exists()
    for verb in ("profile", "explain"):
        done = heapwright(verb, "--program", path, "-p", "way=>/dev/null")
        assert done.status == ExitCode.NOTHING_COMPARED
        assert "failed: not so: the words are there" in done.err


@pytest.mark.parametrize("verb", ["record", "profile", "explain"])
def test_another_server_in_the_place_of_ours_is_not_recorded(
    verb: str, heapwright: Heapwright, tmp_path: Path
) -> None:
    path = tmp_path / "taken.toml"
    (tmp_path / "here").touch()
    served = '[server]\ncommand = ["sleep", "600"]\nready = { path = "{folder}/here" }\n'
    path.write_text(FILE.replace("[parameters]", served + "[parameters]"))
    done = heapwright(verb, "--program", path)
    assert done.status == ExitCode.BAD_INPUT
    assert "here answers before the server is started: something else is there" in done.err
    assert done.out == ""


def test_the_output_of_an_abandoned_server_is_reported(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    path = tmp_path / "mute.toml"
    script = "trap 'for i in 1 2 3 4 5 6 7 8 9 10 11 12; do echo bye $i; done; exit' TERM; "
    script += "echo cannot find the moon; echo nor the sun >&2; while :; do sleep 0.1; done"
    served = '[server]\ncommand = ["sh", "-c", "SCRIPT"]\ntimeout_s = 2\n'
    served += 'ready = { path = "{run}/never" }\n'
    path.write_text(FILE.replace("[parameters]", served.replace("SCRIPT", script) + "[parameters]"))
    done = heapwright("programs", "run", path)
    assert done.status == ExitCode.NOTHING_COMPARED
    for words in ("timeout", "did not answer", "cannot find the moon", "nor the sun"):
        assert words in done.out
    assert "bye" not in done.out
    done = heapwright("record", "--program", path, "-o", "T")
    assert done.status != ExitCode.OK
    assert "timeout: the server did not answer" in done.err
    assert "cannot find the moon" in done.err
    assert "bye" not in done.err


def test_a_program_is_explained(heapwright: Heapwright) -> None:
    done = heapwright("explain", *SMALL, "-q")
    assert done.status == ExitCode.OK, done.err
    assert done.out.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("record",), "there is nothing to record: no command, and no --program"),
        (("record", *SMALL, "--", "ls"), "there cannot be a command beside it"),
        (("profile", *SMALL, "--", "ls"), "either a command is profiled, or a program"),
        (("profile", *SMALL, "T"), "either a trace is profiled, or a command is run"),
        (("explain", *SMALL, "--pid", "1"), "one thing is explained"),
        (("profile", "--scale", "small", "T"), "--scale is for a program"),
    ],
)
def test_options_that_exclude_each_other(
    heapwright: Heapwright, words: tuple[str, ...], said: str
) -> None:
    done = heapwright(*words)
    assert done.status == ExitCode.BAD_INPUT
    assert said in done.err


def test_a_server_that_dies_while_it_is_recorded(
    heapwright: Heapwright, tmp_path: Path, needs_programs: Callable[..., None]
) -> None:
    needs_programs("record")
    path = tmp_path / "dying.toml"
    served = '[server]\ncommand = ["sh", "-c", "exit 3"]\nready = { path = "{run}/never" }\n'
    path.write_text(FILE.replace("[parameters]", served + "[parameters]"))
    done = heapwright("record", "--program", path, "-o", "T")
    assert "the server ended before it answered" in done.err
    assert "the command exited with status 3" in done.err
