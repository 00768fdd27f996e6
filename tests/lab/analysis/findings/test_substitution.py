# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether one level is worth it, as the runs were made."""

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from heapwright.analysis.findings.answer import good_runs
from heapwright.analysis.findings.rules import Question
from heapwright.analysis.findings.substitution import choose
from heapwright.artefacts.study.substitution import (
    Overall,
    SubstitutionRow,
    SubstitutionTable,
    Worth,
)
from heapwright.artefacts.study_results.runs import Dropped, Measured, StudyDesign

from .made import design, frame, study

LEVELS = {"allocator": ("own", "a", "b", "other"), "program": ("p", "q")}
CHOICE = {"custom": "own", "general": ["a", "b"], "instead": ["other"], "by": "program"}
BOTH = (Measured(name="time", unit="s"), Measured(name="memory", unit="B"))


def judged(
    times: Mapping[str, float],
    memory: Mapping[str, float] | None = None,
    *,
    choice: Mapping[str, Any] = CHOICE,
    better: str = "lower",
    noise: float = 0.005,
    **more: Any,
) -> SubstitutionTable:
    """By allocator: its time in program p, and in q a time that does not depend on it."""
    levels = more.pop("levels", LEVELS)
    without: StudyDesign = more.pop("design", design(levels))

    def of(names: Mapping[str, str], values: Mapping[str, float]) -> float:
        return values[names["allocator"]] if names["program"] == "p" else 2.0

    table = frame(lambda names: of(names, times), levels=levels, noise=noise, **more)
    responses: dict[str, Any] = {"time": {"from": "wall", "better": better}}
    if memory is not None:
        values = [of(row, memory) for row in table.iter_rows(named=True)]
        table = table.with_columns(memory=pl.Series(values))
        responses["memory"] = {"from": "peak_rss"}
    asked = study(
        factors={
            "allocator": {"levels": list(levels["allocator"])},
            "program": {"levels": [{"name": p, "kind": f"kind of {p}"} for p in "pq"]},
        },
        responses=responses,
        choice=dict(choice),
    )
    measured = tuple(
        each.model_copy(update={"better": better if each.name == "time" else "lower"})
        for each in BOTH
        if each.name in responses
    )
    made = without.model_copy(update={"responses": measured})
    found = choose(asked, Question(good_runs(table, made), made, asked.analysis.margin))
    assert found is not None
    return found


def first(found: SubstitutionTable) -> SubstitutionRow:
    assert [row.level for row in found.rows] == ["p", "q"]
    return found.rows[0]


@pytest.mark.parametrize(
    ("a", "b", "worth", "overall"),
    [
        (1.5, 1.3, Worth.PAYS, Overall.WORTH),
        (1.5, 1.0, Worth.MATCHED, Overall.NOT),
        (1.5, 0.8, Worth.COSTS, Overall.NOT),
        (1.5, 1.02, Worth.UNKNOWN, Overall.UNKNOWN),
    ],
)
def test_the_verdict_is_by_the_best_of_those_that_could_stand_in_its_place(
    a: float, b: float, worth: Worth, overall: Overall
) -> None:
    found = judged({"own": 1.0, "a": a, "b": b, "other": 1.1})
    row = first(found)
    (time,) = row.responses
    assert time.worth is worth, time
    assert row.overall is overall
    assert [each.level for each in time.general] == ["b", "a"]
    assert time.best is time.general[0]
    assert time.best.ratio == pytest.approx(b, rel=0.01)
    assert time.best.low is not None
    assert time.best.high is not None
    assert time.best.low < time.best.ratio < time.best.high
    assert time.best.blocks == 6
    assert [each.ratio for each in time.instead] == [pytest.approx(1.1, rel=0.01)]
    assert found.rows[1].overall is Overall.NOT  # nothing depends on it there


@pytest.mark.parametrize(
    ("also", "worth"),
    [
        (0.95, Worth.COSTS),  # a is better than both
        (0.8, Worth.MATCHED),  # a is as good as the same over something else
        (0.6, Worth.PAYS),  # over something else it is better than all
    ],
)
def test_the_same_over_something_else_counts(also: float, worth: Worth) -> None:
    choice = CHOICE | {"also": ["other"], "instead": []}
    row = first(judged({"own": 1.0, "a": 0.8, "b": 1.5, "other": also}, choice=choice))
    (time,) = row.responses
    assert time.worth is worth
    assert [each.level for each in time.general] == ["a", "b"]
    assert time.general[0].ratio == pytest.approx(0.8, rel=0.01)
    assert [each.ratio for each in time.also] == [pytest.approx(also, rel=0.01)]


