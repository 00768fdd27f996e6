# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""README.md is short, its links lead somewhere, and its figures and pictures are real."""

import gzip
import json
import re
import shutil
from pathlib import Path
from types import ModuleType

import pytest
from PIL import Image

from heapwright.artefacts.comparison.document import Comparison
from heapwright.report.render import report_text
from support.running import ran
from support.scripts import ROOT, load_script

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
TAILORED = ROOT / "docs" / "results" / "tailor" / "README.md"
LONGEST = 100
LARGEST_PICTURE = 150_000


def blocks(language: str, text: str = TEXT) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def drawing() -> ModuleType:
    """The script that draws the pictures."""
    return load_script("scripts/readme_pictures.py")


def test_it_is_read_in_two_minutes() -> None:
    assert len(TEXT.splitlines()) <= LONGEST
    wishes = TEXT.partition("| I want to… |")[2].partition("\n\n")[0].splitlines()
    assert len(wishes[2:]) == 6
    assert len(re.findall(r"\]\(", TEXT.partition("## Read on")[2])) == 4


def test_its_links_lead_to_files() -> None:
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", TEXT)
    pictures = re.findall(r'(?:src|srcset)="([^"]+)"', TEXT)
    assert len(targets) >= 6
    assert len(pictures) == 4
    targets += pictures
    assert [each for each in targets if not (ROOT / each).exists()] == []


def test_its_example_is_the_output_of_a_kept_comparison() -> None:
    kept = ROOT / "docs" / "results" / "readme" / "compare.json.gz"
    report = report_text(Comparison.from_json(gzip.decompress(kept.read_bytes()).decode()))
    (example,) = blocks("console")
    shown = [line for line in example.splitlines()[1:] if line != "…"]
    assert [line for line in shown if line not in report.splitlines()] == []
    assert any(line.startswith("Switch to ") for line in shown)


def test_its_tailored_steps_are_those_of_a_kept_search() -> None:
    page = TAILORED.read_text("utf-8")
    (header,) = blocks("cpp", page)
    shown = [line for line in blocks("cpp")[1].splitlines() if line != "…"]
    assert len(shown) >= 4
    assert [line for line in shown if line not in header.splitlines()] == []
    with gzip.open(TAILORED.parent / "result.json.gz") as kept:
        assert json.load(kept)["answer"]["reason"] in page


def test_its_composition_is_an_allocator(tmp_path: Path) -> None:
    compiler = shutil.which("c++") or pytest.skip("no C++ compiler (package g++)")
    code = blocks("cpp")[0]
    source, program = tmp_path / "mine.cpp", tmp_path / "mine"
    use = "int main() { static Mine heap; heap.free(heap.malloc(20)); return 0; }\n"
    source.write_text(code + use, encoding="utf-8")
    words = [compiler, "-std=c++20", "-Wall", "-Werror", f"-I{ROOT / 'include'}"]
    done = ran([*words, str(source), "-o", str(program)])
    assert done.returncode == 0, done.stderr
    assert ran([str(program)]).returncode == 0


def test_its_pictures_were_drawn_from_the_results_that_are_there() -> None:
    pictures = drawing()
    for chart in pictures.CHARTS:
        assert chart.read_text("utf-8").endswith(f"Inputs: {pictures.chart_digest()} -->\n")
    for file in pictures.PAGES:
        with Image.open(file) as page:
            assert page.text["Inputs"] == pictures.page_digest()  # type: ignore[attr-defined]
    for picture in (*pictures.CHARTS, *pictures.PAGES):
        assert picture.stat().st_size < LARGEST_PICTURE
        assert str(picture.relative_to(ROOT)) in TEXT
