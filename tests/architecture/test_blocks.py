# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The blocks of code on the pages work: commands run in order, sources compile.

All commands of a page run in one shell, in an empty folder that shows the folders of the tree. A
block that is not run states its reason on the page. Pages of results and of decisions are records
of measurements, and are not run again.
"""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from support.blocks import SHELL, Block, blocks_of
from support.running import ran

from .layout import FOLDERS, ROOT

DOCS = ROOT / "docs"
PARTS = ("tutorials", "how-to", "reference", "explanation")
PAGES = sorted(path for part in PARTS for path in (DOCS / part).glob("*.md"))
MARK = "@@ block of line"


def name(page: Path) -> str:
    return str(page.relative_to(DOCS))


RUN = [page for page in PAGES if any(block.runs for block in blocks_of(page))]
SOURCES = [
    pytest.param(page, block, id=f"{name(page)}:{block.line}")
    for page in PAGES
    for block in blocks_of(page)
    if block.compiles
]


def test_the_tutorials_are_run_and_reasons_are_given() -> None:
    assert {page.parent.name for page in RUN} >= {"tutorials"}
    assert sum(page.parent.name == "tutorials" for page in RUN) >= 4
    bare = [
        f"{name(page)}:{block.line}"
        for page in PAGES
        for block in blocks_of(page)
        if block.language in SHELL and len(block.tags.get("not run", "a reason")) < 8
    ]
    assert bare == []


def test_a_console_without_its_output_is_what_a_reader_types() -> None:
    block = Block(1, "console", "$ one \\\n    two\nsaid\n$ three\nsaid\n", {})
    assert block.commands == "one \\\n    two\nthree\n"


def script_of(page: Path, folder: Path) -> str:
    """The commands of a page with a mark before each block; writes the files of the page."""
    parts = ["set -euo pipefail\n"]
    for block in blocks_of(page):
        if "file" in block.tags:
            (folder / block.tags["file"]).write_text(block.code, encoding="utf-8")
        if block.runs:
            parts.append(f"echo '{MARK} {block.line}'\n{block.commands}")
    return "".join(parts)


@pytest.mark.programs
@pytest.mark.parametrize("page", RUN, ids=name)
def test_the_commands_of_a_page_run(page: Path, tmp_path: Path) -> None:
    if not shutil.which("g++"):
        pytest.skip("no C++ compiler (package g++)")
    here = tmp_path / "here"
    here.mkdir()
    for folder in FOLDERS:
        (here / folder).symlink_to(ROOT / folder)
    installed = Path(sys.executable).parent  # the commands of the pages, heapwright and python3
    environment = os.environ | {
        "PATH": f"{installed}:{os.environ['PATH']}",
        "HEAPWRIGHT_HOME": str(tmp_path / "home"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_DATA_HOME": str(tmp_path / "data"),
    }
    done = ran(["bash", "-c", script_of(page, here)], cwd=here, env=environment)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    printed = dict(re.findall(rf"^{MARK} (\d+)\n(.*?)(?=^{MARK}|\Z)", done.stdout, re.M | re.S))
    for block in blocks_of(page):
        if block.runs:
            assert block.tags.get("prints", "") in printed[str(block.line)], f"line {block.line}"


@pytest.mark.compiles
@pytest.mark.parametrize(("page", "block"), SOURCES)
def test_a_source_of_a_page_compiles(page: Path, block: Block, tmp_path: Path) -> None:
    language = {"c": "c", "cpp": "c++"}[block.language]
    compiler = shutil.which("gcc" if language == "c" else "g++")
    if compiler is None:
        pytest.skip("no compiler (packages gcc and g++)")
    source = tmp_path / f"block.{block.language}"
    source.write_text(block.code, encoding="utf-8")
    standard = "-std=c11" if language == "c" else "-std=c++20"
    include = f"-I{ROOT / 'include'}"
    done = ran([compiler, "-x", language, standard, include, "-fsyntax-only", source])
    assert done.returncode == 0, f"{page}:{block.line}\n{done.stderr}"
