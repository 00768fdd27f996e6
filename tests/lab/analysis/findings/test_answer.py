# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Findings are answered as the runs were made."""

from collections.abc import Mapping
from typing import Any

import polars as pl
import pytest

from heapwright.analysis.findings.answer import answer
from heapwright.artefacts.study_analysis.answers import Answer, FindingResult
from heapwright.artefacts.study_results.runs import Dropped

from .made import LEVELS, design, frame, seconds, study

HOLDS, FAILS, UNKNOWN = Answer.HOLDS, Answer.FAILS, Answer.UNKNOWN


def asked(test: Any, table: pl.DataFrame | None = None, **more: Any) -> FindingResult:
    made = frame() if table is None else table
    (result,) = answer(study(test), made, more.get("design", design()))
    return result


def ratio(of: str, to: str, **bounds: Any) -> dict[str, Any]:
    return {
        "kind": "ratio",
        "response": "time",
        "of": {"allocator": of},
        "to": {"allocator": to},
    } | bounds


@pytest.mark.parametrize(
    ("bounds", "verdict"),
    [
        ({"above": 1.4}, HOLDS),
        ({"above": 1.6}, FAILS),
        ({"above": 1.5}, UNKNOWN),
        ({"below": 1.6}, HOLDS),
        ({"below": 1.4}, FAILS),
        ({"above": 1.45, "below": 1.55}, HOLDS),
        ({"above": 1.1, "below": 1.3}, FAILS),
    ],
)
def test_a_ratio_is_within_its_bounds_or_not(bounds: dict[str, float], verdict: Answer) -> None:
    result = asked(ratio("slow", "quick", **bounds))
    assert result.verdict is verdict, result
    (figure,) = result.figures
    assert figure.value is not None
    assert figure.value == pytest.approx(1.5, rel=0.01)
    assert figure.low is not None
    assert figure.high is not None
    assert figure.low < figure.value < figure.high
    assert figure.blocks == 6


def test_an_open_finding_says_how_many_blocks_would_decide_it() -> None:
    """Sixteen times the blocks if the limit is a quarter of the half-width away."""
    exact = asked(ratio("slow", "quick", above=1)).figures[0]
    assert exact.value is not None
    assert exact.high is not None
    assert exact.needed is None
    limit = exact.value * (exact.high / exact.value) ** 0.25
    result = asked(ratio("slow", "quick", above=limit))
    assert result.verdict is UNKNOWN
    assert result.needed == result.figures[0].needed
    assert result.needed == pytest.approx(16 * 6, abs=1)
    assert f"about {result.needed} blocks would decide it if the figures stay" in result.why


def test_blocks_do_not_decide_what_was_not_run() -> None:
    lost = [Dropped(factor="allocator", level="slow", because="it is not here")]
    result = asked(
        ratio("slow", "quick", above=1),
        design=design(dropped=lost),
        table=frame(levels=LEVELS | {"allocator": ["quick", "even"]}),
    )
    assert result.verdict is UNKNOWN
    assert result.needed is None
    assert "blocks" not in result.why


def test_one_open_pair_is_enough_for_an_influence() -> None:
    test = {"kind": "influence", "response": "time", "factor": "allocator", "expected": True}
    result = asked(test | {"margin": 0.5, "where": {"threads": 1}})
    assert result.verdict is UNKNOWN
    (open_pair,) = [each for each in result.figures if each.verdict is UNKNOWN]
    assert result.needed == open_pair.needed is not None


def test_a_slow_block_does_not_widen_the_interval() -> None:
    calm, rough = (
        asked(ratio("slow", "quick", above=1), frame(drift=drift)).figures[0]
        for drift in (0.0, 2.0)
    )
    assert calm.low == pytest.approx(rough.low)
    assert calm.high == pytest.approx(rough.high)


