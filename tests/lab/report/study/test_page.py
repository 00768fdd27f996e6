# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The page is whole in itself and escapes its input. None of its charts is empty, and a browser
draws it on any screen, in the dark and on paper.
"""

import base64
import json
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest
import vl_convert

from heapwright.artefacts.study.acceptance import (
    AcceptanceFigure,
    AcceptanceResult,
    AcceptanceTable,
    Met,
)
from heapwright.artefacts.study.published import Agreement, PublishedRow, PublishedTable
from heapwright.artefacts.study.substitution import (
    Judged,
    Overall,
    Rival,
    SubstitutionRow,
    SubstitutionTable,
    Worth,
)
from heapwright.artefacts.study_analysis.answers import Answer, Figure, FindingResult
from heapwright.report.pages.export import rows_of
from heapwright.report.study.page import page, papers_of
from heapwright.report.study.view import StudyView

from . import made_page

HIGHEST = 24_000
LEAST = {
    "time/by-factor/allocations": 3 * 5,
    "time/by-factor/threads": 3 * 7,
    "time/threads-allocations-allocator/glibc": 2 * 7,
    "time/ranking": 6,
    "time/ratios": 1 + 12,
    "time/shares": 6,
    "time/residuals": 80,
    "time-memory": 3,
    "time/runs/allocations 1000, threads 1": 12,
    "memory/over-time-1": 2,
}
"""Some charts, and the least number of marks that each draws."""


@pytest.fixture(scope="module")
def text(small: StudyView) -> str:
    return page(small)


def plain(text: str) -> str:
    """Without scripts and styles."""
    return re.sub("<(script|style).*?</\\1>", "", text, flags=re.DOTALL)


def test_the_page_needs_nothing_else(text: str, browsing: ModuleType) -> None:
    assert browsing.Reader(text).fetched == []
    assert "@import" not in text.split("</style>", maxsplit=1)[0]
    assert "url(" not in text.split("</style>", maxsplit=1)[0]


def test_links_lead_somewhere(text: str, browsing: ModuleType) -> None:
    found = browsing.Reader(text)
    assert len(found.jumps) > 10
    assert {jump.removeprefix("#") for jump in found.jumps} <= set(found.ids)
    assert len(set(found.ids)) == len(found.ids)


def test_every_place_has_its_chart(text: str, browsing: ModuleType) -> None:
    assert sorted(browsing.specs_in(text)) == sorted(browsing.Reader(text).charts)
    assert set(LEAST) <= set(browsing.specs_in(text))


def test_no_chart_is_empty(text: str, browsing: ModuleType) -> None:
    drawn = {name: browsing.marks_of(spec) for name, spec in browsing.specs_in(text).items()}
    assert {name: marks for name, marks in drawn.items() if marks < LEAST.get(name, 1)} == {}


@pytest.mark.parametrize("name", sorted(LEAST))
def test_an_empty_chart_would_be_noticed(text: str, browsing: ModuleType, name: str) -> None:
    spec = json.loads(json.dumps(browsing.specs_in(text)[name]))
    spec["datasets"] = {key: [] for key in spec["datasets"]}
    assert browsing.marks_of(spec) == 0


def test_names_are_escaped(text: str) -> None:
    shown = plain(text)
    for given in ("A made-up <study>", "bad<b>", "glibc is <best>", "<not> normal", "<SIGSEGV>"):
        assert given not in shown
        assert given.replace("<", "&lt;").replace(">", "&gt;") in shown
    assert "bench&lt;1&gt;" in shown
    assert "[factors.size] # &lt;b&gt;" in shown


def test_the_verdict_comes_first(text: str, small: StudyView) -> None:
    shown = plain(text)
    order = ("glibc is &lt;best&gt; in all.", "To be known first", 'id="interactions"')
    assert [shown.index(part) for part in order] == sorted(shown.index(part) for part in order)
    assert shown.index('id="rankings"') < shown.index('id="runs"') < shown.index('id="failures"')
    assert f"{small.analysis.study.ok:,}" in shown


def test_the_page_reports_missing_runs_and_levels(text: str) -> None:
    shown = plain(text)
    assert "The study is not complete: 108 of 113 runs." in shown
    assert "cpus 64 was not run: this machine has 2 processors" in shown
    assert (
        "3 combinations are left out, for want of <code>threads &gt;= 1</code>: it is so." in shown
    )


def test_failures_are_counted_and_said(text: str, small: StudyView) -> None:
    shown = plain(text)
    assert "18 crashed. None of these is a figure" in shown
    assert "<td>killed by &lt;SIGSEGV&gt;</td>" in shown
    assert "its last words" not in shown
    assert len(small.analysis.failures) == 6


def test_every_good_run_is_on_the_page(text: str, small: StudyView) -> None:
    (found,) = re.findall(r'class="every".*?<script type="application/json">(.*?)</script>', text)
    data = json.loads(found)
    for response in data["responses"]:
        steps = base64.b64decode(response["values"])
        assert len(steps) // 2 == sum(response["counts"]) == small.good.height
    time = data["responses"][0]
    assert time["counts"] == [2 if data["levels"][at[0]] == "bad<b>" else 5 for at in data["at"]]


def test_values_come_back_as_they_were(text: str, small: StudyView) -> None:
    (found,) = re.findall(r'class="every".*?<script type="application/json">(.*?)</script>', text)
    data = json.loads(found)
    time = data["responses"][0]
    low, span = time["low"], time["span"]
    steps = memoryview(base64.b64decode(time["values"])).cast("H")
    unit = small.responses[0].unit.size
    back = sorted(np.exp(low + span * step / 65534) * unit for step in steps)
    assert back == pytest.approx(sorted(small.good["time"]), rel=1e-3)


def test_findings_and_published_tables(small: StudyView) -> None:
    finding = FindingResult(
        id="first",
        words="jemalloc is <first>",
        source="page 1",
        verdict=Answer.FAILS,
        published="1st",
        ours="3rd",
        why="it is last",
        figures=(
            Figure(what="ratio", value=1.5, low=1.4, high=1.6, above=2, verdict=Answer.FAILS),
        ),
    )
    rows = (
        PublishedRow(
            keys={"allocator": "glibc"},
            published={"mean": 12.5, "groups": "1"},
            ours={"mean": 13.25, "groups": "a"},
            low=13,
            high=13.5,
        ),
        PublishedRow(keys={"allocator": "miser"}, published={"mean": 2.5}, because="not run"),
    )
    tables = (
        PublishedTable(
            title="Instrument",
            kind="means",
            response="time",
            unit="ms",
            keys=("allocator",),
            columns=("mean", "groups"),
            rows=rows,
            agreement=Agreement(tau=0.5, rows=2),
        ),
    )
    analysis = small.analysis.model_copy(update={"findings": (finding,), "published": tables})
    shown = plain(page(StudyView(**{**_parts(small), "analysis": analysis})))
    assert "Of 1 finding: 1 does not hold." in shown
    assert '<span class="bad">does not hold</span>' in shown
    assert "jemalloc is &lt;first&gt;" in shown
    assert "1.5 (1.4 to 1.6)" in shown
    assert "<td>12.5</td><td>1</td><td>13.25 (13 to 13.5)</td><td>a</td>" in shown
    assert "<td>not run</td>" in shown
    assert "0.50 over 2 rows" in shown


def test_whether_one_level_is_worth_it(small: StudyView, browsing: ModuleType) -> None:
    judged = Judged(
        response="time",
        worth=Worth.COSTS,
        general=(Rival(level="le<a>", ratio=0.8, low=0.75, high=0.85, blocks=5),),
        instead=(Rival(level="reap", ratio=None, why="not <run>"),),
    )
    row = SubstitutionRow(
        level="parser<1>",
        about={"policy": "<region>", "mechanism": ""},
        overall=Overall.NOT,
        words="costs in time",
        responses=(judged,),
    )
    found = SubstitutionTable(
        factor="allocator",
        custom="own",
        by="program",
        about=("policy", "mechanism"),
        margin=0.05,
        confidence=0.95,
        rows=(row,),
    )
    analysis = small.analysis.model_copy(update={"choice": found})
    text = page(StudyView(**{**_parts(small), "analysis": analysis}))
    shown = plain(text)
    assert "choice" in browsing.Reader(text).ids
    assert "Of own, by program: not worth it: 1." in shown
    assert "Differences up to 5% do not matter." in shown
    assert (
        '<th scope="row">parser&lt;1&gt;</th><td>&lt;region&gt;</td><td>-</td>'
        "<td>le&lt;a&gt; 0.80 (0.75 to 0.85)</td><td>-</td>"
        '<td><span class="bad">costs</span></td><td><span class="bad">not worth it</span></td>'
    ) in shown
    assert "<td>not &lt;run&gt;</td>" in shown
    assert "choice" not in browsing.Reader(page(small)).ids


def test_the_bar_is_first_with_the_figures_of_every_place(
    small: StudyView, browsing: ModuleType
) -> None:
    figures = tuple(
        AcceptanceFigure(
            scope={"program": place}, rival=rival, ratio=ratio, low=1, high=2, blocks=4
        )
        for place, rival, ratio in (("p<1>", "a", 1.5), ("p<1>", "b", 1.25), ("q", "b", 1.125))
    )
    line = AcceptanceResult(
        words="<nowhere> slow",
        response="time",
        asked="at most 1.10",
        verdict=Met.NOT,
        ratio=1.5,
        low=1,
        high=2,
        rival="a",
        scope={"program": "p<1>"},
        figures=figures,
        why="no figures of b at r",
    )
    found = AcceptanceTable(
        factor="allocator",
        level="own",
        rivals=("a", "b"),
        confidence=0.9,
        verdict=Met.NOT,
        lines=(line,),
    )
    analysis = small.analysis.model_copy(update={"bar": found})
    text = page(StudyView(**{**_parts(small), "analysis": analysis}))
    shown = plain(text)
    assert "bar" in browsing.Reader(text).ids
    assert "own: 0 of 1 lines of the bar are met." in shown
    assert "1.500 (1.000 to 2.000)</td><td>a at p&lt;1&gt;</td>" in shown
    assert '<td><span class="bad">not met</span></td>' in shown
    assert "b at q" in shown
    assert "b at p&lt;1&gt;" not in shown
    assert "no figures of b at r." in shown
    assert "bar" not in browsing.Reader(page(small)).ids


def _parts(view: StudyView) -> dict[str, object]:
    names = ("analysis", "design", "frame", "hosts", "study_text", "folders", "runs", "notes")
    return {name: getattr(view, name) for name in names}


def test_a_study_without_allocators_has_a_page(browsing: ModuleType) -> None:
    view = made_page.view_of({"threads": ("1", "2"), "size": ("a", "b")}, 3)
    text = page(view)
    found = browsing.Reader(text)
    assert "rankings" not in found.ids
    assert "runs" in found.ids
    for name, spec in browsing.specs_in(text).items():
        assert browsing.marks_of(spec) >= 1, name


def test_a_study_of_allocators_alone_has_a_page(browsing: ModuleType) -> None:
    view = made_page.view_of({"allocator": ("glibc", "jemalloc")}, 3)
    text = page(view)
    assert "time/ranking" in browsing.Reader(text).charts
    assert "interactions" not in browsing.Reader(text).ids


def test_a_factor_may_be_called_as_our_own_columns_are(browsing: ModuleType) -> None:
    view = made_page.view_of(
        {"value": ("1", "2"), "mean": ("a", "b"), "allocator": ("glibc", "jemalloc")}, 3
    )
    for name, spec in browsing.specs_in(page(view)).items():
        assert browsing.marks_of(spec) >= 1, name
    rows = rows_of(papers_of(view)["time/value-mean-allocator"])[0]
    assert {row["value (factor)"] for row in rows} == {"1", "2"}
    assert {row["mean (factor)"] for row in rows} == {"a", "b"}
    assert all(row["mean"] > 0 for row in rows)


def test_without_a_good_run_there_is_still_a_page(small: StudyView, browsing: ModuleType) -> None:
    bad = small.frame.with_columns(outcome=pl.lit("crashed"))
    analysis = small.analysis.model_copy(
        update={"responses": (), "pareto": (), "agreements": (), "outcomes": {"crashed": 90}}
    )
    text = page(StudyView(**{**_parts(small), "frame": bad, "analysis": analysis, "runs": {}}))
    assert browsing.Reader(text).charts == []
    assert "90 crashed." in plain(text)
    none = analysis.model_copy(update={"outcomes": {}, "failures": ()})
    text = page(StudyView(**{**_parts(small), "frame": bad[:0], "analysis": none, "runs": {}}))
    assert "There are no runs." in plain(text)


def test_a_figure_in_a_file_is_whole(small: StudyView, browsing: ModuleType) -> None:
    papers = papers_of(small)
    facet = papers["time/threads-allocations-allocator"]
    assert len(facet["datasets"]["rows"]) == 18
    assert browsing.marks_of(facet) >= 3 * 2 * 7


@pytest.mark.programs
@pytest.mark.parametrize(("width", "dark"), [(390, True), (1280, False)])
def test_a_browser_draws_all_of_it(
    text: str, browsing: ModuleType, tmp_path: Path, width: int, dark: bool
) -> None:
    seen = browsing.look(text, tmp_path, width, dark=dark, highest=HIGHEST)
    assert (seen.undrawn, seen.unnamed) == (0, 0)
    assert seen.overflow <= 0, "nothing makes the page scroll sideways"
    assert set(seen.charts) == set(browsing.specs_in(text))
    assert {name for name, box in seen.charts.items() if seen.ink(box) < 60} == set()
    assert seen.painted == [12], "the strips of one combination: 5, 2 and 5 runs"
    assert seen.ink(seen.canvases[0]) > 100
    assert seen.focusable > 30


@pytest.mark.programs
def test_paper_is_white_and_as_wide_as_it_is(
    text: str, browsing: ModuleType, tmp_path: Path
) -> None:
    """The rules for print, applied to a dark screen as wide as a sheet."""
    seen = browsing.look(
        text.replace("@media print", "@media all"), tmp_path, 720, dark=True, highest=HIGHEST
    )
    assert seen.overflow <= 0
    assert {name for name, box in seen.charts.items() if seen.ink(box) < 60} == set()
    image = pytest.importorskip("PIL.Image")
    with image.open(seen.picture) as picture:
        shades = picture.convert("L").crop((0, 0, 720, 2000)).getcolors()
    assert max(shades)[1] == 255, "most of it is white"
    assert min(shade for _, shade in shades) < 60, "and what is written is dark"


@pytest.mark.slow
def test_the_largest_study_stays_below_5_megabytes(browsing: ModuleType, tmp_path: Path) -> None:
    """648 combinations under six allocators, 28 blocks: 108,864 runs of two responses."""
    view = made_page.view_of(made_page.LARGE, 28)
    text = page(view)
    assert view.good.height == 108_864
    assert len(text.encode()) < 5_000_000
    assert "Every run that ended well is on this page." in text
    assert "Of 648 combinations of the other factors 6 are drawn" in text
    assert "600 of 3,240 are drawn" in text
    seen = browsing.look(text, tmp_path, 1280, highest=HIGHEST)
    assert (seen.undrawn, seen.overflow) == (0, 0)
    assert seen.painted == [6 * 28]


def test_a_figure_in_a_file_says_what_its_colours_mean(small: StudyView) -> None:
    papers = papers_of(small)
    for name in ("time/by-factor/threads", "time-memory", "time/ratios", "memory/over-time-1"):
        drawn = vl_convert.vegalite_to_svg({**papers[name], "width": 400})
        assert "role-legend" in drawn, name
