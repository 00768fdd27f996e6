# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Fronts and agreement: their allocators, those left out, and those that cannot be compared."""

import polars as pl
import pytest

from heapwright.analysis.factorial.between import agreements, pareto_fronts
from heapwright.analysis.factorial.responses import Analysed, analyse_response
from heapwright.analysis.factorial.subject import Response, Subject
from heapwright.artefacts.study_analysis.document import Settings

from .made import Study

STUDY = Study({"size": 2, "allocator": 4}, blocks=6, error=0.001)
SETTINGS = Settings(resamples=99)
FRAME = STUDY.frame().with_columns(
    place=pl.col("allocator").str.slice(9).cast(pl.Float64) + 1,
)
TIME = Response("time", "s")
MEMORY = Response("memory", "B")
SPEED = Response("speed", "1/s", "higher")


def analysed(frame: pl.DataFrame, *responses: Response) -> list[Analysed]:
    subject = Subject(STUDY.named(), responses, "allocator", "allocator0", SETTINGS)
    return [analyse_response(frame, subject, each, {}) for each in responses]


def test_the_front_is_what_nothing_beats() -> None:
    """In memory the second is worse than the first and the third."""
    frame = FRAME.with_columns(
        time=pl.col("place"),
        memory=pl.when(pl.col("place") == 2).then(9.0).otherwise(5 - pl.col("place")),
    )
    (front,) = pareto_fronts(analysed(frame, TIME, MEMORY))
    assert front.front == ("allocator0", "allocator2", "allocator3")
    assert [point.allocator for point in front.points][-1] == "allocator1"
    assert front.points[0].x == pytest.approx(1)


def test_higher_is_turned_round() -> None:
    frame = FRAME.with_columns(time=pl.col("place"), speed=1 / pl.col("place"))
    found = analysed(frame, TIME, SPEED)
    (front,) = pareto_fronts(found)
    assert front.front == ("allocator0",)
    between = agreements(found, SETTINGS)[0]
    assert (between.one.response, between.other.response, between.tau) == ("time", "speed", 1)


def test_a_response_without_a_direction_is_not_judged() -> None:
    frame = FRAME.with_columns(time=pl.col("place"), memory=pl.col("place"))
    found = analysed(frame, TIME, Response("memory", "B", "none"))
    assert pareto_fronts(found) == ()
    assert {each.one.response for each in agreements(found, SETTINGS)} == {"time"}


def test_the_order_at_the_ends_of_a_factor() -> None:
    turned = pl.when(pl.col("size") == "size0").then(pl.col("place")).otherwise(6 - pl.col("place"))
    (ends,) = agreements(analysed(FRAME.with_columns(time=turned), TIME), SETTINGS)
    assert (ends.one.scope, ends.other.scope) == ({"size": "size0"}, {"size": "size1"})
    assert (ends.tau, ends.low, ends.high, ends.allocators) == (-1, -1, -1, 4)


def test_only_blocks_of_both_responses_count() -> None:
    frame = FRAME.with_columns(
        time=pl.col("y"),
        memory=pl.when(pl.col("block") > 4).then(None).otherwise(pl.col("y")),
    )
    between = agreements(analysed(frame, TIME, MEMORY), SETTINGS)[0]
    assert between.tau == 1
    assert between.low is None  # four blocks are too few


def test_a_response_without_runs_is_passed_over() -> None:
    frame = FRAME.with_columns(time=pl.col("place"), memory=pl.lit(None, dtype=pl.Float64))
    found = analysed(frame, TIME, MEMORY)
    assert pareto_fronts(found) == ()
    assert len(agreements(found, SETTINGS)) == 1
