# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The table of code sizes: every composition once, the smallest code first."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import read_catalogue
from heapwright.base.native import library

ROOT = Path(__file__).parents[2]
NAMES = {entry.name for entry in read_catalogue(ROOT / "catalogue" / "allocators.toml").composed}
PAGE = ROOT / "docs" / "results" / "code-size" / "README.md"


@pytest.fixture(scope="module")
def rows() -> list[list[str]]:
    if shutil.which("size") is None:
        pytest.skip("no size (package binutils)")
    command = [sys.executable, str(ROOT / "benchmarks" / "code_size.py"), "--csv"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split(",") for line in done.stdout.splitlines()]


def test_every_composition_is_listed_once_by_the_size_of_its_code(rows: list[list[str]]) -> None:
    assert rows[0] == ["allocator", "text", "rodata", "bss"]
    assert sorted(row[0] for row in rows[1:]) == sorted(NAMES)
    code = [int(row[1]) for row in rows[1:]]
    assert code == sorted(code)
    assert code[0] > 1000


def test_the_sections_are_parts_of_the_file(rows: list[list[str]]) -> None:
    for name, text, rodata, _ in rows[1:]:
        size = library(name).stat().st_size
        assert int(text) + int(rodata) < size, os.fspath(library(name))


def test_the_page_lists_every_composition() -> None:
    listed = [line.split("`")[1] for line in PAGE.read_text("utf-8").splitlines()
              if line.startswith("| `")]  # fmt: skip
    assert sorted(listed) == sorted(NAMES)
