# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The analysis document: it reads back what it wrote, and its schema is the published one."""

import math
import re
from pathlib import Path

import pytest
from pydantic import ValidationError

from heapwright.artefacts.study_analysis.document import (
    Ranking,
    RankingEntry,
    ResponseAnalysis,
    Settings,
    StudyAnalysis,
    StudySummary,
    Verdict,
)
from heapwright.artefacts.study_analysis.terms import AnovaTerm, Mean, MeanTable, Section

DOCS = Path(__file__).parents[4] / "docs"
ELSEWHERE = {
    *("FindingResult", "Figure", "PublishedTable", "PublishedRow", "Agreement"),
    *("Normality", "Spread", "Order", "Diagnostics"),
}
"""What another page has, or what its description in the schema tells well enough."""


def section(allocator: str | None = None) -> Section:
    row = Mean(levels=("16", "2"), mean=1.5, low=1.0, high=2.0, runs=3, treatments=1, group="a")
    return Section(
        allocator=allocator,
        runs=6,
        treatments=2,
        blocks=3,
        balanced=True,
        sums="sequential",
        df=2,
        residual_sd=0.1,
        total_sum_sq=1.0,
        anova=(AnovaTerm(term="size:threads", kind="factors", df=1, sum_sq=0.5, mean_sq=0.5),),
        means=(MeanTable(factors=("size", "threads"), rows=(row,)),),
    )


def document() -> StudyAnalysis:
    entry = RankingEntry(
        allocator="x", place=1, mean=1.0, percent_over_best=0.0, runs=3, failed=0, group="a"
    )
    ranking = Ranking(
        scope={"size": "16"}, cells=1, blocks=3, df=2, method="none", entries=(entry,)
    )
    return StudyAnalysis(
        heapwright_version="0",
        study=StudySummary(name="s", treatments=2, blocks=3, runs=6, warmup=0, ok=6),
        settings=Settings(),
        factors=(),
        allocator_factor="allocator",
        outcomes={"ok": 6},
        verdict=Verdict(text="x is first."),
        responses=(
            ResponseAnalysis(
                name="time",
                unit="s",
                scale="log",
                runs=6,
                cells=(),
                overall=section(),
                allocators=(section("x"),),
                rankings=(ranking,),
            ),
        ),
    )


def test_every_field_is_on_the_manual_page() -> None:
    page = (DOCS / "reference" / "analysis-json.md").read_text(encoding="utf-8")
    schema = StudyAnalysis.model_json_schema(mode="serialization")
    fields = set(schema["properties"])
    for name, part in schema["$defs"].items():
        if name not in ELSEWHERE:
            fields |= part.get("properties", {}).keys()
    assert fields - set(re.findall(r"`(\w+)`", page)) == set()


def test_it_reads_back() -> None:
    written = document()
    assert StudyAnalysis.from_json(written.to_json()) == written


def test_a_figure_that_is_none_is_refused() -> None:
    found = document().responses[0].rankings[0].entries[0]
    for bad in (math.nan, math.inf):
        with pytest.raises(ValidationError):
            RankingEntry.model_validate({**found.model_dump(), "mean": bad})


def test_parts_are_found_by_name() -> None:
    response = document().response("time")
    assert response is not None
    assert response.section() == section()
    assert response.section("x") == section("x")
    assert response.section("y") is None
    ranking = response.ranking({"size": "16"})
    assert ranking is not None
    assert ranking.entry("x") == ranking.entries[0]
    assert response.ranking() is None


def test_factors_are_found_in_any_order() -> None:
    found = section()
    assert found.table("threads", "size") is found.means[0]
    assert found.means[0].row("16", "2") is found.means[0].rows[0]
    assert found.term("threads", "size") is found.anova[0]
    assert found.term("threads") is None
