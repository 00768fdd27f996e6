# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which programs depend on the level of a factor, as the runs were made."""

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from heapwright.analysis.findings.answer import good_runs
from heapwright.analysis.findings.rules import Question
from heapwright.analysis.findings.sensitivity import cares
from heapwright.artefacts.study.sensitivity import (
    SensitivityRow,
    SensitivityTable,
    SensitivityVerdict,
)
from heapwright.artefacts.study_results.runs import Measured

from .made import design, frame, study

LEVELS = {"allocator": ("base", "a", "b"), "program": ("p", "q")}
CARE = {"by": "program", "margin": 0.05}
MEASURED = (Measured(name="time", unit="s"), Measured(name="tail", unit="ms"))


def judged(
    times: Mapping[str, float],
    *,
    tails: Mapping[str, float] | None = None,
    care: Mapping[str, Any] = CARE,
    levels: Mapping[str, tuple[str, ...]] = LEVELS,
    lost: pl.Expr | None = None,
    **more: Any,
) -> SensitivityTable:
    """Program p needs these times; in q nothing depends on the allocator. Only p has a tail."""
    more.setdefault("noise", 0.005)

    def of(names: Mapping[str, str], values: Mapping[str, float]) -> float:
        return values[names["allocator"]] if names["program"] == "p" else 2.0

    table = frame(lambda names: of(names, times), levels=levels, **more)
    responses: dict[str, Any] = {"time": {"from": "wall"}}
    if tails is not None:
        # The run's own scatter is in it. The tail of a run is a multiple of its time.
        tail = [
            row["time"] / times[row["allocator"]] * tails[row["allocator"]]
            if row["program"] == "p"
            else None
            for row in table.iter_rows(named=True)
        ]
        table = table.with_columns(tail=pl.Series(tail, dtype=pl.Float64))
        responses["tail"] = {"from": "cpu"}
    if lost is not None:
        table = table.filter(~lost)
    asked = study(
        factors={
            name: {"levels": list(names), "baseline": names[0]} for name, names in levels.items()
        },
        responses=responses,
        care=dict(care),
    )
    made = design(levels).model_copy(
        update={"responses": tuple(each for each in MEASURED if each.name in responses)}
    )
    found = cares(asked, Question(good_runs(table, made), made, asked.analysis.margin))
    assert found is not None
    return found


def rows(found: SensitivityTable) -> tuple[SensitivityRow, SensitivityRow]:
    one, other = found.rows
    assert (one.level, other.level) == ("p", "q")
    return one, other


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        (0.8, 1.0, SensitivityVerdict.YES),  # one that is better is enough
        (1.0, 1.3, SensitivityVerdict.YES),  # and so is one that is worse
        (1.0, 1.01, SensitivityVerdict.NO),
        (1.0, 1.05, SensitivityVerdict.UNKNOWN),  # on the margin
    ],
)
def test_one_level_beyond_the_margin_is_enough(
    a: float, b: float, verdict: SensitivityVerdict
) -> None:
    found = judged({"base": 1.0, "a": a, "b": b})
    one, other = rows(found)
    assert one.cares is verdict, one
    assert other.cares is SensitivityVerdict.NO, other
    (time,) = one.responses
    assert {each.level: each.ratio for each in time.shifts} == {
        "a": pytest.approx(a, rel=0.02),
        "b": pytest.approx(b, rel=0.02),
    }
    assert [each.level for each in time.shifts] == (["a", "b"] if a <= b else ["b", "a"])
    for each in time.shifts:
        assert each.low is not None
        assert each.high is not None
        assert each.low < each.ratio < each.high
        assert each.runs == 6
    assert one.words.startswith(verdict.value)


def test_a_response_that_a_program_does_not_have_is_not_asked_of_it() -> None:
    found = judged({"base": 1.0, "a": 1.0, "b": 1.0}, tails={"base": 1.0, "a": 0.5, "b": 1.0})
    one, other = rows(found)
    assert one.cares is SensitivityVerdict.YES
    assert [(each.response, each.cares) for each in one.responses] == [
        ("time", SensitivityVerdict.NO),
        ("tail", SensitivityVerdict.YES),
    ]
    assert "tail from 0.50 (a)" in one.words
    assert "time does not differ" in one.words
    assert [each.response for each in other.responses] == ["time"]
    assert other.cares is SensitivityVerdict.NO


