# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What holds for every file: a licence, links that lead somewhere, one purpose."""

import gzip
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
CODE = {".hpp", ".cpp", ".c", ".h", ".py", ".rs", ".sh", ".toml", ".in"}
LONGEST = 600
OWN_FOLDERS = (b"/root/", b"/work/", b"/tmp/wt/", b"/tmp/ci/", b"/tmp/quiet/")
"""Folders of the machine that results were made on."""


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


def test_sources_state_their_licence() -> None:
    lines = (
        "SPDX-License-Identifier: Apache-2.0",
        "SPDX-FileCopyrightText: The Heapwright authors",
    )
    heads = {name(file): file.read_text(encoding="utf-8")[:400] for file in SOURCES}
    assert not [file for file, head in heads.items() if not all(line in head for line in lines)]


def test_sources_are_small() -> None:
    """A file has one idea. An idea may be long, so the limit only finds collections of ideas."""
    lines = {name(file): file.read_text(encoding="utf-8").count("\n") for file in SOURCES}
    assert {file: number for file, number in lines.items() if number > LONGEST} == {}


def test_links_of_pages_lead_somewhere() -> None:
    assert {name(page): broken for page in PAGES if (broken := broken_links(page))} == {}


def broken_links(page: Path) -> list[str]:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    return [each for each in targets if "://" not in each and not (page.parent / each).exists()]


def test_a_broken_link_is_seen(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[this](page.md#part) [that](nowhere.md) ```[code](not-a-link.md)```")
    assert broken_links(page) == ["nowhere.md"]


def own_folders(file: Path) -> set[bytes]:
    """The paths in a file that begin with such a folder."""
    content = file.read_bytes()
    content = gzip.decompress(content) if file.suffix == ".gz" else content
    there = [re.escape(folder) for folder in OWN_FOLDERS if folder in content]
    path = rb"(?<![\w./])(?:" + b"|".join(there) + rb")[^\s\"']*"
    return set(re.findall(path, content)) if there else set()


def test_results_and_pages_name_no_folder_of_the_machine_they_were_made_on() -> None:
    files = [file for file in FILES if file.is_relative_to(ROOT / "docs")]
    assert len(files) > 300
    assert {name(file): found for file in files if (found := own_folders(file))} == {}


def test_a_folder_of_the_machine_is_seen(tmp_path: Path) -> None:
    kept = tmp_path / "runs.json.gz"
    kept.write_bytes(gzip.compress(b'{"path":"/root/.venv/lib.so","at":"/proc/7/root/tmp/T"}'))
    assert own_folders(kept) == {b"/root/.venv/lib.so"}
