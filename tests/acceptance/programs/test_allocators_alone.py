# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""scripts/allocators-alone.sh builds the libraries of CMake with one compiler command each."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import CATALOGUE
from .under import needed

ROOT = Path(__file__).parents[3]
SCRIPT = "scripts/allocators-alone.sh"
NEEDED = (
    "CMakeLists.txt",
    SCRIPT,
    "scripts/composed.py",
    "catalogue/allocators.toml",
    "cmake",
    "include",
    "native/preload",
)


def test_the_script_has_the_flags_of_the_build() -> None:
    build = (ROOT / "native" / "preload" / "CMakeLists.txt").read_text(encoding="utf-8")
    script = (ROOT / SCRIPT).read_text(encoding="utf-8")
    build = re.sub(r"(?m)#.*$", "", build)
    options = r"set\((?:compile|link)_options(.*?)\)"
    flags = re.findall(r"(?<=\s)-[fW]\S+", "".join(re.findall(options, build, re.DOTALL)))
    assert len(flags) > 20
    missing = [f for f in flags if "${" not in f and not re.search(rf"[\s\"(]{f}[\s\")]", script)]
    assert not missing


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what the script reads: it builds into the tree that it is in."""
    for name in NEEDED:
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, target)
    return tmp_path


def keep_composed(tree: Path, count: int) -> None:
    """Leaves only the first allocators in the catalogue of the copy."""
    catalogue = tree / "catalogue" / "allocators.toml"
    head, *entries = (
        catalogue.read_text(encoding="utf-8").partition("\n[[system]]")[0].split("\n[[composed]]\n")
    )
    catalogue.write_text("\n[[composed]]\n".join([head, *entries[:count]]), encoding="utf-8")


def alone(tree: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "PYTHON": sys.executable, "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        [tree / SCRIPT, *command], env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.programs
@pytest.mark.long
def test_each_allocator_runs_the_command(tree: Path) -> None:
    needed("g++", "g++")
    done = alone(tree, "bash", "-c", "ls / | sort")
    assert done.returncode == 0, done.stdout + done.stderr
    for entry in CATALOGUE.composed:
        assert re.search(
            rf"  {entry.name} +ended well, [\d.]+ s; in effect in all its processes \(3\)\n",
            done.stdout,
        ), done.stdout


@pytest.mark.programs
def test_a_bad_end_is_reported(tree: Path) -> None:
    needed("g++", "g++")
    keep_composed(tree, 2)
    first, last = (entry.name for entry in CATALOGUE.composed[:2])
    done = alone(tree, "bash", "-c", f"case $LD_PRELOAD in *{last}*) kill -ABRT $$ ;; esac")
    assert done.returncode == 1
    assert re.search(rf"  {last} +DIED of signal 6 \(ABRT\)", done.stdout)
    assert re.search(rf"  {first} +ended well", done.stdout)
    assert done.stdout.count("ended well") == 2  # this one, and none at all


def test_a_command_that_fails_anyway_is_not_blamed_on_us(tree: Path) -> None:
    needed("g++", "g++")
    done = alone(tree, "bash", "-c", "exit 5")
    assert done.returncode == 1
    assert "FAILED with status 5" in done.stdout
    assert "fails without any allocator of heapwright" in done.stderr


def test_without_a_command_it_exits_with_2(tree: Path) -> None:
    assert alone(tree).returncode == 2
