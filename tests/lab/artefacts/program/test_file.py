# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Program files: the schema is the published one, and what is wrong with a file is said."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from heapwright.artefacts.program.file import ProgramError, read_program
from heapwright.artefacts.program.library import open_program
from heapwright.artefacts.program.model import schema_text
from heapwright.base.errors import HeapwrightError

ROOT = Path(__file__).parents[4]
PROGRAMS = sorted((ROOT / "catalogue" / "programs").glob("*.toml"))
GOOD = """format = 1
name = "good"
title = "A good program"
command = ["client", "{times}", "{port}"]
fresh = ["table"]
[parameters]
times = 5
share = 0.5
words = "a b"
quick = true
[environment]
WORDS = "{words} {share} {quick}"
[data]
commands = ["make >table"]
size = "2M"
[server]
command = ["server", "--port={port}"]
ready = { port = "{port}" }
[responses.rate]
last_number = "rate"
better = "higher"
inverse = "each_s"
[[check]]
what = "it is so"
pattern = "so"
[scale.small]
parameters = { times = 1 }
"""


def written(folder: Path, text: str, name: str = "good.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def keys(schema: dict[str, Any], node: dict[str, Any]) -> Iterator[str]:
    if "$ref" in node:
        yield from keys(schema, schema["$defs"][node["$ref"].rpartition("/")[2]])
    for key, inner in node.get("properties", {}).items():
        yield key
        yield from keys(schema, inner)
    for inner in (node.get("items"), node.get("additionalProperties"), *node.get("anyOf", ())):
        if isinstance(inner, dict):
            yield from keys(schema, inner)


def test_the_reference_and_the_page_have_every_key() -> None:
    schema = json.loads(schema_text())
    every = set(keys(schema, schema))
    assert {"fresh", "made_by", "inverse", "same_as", "client_threads", "load"} <= every
    reference = (ROOT / "catalogue" / "programs" / "reference.toml").read_text(encoding="utf-8")
    assert {key for key in every if key not in reference} == set()
    page = (ROOT / "docs" / "reference" / "programs.md").read_text(encoding="utf-8")
    code = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", page))))
    assert {key for key in every if key not in code} == set()


def test_every_shipped_program_is_valid_at_every_scale() -> None:
    assert {"mariadb-read-only", "redis", "perl"} <= {path.stem for path in PROGRAMS}
    for path in PROGRAMS:
        file = read_program(path)
        assert file.program.name == Path(file.where).stem
        assert "small" in file.program.scale
        assert file.program.checks, f"{file.program.name} believes every answer"
        read_program(path, "small")


def test_every_package_of_a_program_is_in_the_list_of_the_tests() -> None:
    listed = (ROOT / "scripts" / "packages" / "programs.txt").read_text(encoding="utf-8")
    names = {line.split()[0] for line in listed.splitlines() if line and line[0] != "#"}
    wanted = {package for path in PROGRAMS for package in read_program(path).program.packages}
    assert wanted <= names


def test_a_scale_and_parameters_of_the_user(tmp_path: Path) -> None:
    path = written(tmp_path, GOOD)
    assert read_program(path).program.parameters["times"] == 5
    small = read_program(path, "small")
    assert small.program.parameters["times"] == 1
    own = read_program(
        path, "small", {"times": "1_000", "share": "2", "words": "", "quick": "false"}
    )
    assert own.program.parameters == {"times": 1000, "share": 2.0, "words": "", "quick": False}
    assert own.sha256 == small.sha256


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"times": "1.5"}, "times is a whole number, not '1.5'"),
        ({"share": "much"}, "share is a number, not 'much'"),
        ({"quick": "yes"}, "quick is true or false, not 'yes'"),
        ({"time": "1"}, "the program has no parameter 'time'"),
    ],
)
def test_a_parameter_keeps_its_kind(tmp_path: Path, changed: dict[str, str], words: str) -> None:
    with pytest.raises(HeapwrightError, match=re.escape(words)):
        read_program(written(tmp_path, GOOD), None, changed)


