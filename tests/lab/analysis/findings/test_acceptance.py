# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a bar asks, and what runs whose effects are known come to."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from heapwright.analysis.findings.acceptance import hold
from heapwright.analysis.findings.answer import good_runs
from heapwright.analysis.findings.rules import Question
from heapwright.artefacts.study.acceptance import AcceptanceResult, AcceptanceTable, Met
from heapwright.artefacts.study_results.runs import Cell, Dropped, Measured, StudyDesign

from .made import design, frame, study

LEVELS = {"allocator": ("ours", "a", "b"), "program": ("p", "q"), "threads": ("1", "4")}
OVERALL = {"words": "faster", "response": "time", "at_most": 0.97}
EACH = {"words": "nowhere slow", "response": "time", "at_most": 1.1, "each": ["program"]}


def table(seconds: Mapping[str, Sequence[float]], **more: Any) -> pl.DataFrame:
    """By allocator: its seconds in p and in q."""

    def of(names: Mapping[str, str]) -> float:
        return seconds[names["allocator"]]["pq".index(names["program"])]

    return frame(of, **({"levels": LEVELS, "noise": 0.003} | more))


def held(
    runs: pl.DataFrame,
    *lines: Mapping[str, Any],
    made: StudyDesign | None = None,
    better: str = "lower",
    **bar: Any,
) -> AcceptanceTable:
    asked = study(
        factors={name: {"levels": list(levels)} for name, levels in LEVELS.items()},
        responses={"time": {"from": "wall", "better": better}},
        bar={"level": "ours", "line": list(lines)} | bar,
    )
    made = made or design(LEVELS)
    made = made.model_copy(update={"responses": (Measured(name="time", unit="s", better=better),)})
    found = hold(asked, Question(good_runs(runs, made), made, 0.02), runs)
    assert found is not None
    return found


def only(found: AcceptanceTable) -> AcceptanceResult:
    (line,) = found.lines
    assert found.verdict is line.verdict
    return line


@pytest.mark.parametrize(
    ("ours", "verdict"), [(0.90, Met.MET), (0.97, Met.UNKNOWN), (1.00, Met.NOT)]
)
def test_the_best_rival_decides(ours: float, verdict: Met) -> None:
    found = held(table({"ours": (ours, 2 * ours), "a": (1.3, 2.6), "b": (1.0, 2.0)}), OVERALL)
    line = only(found)
    assert line.verdict is verdict, line
    assert (line.rival, line.scope, line.asked) == ("b", {}, "at most 0.97")
    assert line.ratio == pytest.approx(ours, rel=0.005)
    assert [each.rival for each in line.figures] == ["b", "a"]
    assert line.figures[1].ratio == pytest.approx(ours / 1.3, rel=0.005)
    assert found.rivals == ("a", "b")
    assert line.why == ""


def test_the_ends_of_the_interval_are_those_of_its_definition() -> None:
    """Two rivals: the upper end has the chance a/2 for each alone, the lower one a/4."""
    runs = table({"ours": (1.0, 1.0), "a": (1.1, 1.1), "b": (1.1, 1.1)}, blocks=5, noise=0.05)
    line = only(held(runs, OVERALL))
    ends = []
    for rival in ("a", "b"):
        wide = runs.with_columns(pl.col("time").log()).pivot(
            "allocator", index=["block", "program", "threads"], values="time"
        )
        blocks = wide.group_by("block").agg((pl.col("ours") - pl.col(rival)).mean().alias("log"))
        values = blocks["log"].to_numpy()
        error = float(np.std(values, ddof=1)) / math.sqrt(5)
        low, high = (float(stats.t.ppf(chance, 4)) for chance in (1 - 0.05 / 4, 1 - 0.05 / 2))
        middle = float(np.mean(values))
        ends.append((math.exp(middle - low * error), math.exp(middle + high * error)))
    assert line.low == pytest.approx(max(low for low, _ in ends), rel=1e-9)
    assert line.high == pytest.approx(max(high for _, high in ends), rel=1e-9)


def test_at_each_place_the_best_rival_there_decides() -> None:
    runs = table({"ours": (1.0, 1.2), "a": (0.95, 2.0), "b": (2.0, 1.0)})
    line = only(held(runs, EACH))
    assert (line.verdict, line.rival, line.scope) == (Met.NOT, "b", {"program": "q"})
    assert line.ratio == pytest.approx(1.2, rel=0.005)
    assert [(each.rival, each.scope["program"]) for each in line.figures] == [
        *(("b", "q"), ("a", "p"), ("a", "q"), ("b", "p")),
    ]
    assert only(held(runs, EACH | {"at_most": 1.25})).verdict is Met.MET
    for places in ({"where": {"program": "p"}}, {"but": {"program": "q"}}):
        line = only(held(runs, EACH | places))
        assert (line.verdict, len(line.figures)) == (Met.MET, 2)
        line = only(held(runs, OVERALL | {"at_most": 1.1} | places))
        assert (line.verdict, line.ratio) == (Met.MET, pytest.approx(1 / 0.95, rel=0.005))
    against = only(held(runs, EACH | {"against": ["a"]}))
    assert (against.verdict, against.scope) == (Met.MET, {"program": "p"})


def test_places_are_combinations_of_levels() -> None:
    runs = table({"ours": (1.0, 1.0), "a": (1.0, 1.0), "b": (1.0, 1.0)})
    line = only(held(runs, EACH | {"each": ["program", "threads"]}))
    assert {tuple(each.scope.values()) for each in line.figures} == {
        *(("p", "1"), ("p", "4"), ("q", "1"), ("q", "4")),
    }


