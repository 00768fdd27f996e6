# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Published tables stand beside the measured figures of the same lines."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from heapwright.analysis.findings.answer import good_runs
from heapwright.analysis.findings.published import beside
from heapwright.analysis.findings.rules import Question
from heapwright.artefacts.study.published import (
    Kind,
    Line,
    PublishedSource,
    PublishedTable,
    read_lines,
)
from heapwright.artefacts.study_analysis.document import (
    FactorInfo,
    ResponseAnalysis,
    Settings,
    StudyAnalysis,
    StudySummary,
    Verdict,
)
from heapwright.artefacts.study_analysis.terms import AnovaTerm, Mean, MeanTable, Section

from .made import LEVELS, design, frame


def analysis() -> StudyAnalysis:
    """One that holds a table of means and an analysis of variance for one allocator."""
    rows = tuple(
        Mean(levels=(level,), mean=1, low=None, high=None, runs=1, treatments=1, group=letter)
        for level, letter in (("1", "b"), ("2", "ab"), ("4", "a"))
    )
    term = AnovaTerm(
        term="threads", kind="factors", df=2, sum_sq=3.5, mean_sq=1.75, f=40, p=0.01
    ).model_copy(update={"partial_eta_sq": 0.8})
    section = Section(
        allocator="quick",
        runs=36,
        treatments=6,
        blocks=6,
        balanced=True,
        sums="sequential",
        df=25,
        residual_sd=0.01,
        total_sum_sq=5,
        anova=(term,),
        means=(MeanTable(factors=("threads",), rows=rows),),
    )
    response = ResponseAnalysis(
        name="time", unit="s", scale="log", runs=1, cells=(), allocators=(section,)
    )
    return StudyAnalysis(
        heapwright_version="0",
        study=StudySummary(name="made", treatments=18, blocks=6, runs=108, warmup=0, ok=108),
        settings=Settings(),
        factors=tuple(FactorInfo(name=name, levels=levels) for name, levels in LEVELS.items()),
        allocator_factor="allocator",
        outcomes={"ok": 108},
        verdict=Verdict(text=""),
        responses=(response,),
    )


def tables(
    kind: Kind, lines: list[Line], made: pl.DataFrame | None = None, **more: Any
) -> tuple[PublishedTable, ...]:
    source = PublishedSource.model_validate(
        {"file": "published/made.csv", "kind": kind, "title": "Made"} | more
    )
    runs = good_runs(frame(drift=0.0) if made is None else made, design())
    return beside(source, lines, Question(runs, design(), 0.02), analysis())


def mean_line(value: float, **levels: str) -> Line:
    return Line("time", levels, {"mean": value, "groups": "1"})


def test_means_are_arithmetic_and_in_the_published_unit() -> None:
    lines = [
        mean_line(990, allocator="quick", threads="1"),
        mean_line(480, allocator="quick", threads="2"),
        mean_line(260, allocator="quick", threads="4"),
    ]
    (table,) = tables("means", lines, units={"time": "ms"}, times={"time": 0.001})
    assert (table.response, table.unit, table.kind) == ("time", "ms", "means")
    assert table.keys == ("allocator", "threads")
    ours = [row.ours["mean"] for row in table.rows]
    assert ours == pytest.approx([1000, 500, 250], rel=0.02)
    assert [row.ours["groups"] for row in table.rows] == ["b", "ab", "a"]
    for row in table.rows:
        assert row.low is not None
        assert row.high is not None
        assert row.low < float(str(row.ours["mean"])) < row.high
        assert row.blocks == 6
    assert table.agreement is not None
    assert table.agreement.tau == pytest.approx(1)
    assert table.agreement.rows == 3


def test_a_factor_that_is_not_named_is_averaged_over() -> None:
    (table,) = tables("means", [mean_line(1, allocator="quick")])
    (row,) = table.rows
    assert row.ours["mean"] == pytest.approx((1 + 0.5 + 0.25) / 3, rel=0.02)
    assert row.ours["groups"] is None


def test_groups_are_compared_if_groups_were_published() -> None:
    line = Line("time", {"allocator": "quick", "threads": "1"}, {"mean": 1.0})
    (table,) = tables("means", [line])
    assert "groups" not in table.rows[0].ours
    assert table.columns == ("mean",)


def test_few_lines_have_no_agreement() -> None:
    (table,) = tables("means", [mean_line(1, allocator="quick")])
    assert table.agreement is None