def test_a_finding_says_the_figure_that_decides() -> None:
    result = asked(ratio("slow", "quick", above=1.6))
    assert "time: slow over quick 1.5" in result.why
    assert "asked for: above 1.6" in result.why
    assert "time: slow over quick 1.5" in result.ours


def test_a_rule_is_limited_to_levels() -> None:
    test = ratio("even", "quick", above=4, where={"threads": 4, "pattern": ["peak", "growing"]})
    assert asked(test).verdict is HOLDS
    assert asked(test | {"where": {"threads": [1, 2]}}).verdict is FAILS


@pytest.mark.parametrize(
    ("order", "verdict"),
    [
        ({"first": "quick"}, HOLDS),
        ({"first": "slow"}, FAILS),
        ({"last": "even"}, HOLDS),
        ({"order": ["quick", "slow", "even"]}, HOLDS),
        ({"order": ["quick", ["slow", "even"]]}, HOLDS),
        ({"order": ["slow", "quick", "even"]}, FAILS),
        ({"first": ["quick", "slow"]}, HOLDS),
    ],
)
def test_a_ranking_is_decided_by_all_its_pairs(order: dict[str, Any], verdict: Answer) -> None:
    assert asked({"kind": "ranking", "response": "time"} | order).verdict is verdict


def test_more_is_better_turns_a_ranking_around() -> None:
    made = design()
    higher = made.responses[0].model_copy(update={"better": "higher"})
    turned = made.model_copy(update={"responses": (higher,)})
    test = {"kind": "ranking", "response": "time", "last": "quick"}
    assert asked(test, design=turned).verdict is HOLDS
    assert asked(test).verdict is FAILS


def test_levels_of_any_factor_can_be_ranked() -> None:
    test = {"kind": "ranking", "response": "time", "factor": "threads", "order": [4, 2, 1]}
    assert asked(test | {"where": {"allocator": "quick"}}).verdict is HOLDS
    even = asked(test | {"where": {"allocator": "even"}})
    assert even.verdict is FAILS, "the difference is shown to be less than the margin"


@pytest.mark.parametrize(("bound", "scale"), [("above", 1.0), ("below", -1.0)])
def test_a_bound_of_one_stands_for_the_margin(bound: str, scale: float) -> None:
    def slower_by(part: float) -> FindingResult:
        def value(levels: Mapping[str, str]) -> float:
            return float((1 + part) ** scale) if levels["allocator"] == "slow" else 1.0

        return asked(ratio("slow", "quick", **{bound: 1}), frame(value, noise=0.001))

    assert slower_by(0.03).verdict is HOLDS
    assert slower_by(0.01).verdict is FAILS, "1 % is less than the margin of 2 %"
    assert "1.02" in slower_by(0.01).why or "0.98" in slower_by(0.01).why


@pytest.mark.parametrize(
    ("factor", "expected", "verdict"),
    [
        ("pattern", False, HOLDS),
        ("pattern", True, FAILS),
        ("threads", True, HOLDS),
        ("threads", False, FAILS),
    ],
)
def test_an_influence_is_more_than_the_margin(factor: str, expected: bool, verdict: Answer) -> None:
    test = {"kind": "influence", "response": "time", "factor": factor, "expected": expected}
    assert asked(test).verdict is verdict


def test_few_noisy_runs_do_not_prove_no_influence() -> None:
    test = {"kind": "influence", "response": "time", "factor": "pattern", "expected": False}
    assert asked(test, frame(noise=0.5)).verdict is UNKNOWN


def test_an_exponent_is_found() -> None:
    test = {"kind": "growth", "response": "time", "by": "threads"}
    fast = asked(test | {"where": {"allocator": "quick"}, "above": -1.1, "below": -0.9})
    assert fast.verdict is HOLDS
    assert fast.figures[0].value == pytest.approx(-1, abs=0.02)
    still = asked(test | {"where": {"allocator": "even"}, "above": -1.1, "below": -0.9})
    assert still.verdict is FAILS