def test_levels_count_alike_however_often_they_are_run() -> None:
    """p, where this level takes 2, was run with two numbers of threads; q, where it takes 1, with
    one.
    """
    runs = table({"ours": (2.0, 1.0), "a": (1.0, 1.0), "b": (1.0, 1.0)}, noise=0.0)
    runs = runs.filter((pl.col("program") == "p") | (pl.col("threads") == "1"))
    plain = only(held(runs, OVERALL))
    assert plain.ratio == pytest.approx(2 ** (2 / 3), rel=1e-9)
    alike = only(held(runs, OVERALL, by="program"))
    assert alike.ratio == pytest.approx(2 ** (1 / 2), rel=1e-9)


def test_of_what_should_be_high_the_smallest_ratio_is_the_worst() -> None:
    asked = {"words": "more", "response": "time", "at_least": 1.1, "each": ["program"]}
    runs = table({"ours": (2.0, 1.2), "a": (1.0, 1.0), "b": (0.5, 0.5)})
    line = only(held(runs, asked, better="higher"))
    assert (line.verdict, line.rival, line.scope) == (Met.MET, "a", {"program": "q"})
    assert line.ratio == pytest.approx(1.2, rel=0.005)
    assert line.low is not None
    assert line.high is not None
    assert line.low < line.ratio < line.high
    assert line.asked == "at least 1.10"
    line = only(held(runs, asked | {"at_least": 1.3}, better="higher"))
    assert (line.verdict, line.rival) == (Met.NOT, "a")


def test_a_level_whose_run_ends_badly_does_not_meet_its_bar() -> None:
    runs = table({"ours": (0.5, 0.5), "a": (1.0, 1.0), "b": (1.0, 1.0)})
    crashed = (pl.col("allocator") == "ours") & (pl.col("block") == 2)
    crashed = crashed & (pl.col("program") == "p") & (pl.col("threads") == "1")
    runs = runs.with_columns(
        outcome=pl.when(crashed).then(pl.lit("crashed")).otherwise(pl.col("outcome"))
    )
    line = only(held(runs, OVERALL))
    assert line.verdict is Met.NOT
    assert line.why.startswith("1 run of ours ended badly")
    assert only(held(runs, OVERALL | {"where": {"program": "q"}})).verdict is Met.MET


def test_a_rival_whose_runs_end_badly_takes_no_part_there() -> None:
    runs = table({"ours": (0.9, 0.9), "a": (1.0, 1.0), "b": (0.1, 1.0)})
    crashed = (pl.col("allocator") == "b") & (pl.col("program") == "p")
    runs = runs.with_columns(
        outcome=pl.when(crashed).then(pl.lit("crashed")).otherwise(pl.col("outcome"))
    )
    line = only(held(runs, EACH))
    assert line.verdict is Met.MET
    assert line.why == "no figures of b at p"


def test_a_rival_that_was_not_run_is_named() -> None:
    levels = LEVELS | {"allocator": ("ours", "a")}
    dropped = (Dropped(factor="allocator", level="b", because="gone"),)
    runs = table({"ours": (0.9, 0.9), "a": (1.0, 1.0)}, levels=levels)
    found = held(runs, OVERALL, made=design(levels, dropped))
    assert (found.rivals, found.verdict) == (("a",), Met.MET)
    assert only(found).why == "allocator b was not run: gone"


def test_the_bar_is_met_if_all_of_it_is() -> None:
    runs = table({"ours": (0.9, 0.9), "a": (1.0, 1.0), "b": (1.0, 1.0)})
    met, close, missed = ({**OVERALL, "at_most": most} for most in (0.95, 0.9, 0.8))
    assert held(runs, met, met).verdict is Met.MET
    assert held(runs, met, close).verdict is Met.UNKNOWN
    assert held(runs, met, close, missed).verdict is Met.NOT


def test_one_block_decides_nothing() -> None:
    line = only(held(table({"ours": (0.1, 0.1), "a": (1, 1), "b": (1, 1)}, blocks=1), OVERALL))
    assert (line.verdict, line.low, line.high) == (Met.UNKNOWN, None, None)
    assert line.ratio == pytest.approx(0.1, rel=0.05)
    assert "one block only" in line.why


def test_unmeasured_findings_cannot_be_told() -> None:
    runs = table({"ours": (1, 1), "a": (1, 1), "b": (1, 1)})
    asked = {"words": "lean", "response": "memory", "at_most": 1}
    line = only(held(runs, asked))
    assert (line.verdict, line.ratio, line.why) == (Met.UNKNOWN, None, "memory was not measured")
    found = held(runs.filter(pl.col("allocator") != "ours"), OVERALL)
    assert only(found).why == "allocator ours has no good measured run"


def test_a_place_of_the_design_without_a_run_leaves_the_line_open() -> None:
    made = design(LEVELS)
    more = Cell(id="more", levels={"allocator": "ours", "program": "r", "threads": "1"})
    made = made.model_copy(update={"treatments": (*made.treatments, more)})
    runs = table({"ours": (0.9, 0.9), "a": (1.0, 1.0), "b": (1.0, 1.0)})
    line = only(held(runs, EACH, made=made))
    assert (line.verdict, line.why) == (Met.UNKNOWN, "no figures at r")


def test_a_study_without_a_bar_has_none() -> None:
    made = design()
    question = Question(good_runs(frame(), made), made, 0.02)
    assert hold(study(), question, frame()) is None