def test_parts_lie_under_a_file(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    part = 'packages = ["theirs"]\n[parameters]\nrows = 7\n[environment]\nROWS = "{rows}"\n'
    written(tmp_path / "parts", part, "common.toml")
    named = 'parts = ["common"]\n' + GOOD
    program = read_program(written(tmp_path, named)).program
    assert program.packages == ("theirs",)
    assert program.parameters["rows"] == 7
    assert program.parameters["times"] == 5
    before = read_program(tmp_path / "good.toml").sha256
    written(tmp_path / "parts", part.replace("7", "8"), "common.toml")
    assert read_program(tmp_path / "good.toml").sha256 != before


def test_an_error_in_a_part_names_the_part(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    written(tmp_path / "parts", "[environment]\nROWS = '{rwos}'\n", "common.toml")
    path = written(tmp_path, 'parts = ["common"]\n' + GOOD)
    with pytest.raises(
        ProgramError, match=r"parts/common.toml:2: environment.ROWS: \{rwos\} is not"
    ):
        read_program(path)
    with pytest.raises(HeapwrightError, match=r"parts/none.toml cannot be read"):
        read_program(written(tmp_path, 'parts = ["none"]\n' + GOOD))
    with pytest.raises(ProgramError, match="a part is the name of a file"):
        read_program(written(tmp_path, 'parts = ["../good"]\n' + GOOD))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "format = 1",
            "format = 2",
            "good.toml:1: format: format 2; this heapwright reads format 1",
        ),
        ("title", "titel", "there is no such key"),
        ('name = "good"', 'name = "Good"', "good.toml:2: name: must be small letters"),
        ("times = 5", "times = 5\nleft = 1", "nothing depends on left"),
        ("times = 5", "times = 5\nrun = 1", "'run' is reserved by heapwright"),
        ("{times}", "{tims}", "good.toml:4: command.2: {tims} is not bound"),
        ('"{times}"', '"{times"', "a brace stands alone"),
        ("WORDS =", "LD_PRELOAD =", "LD_PRELOAD is how allocators are chosen"),
        ("{ port =", '{ path = "x", port =', "give one of command, port, socket and path"),
        ('inverse = "each_s"', "", "name its inverse"),
        ('better = "higher"', "", 'inverse is for a response of which better = "higher"'),
        ("each_s", "time", "'time' is reserved by heapwright"),
        ("last_number", 'json = "x"\nlast_number', "a response has one of"),
        ('pattern = "so"', 'pattern = "("', "the regular expression cannot be read"),
        ('pattern = "so"', 'pattern = "^at {run}/x"', "{run} has no value here"),
        ('pattern = "so"', "", "a check has one of pattern, without, same_as, command"),
        ("[data]\n", "[data]\nserver = 1\n", "data.server: must be a table"),
        ('commands = ["make >table"]', "", "nothing makes it"),
        ('"2M"', '"much"', "'much' is no size"),
        ('"table"]', '"../table"]', "a part of {data} is named by its path in it"),
        ("parameters = { times = 1 }", 'name = "x"', "name is the same at every scale"),
    ],
)
def test_errors_are_reported(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in GOOD
    with pytest.raises(HeapwrightError) as error:
        read_program(written(tmp_path, GOOD.replace(old, new, 1)), "small")
    assert words in f"{error.value.message}\n{error.value.hint}"


def test_a_log_is_that_of_a_server(tmp_path: Path) -> None:
    text = 'format = 1\nname = "x"\ntitle = "x"\ncommand = ["x", "{data}"]\n'
    checks = '[[check]]\nwhat = "x"\npattern = "x"\nstream = "log"\n'
    with pytest.raises(ProgramError) as error:
        read_program(written(tmp_path, text + checks))
    said = f"{error.value.message}\n{error.value.hint}"
    assert "{data} is not bound: there is no [data]" in said
    assert "log is a server's, and there is none" in said


def test_a_file_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="cannot be read: No such file"):
        read_program(tmp_path / "none.toml")
    with pytest.raises(HeapwrightError, match="this is not TOML"):
        read_program(written(tmp_path, "format ="))
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(HeapwrightError, match="no text in UTF-8"):
        read_program(tmp_path / "bytes.toml")
    with pytest.raises(HeapwrightError, match="there is no program 'rediss'") as error:
        open_program("rediss")
    assert "did you mean redis?" in error.value.hint