def test_responses_beside_are_shown_but_do_not_decide() -> None:
    one, _ = rows(
        judged(
            {"base": 1.0, "a": 1.0, "b": 1.0},
            tails={"base": 1.0, "a": 0.5, "b": 1.0},
            care=CARE | {"beside": ["tail"]},
        )
    )
    assert one.cares is SensitivityVerdict.NO
    assert [(each.response, each.cares) for each in one.responses] == [
        ("time", SensitivityVerdict.NO),
        ("tail", SensitivityVerdict.YES),
    ]
    assert "tail" not in one.words


def test_a_level_without_good_runs_is_named_and_the_others_are_judged() -> None:
    gone = (pl.col("allocator") == "b") & (pl.col("program") == "p")
    one, other = rows(judged({"base": 1.0, "a": 0.7, "b": 1.0}, lost=gone))
    (time,) = one.responses
    assert (one.cares, [each.level for each in time.shifts]) == (SensitivityVerdict.YES, ["a"])
    assert time.why.endswith(": b")
    assert [len(each.shifts) for each in other.responses] == [2]


def test_without_the_baseline_nothing_can_be_told() -> None:
    one, _ = rows(judged({"base": 1.0, "a": 0.5, "b": 1.0}, lost=pl.col("allocator") == "base"))
    assert (one.cares, one.responses) == (SensitivityVerdict.UNKNOWN, ())
    assert "base has no good run" in one.words
    gone = (pl.col("allocator") == "base") & (pl.col("program") == "p")
    one, other = rows(judged({"base": 1.0, "a": 0.5, "b": 1.0}, lost=gone))
    assert (one.cares, other.cares) == (SensitivityVerdict.UNKNOWN, SensitivityVerdict.NO)


def test_one_block_decides_nothing() -> None:
    one, other = rows(judged({"base": 1.0, "a": 0.5, "b": 1.0}, blocks=1))
    assert (one.cares, other.cares) == (SensitivityVerdict.UNKNOWN, SensitivityVerdict.UNKNOWN)
    (time,) = one.responses
    assert {(each.low, each.high) for each in time.shifts} == {(None, None)}


def test_other_factors_are_matched_and_not_mixed() -> None:
    """Four threads take a quarter of the time: that is no scatter of the allocators."""
    levels = LEVELS | {"threads": ("1", "4")}

    def value(names: Mapping[str, str]) -> float:
        return (1.3 if names["allocator"] == "a" else 1.0) / float(names["threads"])

    table = frame(value, levels=levels, noise=0.005)
    asked = study(
        factors={
            name: {"levels": list(names), "baseline": names[0]} for name, names in levels.items()
        },
        care=CARE,
    )
    made = design(levels)
    found = cares(asked, Question(good_runs(table, made), made, asked.analysis.margin))
    assert found is not None
    (time,) = found.rows[0].responses
    assert [(each.level, each.runs) for each in time.shifts] == [("b", 12), ("a", 12)]
    assert time.shifts[1].ratio == pytest.approx(1.3, rel=0.01)
    assert time.shifts[1].low is not None
    assert time.shifts[1].low > 1.28


def test_of_what_should_be_high_the_best_is_the_highest() -> None:
    table = frame(
        lambda names: {"base": 1.0, "a": 0.8, "b": 1.2}[names["allocator"]], levels=LEVELS
    )
    asked = study(
        factors={
            name: {"levels": list(names), "baseline": names[0]} for name, names in LEVELS.items()
        },
        responses={"time": {"from": "wall", "better": "higher"}},
        care=CARE,
    )
    made = design(LEVELS).model_copy(
        update={"responses": (Measured(name="time", better="higher"),)}
    )
    found = cares(asked, Question(good_runs(table, made), made, asked.analysis.margin))
    assert found is not None
    assert [each.level for each in found.rows[0].responses[0].shifts] == ["b", "a"]


def test_a_study_that_does_not_ask_has_no_answer() -> None:
    table, made = frame(), design()
    asked = study()
    assert cares(asked, Question(good_runs(table, made), made, 0.02)) is None
