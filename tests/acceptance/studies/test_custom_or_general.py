# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of the study custom-or-general. They do the same with every allocator of theirs, and
an option that switches a part off has that effect.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from heapwright.artefacts.study.factor import Level
from heapwright.artefacts.study.file import read_study
from heapwright.base.native import NativeMissingError, native_dir
from heapwright.study.treatments import Filler
from support.running import ran

FOLDER = Path(__file__).parents[3] / "catalogue" / "studies"
FILE = read_study(FOLDER / "custom-or-general.toml", "small")
SCRIPT = FOLDER / "programs" / "custom-or-general.sh"
PROGRAMS = {level.name: level for level in FILE.study.factors["program"].items}
WAYS = ("custom", "general", "reap")
TINY = {
    "cpython": 1,
    "glib": 30_000,
    "sqlite": 200,
    "lua": 1,
    "lua-requests": 3,
    "apr": 200,
}
"""Amounts that take no time; of all others 1 %."""


@pytest.fixture(scope="module")
def native() -> Path:
    try:
        return native_dir()
    except NativeMissingError as error:
        pytest.skip(f"{error.message}: {error.hint}")


def run(
    native: Path, program: str, way: str, amount: object, more: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    kept = {key: text for key, text in os.environ.items() if not key.startswith(("LD_", "PYTHON"))}
    places = {"FOLDER": str(FOLDER), "NATIVE": str(native), "PYTHON": sys.executable}
    return ran(
        ["sh", SCRIPT, program, way, str(amount)],
        timeout=120,
        env=kept | places | {"PERCENT": "100"} | dict(more or {}),
    )


def needed(level: Level) -> None:
    """Skips where the study would drop the program."""
    if why := Filler(FILE).lacks("program", level):
        pytest.skip(why)


@pytest.mark.parametrize("program", TINY)
def test_a_program_says_the_same_with_every_allocator(native: Path, program: str) -> None:
    needed(PROGRAMS[program])
    said = {}
    for way in WAYS:
        done = run(native, program, way, TINY[program])
        assert (done.returncode, done.stderr) == (0, ""), done
        said[way] = done.stdout
    assert set(said.values()) == {said["custom"]}
    assert said["custom"] or program == "lua-requests"  # which prints nothing


def checksum(text: str) -> Iterator[str]:
    """What a workload did, without what it took."""
    keys = ("objects", "checksum", "workload")
    yield from (part for part in text.split(",") if any(f'"{key}"' in part for key in keys))


@pytest.mark.parametrize("program", sorted(set(PROGRAMS) - set(TINY)))
def test_a_workload_does_the_same_with_every_allocator(native: Path, program: str) -> None:
    needed(PROGRAMS[program])
    said = set()
    for way in WAYS:
        done = run(native, program, way, 1)
        assert (done.returncode, done.stderr) == (0, ""), done
        said.add(tuple(checksum(done.stdout)))
    assert len(said) == 1
    assert all(said)


def test_the_scale_of_the_study_is_a_share_of_the_amount(native: Path) -> None:
    whole = run(native, "cpython", "general", 2).stdout
    assert whole == run(native, "cpython", "general", 8, {"PERCENT": "25"}).stdout
    assert whole != run(native, "cpython", "general", 8, {"PERCENT": "50"}).stdout


@pytest.mark.parametrize(
    ("program", "way", "said"),
    [
        ("nobody", "custom", "custom-or-general: there is no program nobody\n"),
        ("cpython", "best", "custom-or-general: there is no way best\n"),
    ],
)
def test_unknown_ways_exit_with_2(native: Path, program: str, way: str, said: str) -> None:
    done = run(native, program, way, 1)
    assert done.returncode == 2
    assert (done.stdout, done.stderr) == ("", said)


def test_lookaside_is_refused_where_it_is_not_what_was_asked_for() -> None:
    needed(PROGRAMS["sqlite"])
    words = [sys.executable, str(FOLDER / "programs" / "statements.py"), "some", "3"]
    done = ran(words, timeout=60)
    assert done.returncode == 1
    assert done.stderr == "usage: statements.py default|none ROUNDS\n"


HOSTS = {
    "lua-host": (["general"], ["best", "1", "x.lua"], ["pool", "0", "x.lua"], ["reap", "-1", "x"]),
    "glib-host": ([], ["0"], ["-3"], ["many"], ["1", "2"]),
    "apr-host": ([], ["0"], ["-3"], ["many"], ["1", "2"]),
}


@pytest.mark.parametrize("name", HOSTS)
def test_a_host_prints_its_usage(native: Path, name: str) -> None:
    host = native / "workloads" / "hosts" / name
    if not host.is_file():
        pytest.skip(f"{host} was not built: its library is not here")
    for words in HOSTS[name]:
        done = ran([host, *words])
        assert done.returncode == 2, words
        assert done.stdout == ""
        assert done.stderr.startswith(f"usage: {name} ")


@pytest.mark.parametrize("way", ["general", "pool", "region", "reap"])
def test_a_script_that_fails_fails_the_host(native: Path, tmp_path: Path, way: str) -> None:
    host = native / "workloads" / "hosts" / "lua-host"
    if not host.is_file():
        pytest.skip(f"{host} was not built: liblua5.4-dev is not here")
    script = tmp_path / "fails.lua"
    script.write_text("error('so it is')\n", encoding="utf-8")
    words = [host, way, "3", "fails.lua"]
    done = ran(words, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr == "lua-host: fails.lua:1: so it is\n"


def test_the_host_of_lua_gives_back_all_it_had(native: Path, tmp_path: Path) -> None:
    host = native / "workloads" / "hosts" / "lua-host"
    if not host.is_file():
        pytest.skip(f"{host} was not built: liblua5.4-dev is not here")
    valgrind = shutil.which("valgrind") or pytest.skip("needs valgrind")
    script = tmp_path / "grows.lua"
    script.write_text("local t = {} for i = 1, 300 do t[i] = ('x'):rep(i * 7) end\n", "utf-8")
    for way in ("general", "pool", "region", "reap"):
        words = [valgrind, "-q", "--leak-check=full", "--error-exitcode=9", host, way, "2", script]
        done = ran(words)
        assert (done.returncode, done.stderr) == (0, ""), way
