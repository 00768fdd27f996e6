# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a search is whole in itself, escapes, and draws its three charts."""

from pathlib import Path
from types import ModuleType

import pytest

from heapwright.artefacts.tailoring.document import Tailoring
from heapwright.report.tailor.page import page

HEADER = "using Own = ANSIWrapper<own::Top>;"


def test_the_page_needs_nothing_else(tailoring: Tailoring, browsing: ModuleType) -> None:
    found = browsing.Reader(page(tailoring, HEADER))
    assert found.fetched == []
    assert {jump.removeprefix("#") for jump in found.jumps} <= set(found.ids)
    assert len(found.jumps) == 6


def test_figures_are_there_and_names_are_escaped(tailoring: Tailoring) -> None:
    text = page(tailoring, HEADER).split("<script")[0]
    for part in (
        "Use own: it gains",
        "&lt;b&gt;",
        "164,113",
        "-11.0 % (-14.0 to -7.0)",
        "kept out: larson: killed by SIGSEGV",
        "it &lt;i&gt;crashed",
        "ANSIWrapper&lt;own::Top&gt;",
        "heapwright tailor --name own input-0.trace",
    ):
        assert part in text
    assert "<b>" not in text
    assert "<i>" not in text


def rows_of(spec: dict[str, dict[str, list[dict[str, object]]]]) -> list[dict[str, object]]:
    return max(spec["datasets"].values(), key=len)


def test_no_chart_is_empty(tailoring: Tailoring, browsing: ModuleType) -> None:
    specs = browsing.specs_in(page(tailoring))
    assert set(specs) == {"race", "front", "steps"}
    assert {row["kind"] for row in rows_of(specs["front"])} == {"finalist", "front", "other"}
    assert len(rows_of(specs["front"])) == 4, "the failed replay has no place"
    times = {row["name"]: row["x"] for row in rows_of(specs["front"])}
    assert times["lists-12"] == pytest.approx(42 + 2500 * 920 / 1e6), "faults count too"
    assert len(rows_of(specs["race"])) == 8, "two figures of four allocators"
    steps = {row["figure"]: row["change"] for row in rows_of(specs["steps"])}
    assert steps["instructions"] == pytest.approx(2.5)
    assert steps["peak memory"] == pytest.approx(100 * (31 / 24 - 1))
    for spec in specs.values():
        assert browsing.marks_of(spec) >= 3


def test_a_search_that_delivered_nothing_has_a_page_too(
    tailoring: Tailoring, browsing: ModuleType
) -> None:
    nothing = {"raced": {}, "judged": (), "winner": "", "steps": (), "proofs": (), "header": ""}
    found = page(tailoring.model_copy(update=nothing))
    assert set(browsing.specs_in(found)) == {"front"}


@pytest.mark.programs
@pytest.mark.parametrize(("width", "dark"), [(390, True), (1280, False)])
def test_a_browser_draws_all_of_it(
    tailoring: Tailoring, browsing: ModuleType, tmp_path: Path, width: int, dark: bool
) -> None:
    seen = browsing.look(page(tailoring, HEADER), tmp_path, width, dark=dark)
    assert (seen.undrawn, seen.unnamed) == (0, 0)
    assert seen.overflow <= 0, "nothing makes the page scroll sideways"
    for chart in ("front", "race", "steps"):
        assert seen.ink(seen.charts[chart]) > 100
