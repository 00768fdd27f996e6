# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The page is whole in itself, escapes what it is given, and none of its charts is empty."""

import json
from pathlib import Path
from types import ModuleType

import pytest

from heapwright.artefacts.taxonomy.document import Taxonomy
from heapwright.report.taxonomy.page import page, specs_of


def test_the_page_needs_nothing_else(document: Taxonomy, browsing: ModuleType) -> None:
    text = page(document)
    assert browsing.Reader(text).fetched == []
    assert "@import" not in text.split("</style>")[0]


def test_every_place_has_its_chart(document: Taxonomy, browsing: ModuleType) -> None:
    text = page(document)
    carried = browsing.specs_in(text)
    assert sorted(carried) == sorted(browsing.Reader(text).charts) == sorted(specs_of(document))
    assert len(carried) == 7


def test_no_chart_is_empty(document: Taxonomy, browsing: ModuleType) -> None:
    drawn = {name: browsing.marks_of(spec) for name, spec in specs_of(document).items()}
    assert drawn["time/good"] == 64 + 1
    assert drawn["threads/good"] == 4 + 1
    assert drawn["counts/good"] == 2 + 6
    assert drawn["speed"] >= 1 + 2 + 2 + 1
    assert drawn["speedup"] >= 1 + 2 + 2


def test_an_empty_chart_would_be_noticed(document: Taxonomy, browsing: ModuleType) -> None:
    spec = json.loads(json.dumps(specs_of(document)["threads/good"]))
    spec["datasets"] = {key: [] for key in spec["datasets"]}
    assert browsing.marks_of(spec) == 0


def test_names_are_escaped(document: Taxonomy) -> None:
    text = page(document).split("<script")[0]
    assert "bad&lt;b&gt;" in text
    assert "bad<b>" not in text


def test_judgements_beside_the_literature(document: Taxonomy) -> None:
    text = page(document)
    assert '<span class="bad differs">no</span> <span class="claim">yes</span>' in text
    assert "It is old." in text
    assert "ended as crashed" in text


def test_without_any_run_there_is_still_a_page(document: Taxonomy, browsing: ModuleType) -> None:
    empty = document.model_copy(update={"rows": document.rows[1:2]})
    text = page(empty)
    assert browsing.Reader(text).charts == []
    assert "No run tells." in text


@pytest.mark.programs
@pytest.mark.parametrize(("width", "dark"), [(390, True), (1280, False)])
def test_a_browser_draws_all_of_it(
    document: Taxonomy, browsing: ModuleType, tmp_path: Path, width: int, dark: bool
) -> None:
    seen = browsing.look(page(document), tmp_path, width, dark=dark)
    assert seen.undrawn == 0
    assert seen.overflow <= 0
    assert len(seen.charts) == 7
    assert {name for name, box in seen.charts.items() if seen.ink(box) < 20} == set()
