# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Data of a program: made once, never used by halves, never used when it was made otherwise."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwright.artefacts.program.file import ProgramFile, read_program
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.experiment.program import data as data_module
from heapwright.experiment.program.data import Data, data_of, made_for, prepare_data, remove

from .programs import ENVIRONMENT, FILE, small

FILE_WITH_DATA = """format = 1
name = "filled"
title = "With data"
command = ["cat", "{data}/rows", "{word}"]
[parameters]
rows = 3
word = "x"
[data]
commands = ["seq {rows} >rows", "echo made >>{folder}/log"]
files = ["maker"]
made_by = [["cat", "{folder}/version"]]
size = "1K"
"""


@pytest.fixture(autouse=True)
def programs(needs_programs: Callable[..., None]) -> None:
    needs_programs("run")


def filled(folder: Path, text: str = FILE_WITH_DATA, **parameters: str) -> ProgramFile:
    for name in ("maker", "version"):
        if not (folder / name).exists():
            (folder / name).write_text("1")
    path = folder / "filled.toml"
    path.write_text(text)
    return read_program(path, None, parameters)


def made(file: ProgramFile, home: Path) -> Data:
    told: list[str] = []
    found = prepare_data(file, home, ENVIRONMENT, told.append)
    assert found is not None
    assert found.is_whole
    return found


def times(folder: Path) -> int:
    log = folder / "log"
    return log.read_text().count("made") if log.exists() else 0


def test_it_is_made_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    first = made(filled(tmp_path), home)
    assert (first.files / "rows").read_text() == "1\n2\n3\n"
    assert made(filled(tmp_path), home) == first
    assert made(filled(tmp_path, word="y"), home) == first, "the data does not depend on it"
    assert times(tmp_path) == 1
    note = json.loads((first.folder / "made.json").read_text())
    assert note["parameters"] == {"rows": 3, "word": "x"}


def test_each_dependency_changes_the_key(tmp_path: Path) -> None:
    home = tmp_path / "home"
    keys = [made(filled(tmp_path), home).key, made(filled(tmp_path, rows="4"), home).key]
    for name in ("maker", "version"):
        (tmp_path / name).write_text("2")
        keys.append(made(filled(tmp_path), home).key)
    other = FILE_WITH_DATA.replace("seq {rows}", "seq 1 {rows}")
    keys.append(made(filled(tmp_path, other), home).key)
    assert len(set(keys)) == 5
    file = filled(tmp_path, other)
    assert len(made_for(file, home)) == 5
    for folder in made_for(file, home):
        remove(folder)
    assert made_for(file, home) == []
    found = data_of(file, home, ENVIRONMENT)
    assert found is not None
    assert not found.is_whole


def test_half_of_it_is_never_used(tmp_path: Path) -> None:
    home = tmp_path / "home"
    failing = FILE_WITH_DATA.replace('"echo made', '"cat {folder}/nothing", "echo made')
    with pytest.raises(HeapwrightError, match="making the data of filled: `cat ") as error:
        made(filled(tmp_path, failing), home)
    assert "No such file" in error.value.hint
    assert [each.name for each in (home / "data").iterdir()] == [".lock-filled"]
    # As if it had been killed: what it left is neither used nor in the way.
    left = home / "data" / ".filled-000000000000.half"
    (left / "files").mkdir(parents=True)
    found = data_of(filled(tmp_path), home, ENVIRONMENT)
    assert found is not None
    found.files.mkdir(parents=True)
    (found.files / "rows").write_text("half")
    assert (made(filled(tmp_path), home).files / "rows").read_text() == "1\n2\n3\n"
    assert not left.exists()


def test_ctrl_c_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(data_module, "run_step", interrupted)
    monkeypatch.setattr(data_module, "_version", lambda *_: "1")
    with pytest.raises(KeyboardInterrupt):
        made(filled(tmp_path), tmp_path / "home")
    assert [each.name for each in (tmp_path / "home" / "data").iterdir()] == [".lock-filled"]


def test_a_full_disk_is_called_by_its_name(tmp_path: Path) -> None:
    full = FILE_WITH_DATA.replace("seq {rows} >rows", "seq {rows} >/dev/full")
    with pytest.raises(HeapwrightError, match="the disk is full: making the data") as error:
        made(filled(tmp_path, full), tmp_path / "home")
    assert error.value.exit_code is ExitCode.NOT_WRITTEN
    large = FILE_WITH_DATA.replace('"1K"', '"900000T"')
    with pytest.raises(HeapwrightError, match=r"the disk is too full: .* takes about 900000T"):
        made(filled(tmp_path, large), tmp_path / "home")
    assert times(tmp_path) == 0


def test_a_home_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(HeapwrightError, match="cannot be made: Not a directory") as error:
        made(filled(tmp_path), tmp_path / "home")
    assert "HEAPWRIGHT_HOME" in error.value.hint


def test_a_command_that_hangs(tmp_path: Path) -> None:
    hanging = FILE_WITH_DATA.replace("seq {rows} >rows", "sleep 600 # {rows}")
    text = hanging.replace('size = "1K"', "timeout_s = 0.2")
    with pytest.raises(HeapwrightError, match=r"was not over after 0\.2 s"):
        made(filled(tmp_path, text), tmp_path / "home")


def test_a_program_without_a_version(tmp_path: Path) -> None:
    silent = FILE_WITH_DATA.replace('["cat", "{folder}/version"]', '["false"]')
    with pytest.raises(HeapwrightError, match="false does not say its version"):
        made(filled(tmp_path, silent), tmp_path / "home")


SERVED = """[data]
commands = ["echo begun >begun"]
[data.server]
command = ["{python}", "{folder}/server.py", "{run}/s", "{way}"]
ready = { socket = "{run}/s" }
timeout_s = 20
load = ["test -e begun", "{python} {folder}/client.py {run}/s row hasty >loaded"]
"""


def test_a_server_puts_data_into_it(tmp_path: Path) -> None:
    file = small(tmp_path, text=FILE + SERVED)
    found = made(file, tmp_path / "home")
    assert (found.files / "loaded").read_text() == "answer row rate 200\n"


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("early", "the server ended before it answered: exit status 1"),
        ("dies", "ended with status 1"),
        ("crashing-end", "the server was killed by SIGSEGV while it ended"),
    ],
)
def test_a_server_that_fails_makes_no_data(tmp_path: Path, way: str, words: str) -> None:
    file = small(tmp_path, text=FILE + SERVED, way=way)
    with pytest.raises(HeapwrightError, match=re.escape(words)) as error:
        made(file, tmp_path / "home")
    assert "| " in error.value.hint
    assert made_for(file, tmp_path / "home") == []
