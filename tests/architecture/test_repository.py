# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What holds for every file: a licence, links that lead somewhere, one purpose."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = {".hpp", ".cpp", ".c", ".h", ".py", ".sh", ".toml", ".in"}
LONGEST = 400


def tracked_files() -> list[Path]:
    """The files git tracks; in a tree without git, every file outside what is built."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listing.returncode == 0:
        return [ROOT / name for name in listing.stdout.decode().split("\0") if name]
    skipped = {"build", ".venv", ".git"}
    return [
        p for p in ROOT.rglob("*") if p.is_file() and not skipped & set(p.relative_to(ROOT).parts)
    ]


FILES = [file for file in tracked_files() if file.exists()]
SOURCES = [file for file in FILES if file.suffix in CODE]
PAGES = [file for file in FILES if file.suffix == ".md"]


def name(file: Path) -> str:
    return str(file.relative_to(ROOT))


def test_there_is_something_to_check() -> None:
    assert len(SOURCES) > 50
    assert len(PAGES) > 5


@pytest.mark.parametrize("file", SOURCES, ids=name)
def test_source_states_its_licence(file: Path) -> None:
    head = file.read_text(encoding="utf-8")[:400]
    assert "SPDX-License-Identifier: Apache-2.0" in head
    assert "SPDX-FileCopyrightText: The Heapwright authors" in head


@pytest.mark.parametrize("file", SOURCES, ids=name)
def test_source_is_small(file: Path) -> None:
    lines = file.read_text(encoding="utf-8").count("\n")
    assert lines <= LONGEST, f"{lines} lines: a file has one purpose and at most {LONGEST} lines"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_of_a_page_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    broken = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert not broken