def test_the_most_even_is_found() -> None:
    test = {"kind": "even", "response": "time", "along": "threads"}
    assert asked(test | {"level": "even"}).verdict is HOLDS
    assert asked(test | {"level": "slow"}).verdict is FAILS


def test_a_value_is_in_the_units_of_the_response() -> None:
    where = {"allocator": "even", "threads": 1}
    table = frame(drift=0.0)
    result = asked({"kind": "value", "response": "time", "where": where, "above": 1.1}, table)
    assert result.verdict is HOLDS
    assert result.figures[0].value == pytest.approx(1.2, rel=0.02)
    assert result.figures[0].unit == "s"


def test_all_rules_of_a_finding_must_hold() -> None:
    good, bad = ratio("slow", "quick", above=1.4), ratio("slow", "quick", above=1.6)
    open_ = ratio("slow", "quick", above=1.5)
    assert asked([good, good]).verdict is HOLDS
    assert asked([good, open_]).verdict is UNKNOWN
    assert asked([good, open_, bad]).verdict is FAILS


def test_intervals_are_wider_the_more_figures_there_are() -> None:
    alone = asked(ratio("slow", "quick", above=1)).figures[0]
    among = asked([ratio("slow", "quick", above=1)] * 5).figures[0]
    assert among.low is not None
    assert alone.low is not None
    assert among.low < alone.low


def test_a_figure_says_what_it_is_limited_to() -> None:
    where = {"allocator": ["quick", "slow"], "pattern": "peak"}
    test = {"kind": "ranking", "response": "time", "factor": "threads", "where": where, "last": 1}
    figure = asked(test).figures[0]
    assert figure.what == "time (quick or slow, pattern peak): threads 1 over threads 4"


def test_a_level_that_was_dropped_is_named() -> None:
    levels = {
        "allocator": ("quick", "slow"),
        "threads": ("1", "2", "4"),
        "pattern": ("peak", "growing"),
    }
    lost = Dropped(factor="allocator", level="even", because="it is not installed")
    result = asked(
        {"kind": "ranking", "response": "time", "order": ["quick", "even"]},
        frame(levels=levels),
        design=design(levels, [lost]),
    )
    assert result.verdict is UNKNOWN
    assert result.why == "allocator even was not run: it is not installed"


def test_the_first_place_is_undecided_while_one_level_has_no_run() -> None:
    levels = LEVELS | {"allocator": ("quick", "slow")}
    lost = Dropped(factor="allocator", level="even", because="it is not installed")
    made = design(levels, [lost])
    first = {"kind": "ranking", "response": "time", "first": "quick"}
    result = asked(first, frame(levels=levels), design=made)
    assert result.verdict is UNKNOWN
    assert result.why == "allocator even was not run: it is not installed"
    assert asked(first | {"first": "slow"}, frame(levels=levels), design=made).verdict is FAILS
    among = first | {"where": {"allocator": ["quick", "slow"]}}
    assert asked(among, frame(levels=levels), design=made).verdict is HOLDS


def test_combinations_that_one_side_never_survived_are_counted() -> None:
    dead = (pl.col("allocator") == "slow") & (pl.col("threads") == "4")
    table = frame().with_columns(outcome=pl.when(dead).then(pl.lit("crashed")).otherwise("outcome"))
    result = asked(ratio("slow", "quick", above=1.4), table)
    assert result.verdict is HOLDS
    assert "2 combinations left out: without a good run on one side" in result.why


def test_a_level_of_another_scale_is_named() -> None:
    result = asked(ratio("slow", "quick", above=1, where={"threads": 64}))
    assert result.verdict is UNKNOWN
    assert result.why == "threads 64 was not run at this scale"


def test_one_block_decides_nothing() -> None:
    result = asked(ratio("slow", "quick", above=1), frame(blocks=1))
    assert result.verdict is UNKNOWN
    assert result.figures[0].value == pytest.approx(1.5, rel=0.05)
    assert "one block" in result.why


