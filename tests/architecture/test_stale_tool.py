# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""scripts/test.sh says that the tests use an old tool, and which command installs it again."""

import os
import shutil
from pathlib import Path

import pytest

from support.running import ran
from support.scripts import ROOT

FOLDERS = ("src", "include", "native", "apps", "workloads", "catalogue", "cmake", "tests")
FILES = ("CMakeLists.txt", "tests/CMakeLists.txt", "pyproject.toml", "constraints.txt")
WARNING = "test: WARNING: sources are newer than the tool in .venv"
COMMAND = "make .venv/installed-dev"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Empty sources, and a tool that was installed after them."""
    if shutil.which("make") is None:
        pytest.skip("no make here (package make)")
    for name in (*FOLDERS, ".venv"):
        (tmp_path / name).mkdir()
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    shutil.copy(ROOT / "Makefile", tmp_path)
    for name in (*FILES, "include/heap.hpp", ".venv/installed-dev"):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1000, 1000))
    return tmp_path


def complaint(tree: Path) -> str:
    """What the script says before it finds that its argument is no target."""
    done = ran([tree / "scripts" / "test.sh", "nothing"])
    assert (done.returncode, done.stdout) == (2, "")
    warning, _, rest = done.stderr.partition("usage: ")
    assert rest
    return warning


def test_a_tool_that_is_newer_than_its_sources_gets_no_warning(tree: Path) -> None:
    assert complaint(tree) == ""


@pytest.mark.parametrize("name", ["include/heap.hpp", "constraints.txt"])
def test_a_newer_source_gets_one_warning(tree: Path, name: str) -> None:
    os.utime(tree / name, (2000, 2000))
    warning = complaint(tree)
    assert warning.startswith(WARNING)
    assert warning.count("WARNING") == 1
    assert COMMAND in warning


def test_a_tool_without_the_packages_of_the_tests_gets_the_warning(tree: Path) -> None:
    (tree / ".venv" / "installed-dev").unlink()
    assert complaint(tree).startswith(WARNING)


def test_the_command_of_the_warning_is_a_target() -> None:
    assert "\n$(VENV)/installed-dev:" in (ROOT / "Makefile").read_text(encoding="utf-8")
