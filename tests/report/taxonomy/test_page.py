# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The page is whole in itself, escapes what it is given, and none of its charts is empty."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest
import vl_convert

from heapwright.artefacts.taxonomy import Taxonomy
from heapwright.report.taxonomy.page import page, specs_of

MARKS = re.compile(r'<g class="mark-(?:symbol|line|rule|rect) role-mark[^>]*>(.*?)</g>', re.DOTALL)


class Reader(HTMLParser):
    """Collects what a browser would fetch, and where charts are to stand."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.charts: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href") and value:
                self.fetched.append(value)
            if name == "data-chart" and value:
                self.charts.append(value)


def marks_of(spec: dict[str, object]) -> int:
    """How many marks the chart really draws."""
    svg = vl_convert.vegalite_to_svg({**spec, "width": 200})
    return sum(len(re.findall(r"<path[^>]* d=\"M|<line", group)) for group in MARKS.findall(svg))


def test_the_page_needs_nothing_else(document: Taxonomy) -> None:
    text = page(document)
    assert Reader(text).fetched == []
    assert "@import" not in text.split("</style>")[0]


def test_every_place_has_its_chart(document: Taxonomy) -> None:
    text = page(document)
    (data,) = re.findall(r'<script type="application/json" id="charts">(.*?)</script>', text)
    assert sorted(json.loads(data)) == sorted(Reader(text).charts) == sorted(specs_of(document))
    assert len(json.loads(data)) == 7


def test_no_chart_is_empty(document: Taxonomy) -> None:
    drawn = {name: marks_of(spec) for name, spec in specs_of(document).items()}
    assert drawn["time/good"] == 64 + 1
    assert drawn["threads/good"] == 4 + 1
    assert drawn["counts/good"] == 2 + 6
    assert drawn["speed"] >= 1 + 2 + 2 + 1
    assert drawn["speedup"] >= 1 + 2 + 2


def test_an_empty_chart_would_be_noticed(document: Taxonomy) -> None:
    spec = json.loads(json.dumps(specs_of(document)["threads/good"]))
    spec["datasets"] = {key: [] for key in spec["datasets"]}
    assert marks_of(spec) == 0


def test_names_are_escaped(document: Taxonomy) -> None:
    text = page(document).split("<script")[0]
    assert "bad&lt;b&gt;" in text
    assert "bad<b>" not in text


def test_judgements_beside_the_literature(document: Taxonomy) -> None:
    text = page(document)
    assert '<span class="bad differs">no</span> <span class="claim">yes</span>' in text
    assert "It is old." in text
    assert "ended as crashed" in text


def test_without_any_run_there_is_still_a_page(document: Taxonomy) -> None:
    empty = document.model_copy(update={"rows": document.rows[1:2]})
    text = page(empty)
    assert Reader(text).charts == []
    assert "No run tells." in text


@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_draws_all_of_it(document: Taxonomy, tmp_path: Path, width: int) -> None:
    browser = shutil.which("chromium") or pytest.skip("no browser (package chromium)")
    file = tmp_path / "page.html"
    file.write_text(page(document), encoding="utf-8")
    done = subprocess.run(
        [
            *(browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
            *(f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={width},2000"),
            *("--virtual-time-budget=10000", "--dump-dom", file.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    drawn = done.stdout.split('<script type="application/json"')[0]
    assert drawn.count("<svg") == 7, done.stderr[-500:]
    assert "could not be drawn" not in drawn