def test_runs_that_failed_take_their_combination_with_them() -> None:
    table = frame().with_columns(
        outcome=pl.when(
            (pl.col("block") == 2)
            & (pl.col("allocator") == "slow")
            & (pl.col("threads") == "4")
            & (pl.col("pattern") == "peak")
        )
        .then(pl.lit("crashed"))
        .otherwise(pl.col("outcome"))
    )
    result = asked(ratio("slow", "quick", above=1.4), table)
    assert result.verdict is HOLDS
    assert "1 of 6 combinations left out" in result.why


def test_an_allocator_all_of_whose_runs_failed_is_named() -> None:
    failed = pl.when(pl.col("allocator") == "slow").then(pl.lit("crashed")).otherwise("outcome")
    result = asked(ratio("slow", "quick", above=1.4), frame().with_columns(outcome=failed))
    assert result.verdict is UNKNOWN
    assert result.why == "allocator slow has no good measured run"


def test_warm_up_is_left_out() -> None:
    table = frame().with_columns(
        warmup=pl.col("block") == 1,
        time=pl.when((pl.col("block") == 1) & (pl.col("allocator") == "slow"))
        .then(1000.0)
        .otherwise("time"),
    )
    result = asked(ratio("slow", "quick", below=1.6), table)
    assert result.verdict is HOLDS
    assert result.figures[0].blocks == 5


def test_a_block_that_was_broken_off_is_left_out() -> None:
    table = frame()
    cut = table.filter((pl.col("block") < 6) | (pl.col("threads") == "1"))
    result = asked(ratio("slow", "quick", above=1.4), cut)
    assert result.verdict is HOLDS
    assert result.figures[0].blocks == 5
    assert "1 of 6 blocks left out" in result.why


def test_a_host_that_is_slower_does_not_bias() -> None:
    table = frame(hosts=("here", "slow-host", "there"), drift=0.0)
    figure = asked(ratio("slow", "quick", above=1), table).figures[0]
    assert figure.value == pytest.approx(1.5, rel=0.02)
    assert figure.high is not None
    assert figure.high < 1.6


def test_figures_that_have_no_ratio_are_reported() -> None:
    table = frame().with_columns(time=pl.lit(0.0))
    result = asked(ratio("slow", "quick", above=1), table)
    assert result.verdict is UNKNOWN
    assert "no ratio" in result.why


def test_a_response_that_was_not_measured_is_named() -> None:
    made = design().model_copy(update={"responses": ()})
    result = asked(ratio("slow", "quick", above=1), design=made)
    assert result.verdict is UNKNOWN
    assert result.why == "time was not measured"


def test_every_finding_has_its_result_with_what_was_published() -> None:
    made = study(ratio("slow", "quick", above=1))
    finding = made.findings[0].model_copy(
        update={"published": "+50 %", "source": "table 1", "today": "the same"}
    )
    (result,) = answer(made.model_copy(update={"findings": (finding,)}), frame(), design())
    assert (result.id, result.words) == ("f0", "it is so")
    assert (result.published, result.source, result.today) == ("+50 %", "table 1", "the same")


def test_seconds_are_what_the_frame_was_made_of() -> None:
    assert seconds({"allocator": "slow", "threads": "2", "pattern": "peak"}) == 0.75


def test_a_hopeless_scatter_is_an_interval_all_the_same() -> None:
    table = frame(blocks=2, noise=0.0).with_columns(
        time=pl.when((pl.col("block") == 1) & (pl.col("allocator") == "slow"))
        .then(1e200)
        .otherwise("time")
    )
    result = asked(ratio("slow", "quick", above=1), table)
    assert result.verdict is UNKNOWN
    assert result.figures[0].high is not None


def test_an_influence_states_its_requirement() -> None:
    test = {"kind": "influence", "response": "time", "factor": "threads", "expected": True}
    assert "required: more than 2 % apart" in asked(test).why
