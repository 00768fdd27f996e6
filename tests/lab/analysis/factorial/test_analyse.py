# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The whole analysis: what it finds, what it goes on without, and what it says of that."""

import polars as pl
import pytest

from heapwright.analysis.factorial.analyse import analyse
from heapwright.analysis.factorial.observed import Factor
from heapwright.analysis.factorial.subject import Response, Subject
from heapwright.artefacts.study_analysis.document import Settings, StudyAnalysis, StudySummary

from .made import Study

STUDY = Study({"size": 3, "threads": 2, "allocator": 4}, blocks=5)
SUMMARY = StudySummary(name="made", treatments=0, blocks=0, runs=0, warmup=0, ok=0)


def subject(*responses: Response, **settings: object) -> Subject:
    factors = STUDY.named()
    return Subject(
        factors=(Factor("size", factors[0].levels, (1, 10, 100)), *factors[1:]),
        responses=responses or (Response("y", "s"),),
        allocator="allocator",
        baseline="allocator0",
        settings=Settings.model_validate({"resamples": 199, **settings}),
        treatments={
            row["treatment"]: {name: row[name] for name in STUDY.factors}
            for row in STUDY.frame().unique("treatment").iter_rows(named=True)
        },
    )


def analysed(frame: pl.DataFrame, *responses: Response, **settings: object) -> StudyAnalysis:
    found = analyse(frame, subject(*responses, **settings), SUMMARY)
    assert StudyAnalysis.from_json(found.to_json()) == found
    return found


def ending(where: pl.Expr, outcome: str = "crashed") -> pl.DataFrame:
    """STUDY with some runs ended badly."""
    return STUDY.frame().with_columns(
        outcome=pl.when(where).then(pl.lit(outcome)).otherwise("outcome"),
        y=pl.when(where).then(None).otherwise("y"),
    )


def test_a_complete_study() -> None:
    found = analysed(STUDY.frame(), interactions=(("size", "threads", "allocator"),))
    assert (found.study.runs, found.study.ok, found.study.blocks) == (120, 120, 5)
    assert found.outcomes == {"ok": 120}
    assert (found.failures, found.notes) == ((), ())
    response = found.response("y")
    assert response is not None
    assert response.overall is not None
    assert response.overall.balanced
    assert [line.term for line in response.overall.anova][-2:] == [
        "size:threads:allocator",
        "residual",
    ]
    assert len(response.overall.means) == 7
    assert [each.allocator for each in response.allocators] == [f"allocator{k}" for k in range(4)]
    assert [line.term for line in response.allocators[0].anova] == [
        "block",
        "size",
        "threads",
        "size:threads",
        "residual",
    ]
    assert len(response.cells) == 24
    assert response.cells[0].levels == {
        "size": "size0",
        "threads": "threads0",
        "allocator": "allocator0",
    }
    assert len(response.rankings) == 1 + 3 + 2 + 6
    assert [each.by for each in response.exponents] == ["size"] * 5
    assert found.verdict.best[0].allocators[0] == response.rankings[0].entries[0].allocator
    assert f"{found.verdict.best[0].allocators[0]} is best" in found.verdict.text
    assert [each.one.scope for each in found.agreements] == [
        {"size": "size0"},
        {"threads": "threads0"},
    ]


def test_the_order_of_runs_does_not_matter() -> None:
    shuffled = STUDY.frame().sample(fraction=1, shuffle=True, seed=3)
    one, other = (
        analysed(frame.drop("position")).model_copy(update={"responses": ()})
        for frame in (STUDY.frame(), shuffled)
    )
    assert one == other


def test_two_responses_have_a_front_and_an_agreement() -> None:
    frame = STUDY.frame().with_columns(speed=1 / pl.col("y"), memory=pl.col("y") * 1e6)
    found = analysed(
        frame, Response("y", "s"), Response("speed", "1/s", "higher"), Response("memory", "B")
    )
    assert [(front.x, front.y) for front in found.pareto] == [
        ("y", "speed"),
        ("y", "memory"),
        ("speed", "memory"),
    ]
    best = found.verdict.best[0].allocators[0]
    assert all(front.front == (best,) for front in found.pareto)
    between = [each for each in found.agreements if each.one.response != each.other.response]
    assert [each.tau for each in between] == [pytest.approx(1)] * 3
    assert "No allocator is best in both" not in found.verdict.text


def test_opposite_responses_have_no_best() -> None:
    frame = STUDY.frame().with_columns(memory=1 / pl.col("y"))
    found = analysed(frame, Response("y", "s"), Response("memory", "B"))
    assert found.verdict.text.endswith("No allocator is best in both y and memory.")
    assert len(found.pareto[0].front) == 4


def test_a_treatment_that_always_fails() -> None:
    where = (pl.col("size") == "size2") & (pl.col("allocator") == "allocator1")
    found = analysed(ending(where))
    assert len(found.failures) == 2
    assert {each.ok for each in found.failures} == {0}
    assert found.failures[0].outcomes == {"crashed": 5}
    assert "every measured run of 2 treatments failed" in found.notes[0]
    assert "size size2" in found.notes[0]
    response = found.responses[0]
    assert len(response.cells) == 22
    assert response.rankings[0].left_out == 2
    assert response.overall is not None
    assert response.overall.sums == "type-2"


