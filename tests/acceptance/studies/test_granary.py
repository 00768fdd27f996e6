# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of the study granary. Each runs, does the requested work, and is replayed."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from heapwright.artefacts.study.factor import Level
from heapwright.artefacts.study.file import read_study
from heapwright.base.native import NativeMissingError, native_dir
from heapwright.study.treatments import Filler

FOLDER = Path(__file__).parents[3] / "catalogue" / "studies"
FILE = read_study(FOLDER / "granary.toml", "small")
SCRIPT = FOLDER / "programs" / "granary.sh"
PROGRAMS = {level.name: level for level in FILE.study.factors["program"].items}
TINY = {"compiler": 0, "perl": 1, "cpython": 1, "sqlite": 100, "browser": 5, "server": 20}
SERVED = {"browser", "server"}
"""These need lynx, lighttpd and ab."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The environment of runs."""
    try:
        native = native_dir()
    except NativeMissingError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    kept = {key: text for key, text in os.environ.items() if not key.startswith("LD_")}
    data = tmp_path_factory.mktemp("data")
    own = {"FOLDER": str(FOLDER), "NATIVE": str(native), "PYTHON": sys.executable}
    return kept | own | {"DATA": str(data), "OPTIONS": "", "LC_ALL": "C"}


def script(
    environment: Mapping[str, str], *words: object, amount: int = 1
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", SCRIPT, *map(str, words)],
        capture_output=True,
        encoding="latin-1",
        check=False,
        timeout=120,
        env={**environment, "AMOUNT": str(amount)},
    )


def needed(level: Level) -> None:
    """Skips where the study would drop the program."""
    if why := Filler(FILE).lacks("program", level):
        pytest.skip(why)


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.programs) if name in SERVED else name for name in TINY],
)
def test_a_command_says_the_same_every_time(place: Mapping[str, str], name: str) -> None:
    needed(PROGRAMS[name])
    amount = TINY[name]
    prepared = script(place, "prepare", name, "command", amount)
    assert (prepared.returncode, prepared.stderr) == (0, "")
    one, other = (script(place, "run", name, "command", 1, amount=amount) for _ in range(2))
    assert (one.returncode, one.stderr) == (0, ""), one
    assert one.stdout == other.stdout
    assert bool(one.stdout) == (name not in ("compiler", "server"))


def test_a_replay_is_of_what_the_command_asked_for(place: Mapping[str, str]) -> None:
    needed(PROGRAMS["perl, replayed"])
    prepared = script(place, "prepare", "perl", "replay", 1)
    assert (prepared.returncode, prepared.stderr) == (0, "")
    done = script(place, "run", "perl", "replay", 1, amount=2)
    assert (done.returncode, done.stderr) == (0, "")
    first, second = map(json.loads, done.stdout.splitlines())
    assert first["calls"] == second["calls"] > 500_000
    plan = Path(place["DATA"]) / "perl.plan"
    made = plan.stat().st_mtime_ns
    assert script(place, "prepare", "perl", "replay", 1).returncode == 0
    assert plan.stat().st_mtime_ns == made
    (plan.parent / "version").write_text("another\n")
    assert script(place, "prepare", "sqlite", "workload", 1).returncode == 0
    assert not plan.exists()


@pytest.mark.parametrize("name", ["larson", "threadtest", "loop, ten held"])
def test_threads_share_the_work(place: Mapping[str, str], name: str) -> None:
    level = PROGRAMS[name]
    options = place | {"OPTIONS": str(level.keys["options"])}
    runs, kind = level.keys["runs"], level.keys["kind"]
    one, four = (
        json.loads(script(options, "run", runs, kind, threads, amount=400).stdout)["operations"]
        for threads in (1, 4)
    )
    assert 0.5 * one <= four <= 1.5 * one


def test_unknown_arguments_exit_with_2(place: Mapping[str, str]) -> None:
    for words in (("run", "gone", "command", 1), ("run", "perl", "gone", 1), ("run",), ()):
        assert script(place, *words).returncode == 2


def test_the_bar_is_that_of_every_scale() -> None:
    whole = read_study(FOLDER / "granary.toml").study
    small = FILE.study
    assert small.bar == whole.bar
    assert small.bar is not None
    rivals = {*small.factors["allocator"].names} - {"granary"}
    assert rivals <= {*small.bar.rivals}
    assert {*whole.factors["allocator"].names} == {*small.bar.rivals, "granary", "hoard"}