def test_a_line_that_was_not_run_says_why() -> None:
    lines = [
        mean_line(1, allocator="quick", threads="64"),
        mean_line(1, allocator="lost"),
        mean_line(1, colour="red"),
        Line("memory", {}, {"mean": 1.0}),
    ]
    first, second = tables("means", lines)
    assert [row.because for row in first.rows] == [
        "threads 64 was not run at this scale",
        "allocator lost was not run at this scale",
        "colour is not varied here",
    ]
    assert second.rows[0].because == "memory was not measured"
    assert not any(row.ours for row in (*first.rows, *second.rows))


def test_the_analysis_of_variance_is_that_of_our_analysis() -> None:
    lines = [
        Line("time", {"allocator": "quick", "term": "threads"}, {"F": 9204.6, "p": 0.0}),
        Line("time", {"allocator": "quick", "term": "pattern"}, {"F": 2, "p": 0.13}),
    ]
    (table,) = tables("anova", lines)
    assert table.rows[0].ours == {
        "F": 40,
        "p": 0.01,
        "sum_sq": 3.5,
        "df": 2,
        "partial_eta_sq": 0.8,
    }
    assert table.rows[1].ours == {}
    assert table.rows[1].because == "there is no such term here"
    assert "partial_eta_sq" in table.columns


def test_a_ranking_has_percentages_over_our_own_best() -> None:
    lines = [
        Line("time", {"allocator": "slow"}, {"percent": 0.0}),
        Line("time", {"allocator": "quick"}, {"percent": 33.0}),
        Line("time", {"allocator": "even"}, {"percent": 90.0}),
        Line("time", {"pattern": "peak", "allocator": "quick"}, {"percent": 0.0}),
        Line("time", {"pattern": "peak", "allocator": "lost"}, {"percent": 5.0}),
    ]
    overall, peak = tables("ranking", lines)
    percents = [row.ours["percent"] for row in overall.rows]
    assert percents == pytest.approx([50, 0, 1.2 / (1.75 / 3) * 100 - 100], rel=0.05)
    assert overall.agreement is not None
    assert overall.agreement.tau == pytest.approx(1 / 3)
    assert peak.title == "Made, pattern peak"
    assert peak.rows[0].ours["percent"] == 0
    assert peak.rows[1].because == "allocator lost was not run at this scale"


def test_failing_hard_cases_does_not_improve_a_rank() -> None:
    """slow crashes with one thread, where all take longest."""
    dead = (pl.col("allocator") == "slow") & (pl.col("threads") == "1")
    outcome = pl.when(dead).then(pl.lit("crashed")).otherwise("outcome")
    made = frame(drift=0.0).with_columns(outcome=outcome)
    lines = [
        Line("time", {"allocator": "slow"}, {"percent": 0.0}),
        Line("time", {"allocator": "quick"}, {"percent": 33.0}),
    ]
    (table,) = tables("ranking", lines, made)
    assert [row.ours["percent"] for row in table.rows] == pytest.approx([50, 0], rel=0.05)
    assert "2 combinations left out" in table.rows[0].because
    (means,) = tables("means", [mean_line(1, allocator="slow")], made)
    assert "2 of 6 treatments have no good run" in means.rows[0].because


def test_a_ranking_can_be_of_geometric_means() -> None:
    lines = [Line("time", {"allocator": name}, {"percent": 0.0}) for name in ("quick", "even")]
    (table,) = tables("ranking", lines, average="geometric")
    expected = 100 * (1.2 / 8 ** (-1 / 3) - 1)
    assert table.rows[1].ours["percent"] == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("allocator,mean\nx,1\n", "means", ":1: a table of means has a column 'response'"),
        ("response,allocator\nt,x\n", "ranking", ":1: a table of ranking has a column 'percent'"),
        ("response,mean\ntime,1\ntime,much\n", "means", ":3:"),
        ("response,mean\ntime,nan\n", "means", ":2: mean is no number"),
        ("response,mean\ntime\n", "means", ":2: there are not as many fields as columns"),
        ("response,mean\ntime,1,2\n", "means", ":2: there are not as many fields as columns"),
        ("response,mean\n,1\n", "means", ":2: a line has a response and a mean"),
    ],
)
def test_a_table_that_is_none_is_refused_with_its_line(
    tmp_path: Path, text: str, kind: Kind, said: str
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(Exception, match=r"bad\.csv") as caught:
        read_lines(path, kind)
    assert said in str(caught.value)


def test_empty_fields_are_no_keys(tmp_path: Path) -> None:
    path = tmp_path / "good.csv"
    path.write_text("response,allocator,threads,mean,groups\ntime,quick,,1.5,1 2\ntime,,4,2,\n")
    first, second = read_lines(path, "means")
    assert first == Line("time", {"allocator": "quick"}, {"mean": 1.5, "groups": "1 2"})
    assert second == Line("time", {"threads": "4"}, {"mean": 2.0})