def test_the_same_over_something_that_was_not_run_takes_no_part() -> None:
    levels = LEVELS | {"allocator": ("own", "a", "b")}
    found = judged(
        {"own": 1.0, "a": 1.5, "b": 1.3},
        choice=CHOICE | {"also": ["other"], "instead": []},
        levels=levels,
        design=design(levels, (Dropped(factor="allocator", level="other", because="gone"),)),
    )
    (time,) = first(found).responses
    assert time.worth is Worth.PAYS
    assert time.why == "allocator other was not run: gone"


def test_additional_responses_do_not_decide() -> None:
    row = first(judged({"own": 1.0, "a": 1.5, "b": 1.5, "other": 0.5}))
    assert row.overall is Overall.WORTH


def test_of_what_should_be_high_the_ratio_is_turned() -> None:
    row = first(judged({"own": 1.0, "a": 0.5, "b": 0.8, "other": 1.0}, better="higher"))
    (time,) = row.responses
    assert time.worth is Worth.PAYS
    assert time.best is not None
    assert (time.best.level, time.best.ratio) == ("b", pytest.approx(0.8, rel=0.01))
    row = first(judged({"own": 1.0, "a": 0.5, "b": 1.4, "other": 1.0}, better="higher"))
    assert row.responses[0].worth is Worth.COSTS


def test_it_is_a_trade_where_it_pays_in_one_response_and_costs_in_another() -> None:
    times = {"own": 1.0, "a": 1.5, "b": 1.3, "other": 1.0}
    row = first(judged(times, {"own": 1.0, "a": 0.5, "b": 0.7, "other": 1.0}))
    assert [each.worth for each in row.responses] == [Worth.PAYS, Worth.COSTS]
    assert row.overall is Overall.TRADE
    assert row.words == "pays in time (b 1.30); costs in memory (a 0.50)"
    row = first(judged(times, {"own": 1.0, "a": 1.0, "b": 2.0, "other": 1.0}))
    assert row.overall is Overall.WORTH


def test_an_undecided_substitution_does_not_hide_a_decided_one() -> None:
    row = first(
        judged(
            {"own": 1.0, "a": 1.5, "b": 1.3, "other": 1.0},
            {"own": 0.0, "a": 0.5, "b": 0.7, "other": 1.0},  # no ratio to nothing
        )
    )
    assert [each.worth for each in row.responses] == [Worth.PAYS, Worth.UNKNOWN]
    assert row.responses[1].why == "there are no runs to compare"
    assert row.responses[1].best is None
    assert row.overall is Overall.WORTH
    assert row.words == "pays in time (b 1.30); memory cannot be told"


def test_the_margin_is_the_choices_own_or_the_analysis() -> None:
    times = {"own": 1.0, "a": 1.08, "b": 1.1, "other": 1.0}
    assert judged(times).margin == 0.02
    assert first(judged(times)).overall is Overall.WORTH
    wide = judged(times, choice=CHOICE | {"margin": 0.2})
    assert wide.margin == 0.2
    assert first(wide).overall is Overall.NOT


def test_intervals_are_simultaneous_over_the_row() -> None:
    times = {"own": 1.0, "a": 1.5, "b": 1.3, "other": 1.1}
    memory = {"own": 1.0, "a": 1.5, "b": 1.3, "other": 1.1}
    narrow, wide = (first(judged(times, each)).responses[0].general[0] for each in (None, memory))
    assert narrow.ratio == wide.ratio
    assert narrow.low is not None
    assert wide.low is not None
    assert wide.low < narrow.low


def test_a_rival_that_was_not_run_is_named_and_takes_no_part() -> None:
    levels = LEVELS | {"allocator": ("own", "a", "other")}
    dropped = (Dropped(factor="allocator", level="b", because="it is not installed"),)
    found = judged(
        {"own": 1.0, "a": 1.5, "other": 1.0}, levels=levels, design=design(levels, dropped)
    )
    (time,) = first(found).responses
    assert time.worth is Worth.PAYS
    assert [each.level for each in time.general] == ["a", "b"]
    assert time.why == "allocator b was not run: it is not installed"


def test_with_one_block_nothing_can_be_told() -> None:
    row = first(judged({"own": 1.0, "a": 1.5, "b": 1.3, "other": 1.0}, blocks=1))
    assert row.overall is Overall.UNKNOWN
    assert row.responses[0].general[0].ratio == pytest.approx(1.3, rel=0.05)
    assert "one block" in row.responses[0].general[0].why


def test_notes_on_a_level_are_beside_its_verdict() -> None:
    found = judged(
        {"own": 1.0, "a": 1.5, "b": 1.3, "other": 1.0}, choice=CHOICE | {"about": ["kind"]}
    )
    assert [row.about for row in found.rows] == [{"kind": "kind of p"}, {"kind": "kind of q"}]


def test_a_study_that_does_not_ask_has_no_answer() -> None:
    made = design()
    asked = study()
    assert choose(asked, Question(good_runs(frame(), made), made, 0.02)) is None