def test_an_allocator_that_always_fails() -> None:
    found = analysed(ending(pl.col("allocator") == "allocator1", "not-interposed"))
    response = found.responses[0]
    assert [each.allocator for each in response.allocators] == [
        "allocator0",
        "allocator2",
        "allocator3",
    ]
    assert len(response.rankings[0].entries) == 3
    assert found.outcomes == {"ok": 90, "not-interposed": 30}


def test_some_runs_that_fail() -> None:
    found = analysed(
        ending((pl.col("block") == 2) & (pl.col("treatment") == "size0threads0allocator0"))
    )
    assert "the easier ones" in found.notes[0]
    response = found.responses[0]
    assert response.overall is not None
    assert not response.overall.balanced
    assert any("1 of 120 runs are missing" in note for note in response.overall.notes)
    entry = response.rankings[0].entry("allocator0")
    assert entry is not None
    assert (entry.failed, entry.runs) == (1, 29)


def test_failed_allocators_are_not_on_the_front() -> None:
    frame = ending((pl.col("block") == 2) & (pl.col("allocator") == "allocator0"))
    found = analysed(
        frame.with_columns(memory=pl.col("y") * 2), Response("y", "s"), Response("memory", "B")
    )
    assert found.pareto[0].left_out == ("allocator0",)
    assert "allocator0" not in {point.allocator for point in found.pareto[0].points}


def test_one_block() -> None:
    found = analysed(STUDY.frame().filter(pl.col("block") == 3))
    assert any("there is one block" in note for note in found.notes)
    response = found.responses[0]
    assert response.overall is not None
    assert any("serve as the error" in note for note in response.overall.notes)
    assert response.rankings[0].method == "none"
    assert any("1 of 24" in note or "one run of each" in note for note in response.overall.notes)


def test_no_scatter() -> None:
    frame = STUDY.frame().with_columns(
        y=pl.col("allocator").str.slice(9).cast(pl.Float64) + 1 + (pl.col("size") == "size2")
    )
    response = analysed(frame).responses[0]
    assert response.overall is not None
    assert response.overall.residual_sd == 0
    assert any("do not differ at all" in note for note in response.overall.notes)
    assert [entry.group for entry in response.rankings[0].entries] == ["a", "b", "c", "d"]
    assert response.rankings[0].entries[1].low == response.rankings[0].entries[1].high


def test_everything_the_same() -> None:
    response = analysed(STUDY.frame().with_columns(y=pl.lit(7.0))).responses[0]
    assert {entry.group for entry in response.rankings[0].entries} == {"a"}
    assert {entry.ratio for entry in response.rankings[0].entries} == {1.0}


def test_a_response_without_values() -> None:
    frame = STUDY.frame().with_columns(nothing=pl.lit(None, dtype=pl.Float64))
    found = analysed(frame, Response("nothing"), Response("y", "s"))
    nothing = found.responses[0]
    assert (nothing.runs, nothing.missing, nothing.overall) == (0, 120, None)
    assert nothing.notes == ("no good run has a value of nothing",)
    assert found.verdict.text.startswith("In y, ")


def test_a_response_with_zeros_is_analysed_as_it_is() -> None:
    frame = STUDY.frame().with_columns(faults=((pl.col("y") - pl.col("y").min()) * 100).floor())
    response = analysed(frame, Response("faults", scale="log")).responses[0]
    assert response.scale == "linear"
    assert "has no logarithm" in response.notes[0]
    assert {entry.ratio for entry in response.rankings[0].entries} == {None}


def test_treatments_that_were_not_run_yet() -> None:
    found = analysed(STUDY.frame().filter(pl.col("size") != "size2"))
    assert "8 treatments of 24 have no run yet" in found.notes[0]
    assert "and 5 more" in found.notes[0]


def test_no_runs_at_all() -> None:
    found = analysed(STUDY.frame().clear())
    assert found.notes == ("there are no runs",)
    assert found.study.runs == 0
    assert "No good run" in found.verdict.text


def test_warm_up_is_counted_and_not_analysed() -> None:
    frame = STUDY.frame().with_columns(warmup=pl.col("block") == 1, block=pl.col("block") - 1)
    found = analysed(frame)
    assert (found.study.warmup, found.study.ok, found.study.blocks) == (24, 96, 4)
    assert found.responses[0].runs == 96


def test_without_a_factor_of_allocators() -> None:
    usual = subject()
    found = analyse(
        STUDY.frame(),
        Subject(factors=usual.factors, responses=usual.responses, settings=usual.settings),
        SUMMARY,
    )
    response = found.responses[0]
    assert (response.rankings, response.allocators) == ((), ())
    assert response.overall is not None
    assert found.pareto == ()
    assert found.verdict.text.startswith("Nothing is ranked")
