# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a search is whole in itself, escapes, and draws its three charts."""

import re
from pathlib import Path
from types import ModuleType

import pytest

from heapwright.artefacts.tailoring.document import Tailoring
from heapwright.report.tailor.charts import step_rows
from heapwright.report.tailor.page import page, refinement

HEADER = "using Own = ANSIWrapper<own::Top>;"


def test_the_page_needs_nothing_else(tailoring: Tailoring, browsing: ModuleType) -> None:
    found = browsing.Reader(page(tailoring, HEADER))
    assert found.fetched == []
    assert {jump.removeprefix("#") for jump in found.jumps} <= set(found.ids)
    assert len(found.jumps) == 7


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


def test_each_round_shows_what_was_tried_and_what_became_better(tailoring: Tailoring) -> None:
    text = refinement(tailoring)
    rows = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in text.split("<tr>")]
    cells = {row[0]: row[1:] for row in rows if row}
    better = cells["lists-10-huge-classes-14"]
    assert better[0] == "41,000,000"
    assert better[4:] == ["-8.0 % (-11.0 to -4.0)", "winner"]
    assert cells["lists-10-huge-pages-4k"][3:] == ["", "", "no &lt;i&gt;gain"]
    assert cells["lists-10-huge-sites"][:3] == ["", "", ""], "it has no replay"
    assert cells["lists-10-huge-sites"][3].startswith("+20.0 %")
    assert cells["mimalloc-latest"][3].startswith("-5.0 %")
    assert "Round 2: neighbours of lists-10-huge-classes-14" in text
    assert "No further round: no neighbour &lt;b&gt;gains" in text


def test_the_steps_of_a_neighbour_are_beside_its_own_replay(tailoring: Tailoring) -> None:
    refined = tailoring.model_copy(update={"winner": "lists-10-huge-classes-14"})
    steps = {str(row["figure"]): row["change"] for row in step_rows(refined)}
    assert steps["peak memory"] == pytest.approx(100 * (31 / 22 - 1))


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
    nothing: dict[str, object] = {
        "raced": {},
        "judged": (),
        "winner": "",
        "steps": (),
        "proofs": (),
    }
    nothing |= {"header": "", "refinement": None}
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
