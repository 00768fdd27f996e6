# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Instrument and groups: what is averaged, what is left out, and how often the intervals hold."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from heapwright.analysis.factorial.means import mean_table, pairs
from heapwright.analysis.factorial.model import Model, model
from heapwright.analysis.factorial.observed import Factor, observe

from .made import Study

Modelled = Callable[[Study], Model]


def test_means_of_a_complete_design_are_geometric(modelled: Modelled) -> None:
    study = Study({"a": 3, "b": 2}, blocks=4)
    table = mean_table(modelled(study), (0, 1), 0.95)
    assert table.factors == ("a", "b")
    assert [row.levels for row in table.rows] == [
        (f"a{i}", f"b{j}") for i in range(3) for j in range(2)
    ]
    frame = study.frame()
    for row in table.rows:
        mine = frame.filter((pl.col("a") == row.levels[0]) & (pl.col("b") == row.levels[1]))
        assert row.mean == pytest.approx(float(np.exp(mine["y"].log().to_numpy().mean())))
        assert (row.runs, row.treatments) == (4, 1)


def test_each_treatment_counts_alike_whatever_its_runs(modelled: Modelled) -> None:
    """a0b1 has lost all runs but one, and is far from a0b0."""
    study = Study({"a": 2, "b": 2}, blocks=8, error=0.001, interaction=1.0)
    frame = study.frame().filter((pl.col("treatment") != "a0b1") | (pl.col("block") == 3))
    table = mean_table(model(observe(frame, study.named(), "y")), (0,), 0.95)
    whole = mean_table(modelled(study), (0,), 0.95)
    assert table.rows[0].mean == pytest.approx(whole.rows[0].mean, rel=0.01)


def test_rows_are_over_the_same_combinations(modelled: Modelled) -> None:
    study = Study({"a": 2, "b": 3}, 5, left_out=lambda levels: levels == (1, 2))
    this = modelled(study)
    table = mean_table(this, (0,), 0.95)
    assert [row.treatments for row in table.rows] == [2, 2]
    assert "over the 2 combinations" in table.note
    assert mean_table(this, (0, 1), 0.95).note == ""
    assert len(mean_table(this, (0, 1), 0.95).rows) == 5


def test_rows_that_share_nothing_are_not_compared(modelled: Modelled) -> None:
    this = modelled(Study({"a": 2, "b": 2}, 5, left_out=lambda levels: levels[0] != levels[1]))
    table = mean_table(this, (0,), 0.95)
    assert "cannot be compared" in table.note
    assert [row.group for row in table.rows] == ["", ""]
    assert table.rows[0].low is not None
    assert pairs(this, 0, 0.95) == ()


def test_groups_have_the_lowest_first(modelled: Modelled) -> None:
    table = mean_table(modelled(Study({"a": 5, "b": 2}, 10, error=0.01)), (0,), 0.95)
    by_mean = sorted(table.rows, key=lambda row: row.mean)
    assert by_mean[0].group == "a"
    assert [row.group for row in by_mean] == sorted(row.group for row in by_mean)


def test_a_factor_of_very_many_levels_is_not_compared_pair_by_pair(modelled: Modelled) -> None:
    this = modelled(Study({"a": 120}, blocks=3))
    assert pairs(this, 0, 0.95) == ()
    assert {row.group for row in mean_table(this, (0,), 0.95).rows} == {""}


def test_without_scatter_every_difference_is_one() -> None:
    study = Study({"a": 3, "b": 2}, blocks=3)
    frame = study.frame().with_columns(y=1.0 + pl.col("a").str.slice(1).cast(pl.Float64) // 2)
    this = model(observe(frame, study.named(), "y"))
    rows = mean_table(this, (0,), 0.95).rows
    assert [row.group for row in rows] == ["a", "a", "b"]
    assert (rows[0].low, rows[0].high) == (rows[0].mean, rows[0].mean)
    assert [pair.p for pair in pairs(this, 0, 0.95)] == [1.0, 0.0, 0.0]


def test_one_block_has_means_and_nothing_else(modelled: Modelled) -> None:
    this = model(modelled(Study({"a": 2, "b": 2}, blocks=1)).observed)
    assert this.variance is None
    row = mean_table(this, (0,), 0.95).rows[0]
    assert (row.low, row.high, row.group) == (None, None, "")
    assert pairs(this, 0, 0.95) == ()


@pytest.mark.parametrize("blocks", [4, 20])
def test_intervals_hold_as_often_as_they_say(blocks: int) -> None:
    """With few blocks by the scatter of all runs, with more by that of a mean's own."""
    draws = np.random.default_rng(blocks)
    factors = (Factor("a", ("a0", "a1", "a2")),)
    held = 0
    for _ in range(200):
        shifts = draws.normal(0, 1, blocks)
        values = shifts[:, None] + draws.normal(0, 1, (blocks, 3))
        rows = [
            {"a": f"a{k}", "treatment": f"a{k}", "block": b, "y": float(values[b, k])}
            for b in range(blocks)
            for k in range(3)
        ]
        frame = pl.DataFrame(rows).with_columns(outcome=pl.lit("ok"), warmup=pl.lit(value=False))
        row = mean_table(model(observe(frame, factors, "y", "linear")), (0,), 0.9).rows[1]
        assert row.low is not None
        assert row.high is not None
        held += row.low <= shifts.mean() <= row.high
    assert 200 * 0.84 <= held <= 200 * 0.96
