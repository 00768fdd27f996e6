# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The box of blocks, combinations and levels: what is filled in, and what is left out."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from heapwright.analysis.factorial.grid import Grid, grid, table, within
from heapwright.analysis.factorial.model import Model, model
from heapwright.analysis.factorial.observed import observe

from .made import Study

Modelled = Callable[[Study], Model]
STUDY = Study({"size": 3, "threads": 2, "allocator": 4}, blocks=5)


def boxed(frame: pl.DataFrame) -> Grid:
    found = grid(model(observe(frame, STUDY.named(), "y")), 2)
    assert found is not None
    return found


def test_a_complete_study_is_a_box() -> None:
    box = boxed(STUDY.frame())
    assert box.values.shape == (5, 6, 4)
    assert box.seen.all()
    assert (box.runs == 5).all()
    averaged = table(box, np.arange(6))
    assert averaged is not None
    frame = STUDY.frame().with_columns(pl.col("y").log())
    expected = (
        frame.group_by("block", "allocator").agg(pl.col("y").mean()).sort("block", "allocator")
    )
    plain = expected["y"].to_numpy().reshape(5, 4)
    np.testing.assert_allclose(averaged.values.mean(axis=0), plain.mean(axis=0))
    np.testing.assert_allclose(
        averaged.values - averaged.values.mean(axis=1, keepdims=True),
        plain - plain.mean(axis=1, keepdims=True),
        atol=1e-12,
    )
    assert (averaged.left_out, averaged.filled, len(averaged.absent)) == (0, 0, 0)


def test_a_scope_is_some_of_the_combinations() -> None:
    box = boxed(STUDY.frame())
    assert len(within(box, [(0, 1)])) == 2
    assert len(within(box, [(0, 1), (1, 0)])) == 1
    assert len(within(box, [])) == 6


def test_a_missing_run_moves_no_mean_of_its_treatment() -> None:
    gone = (pl.col("treatment") == "size0threads0allocator0") & (pl.col("block") == 2)
    box = boxed(STUDY.frame().filter(~gone))
    assert not box.seen[1, 0, 0]
    assert np.isfinite(box.values).all()
    averaged = table(box, np.arange(1))
    assert averaged is not None
    assert averaged.filled == 1
    # Yates: what is filled in leaves no residual of the additive model
    residuals = averaged.values - averaged.values.mean(axis=0)
    assert np.isfinite(residuals).all()


def test_a_treatment_without_runs_leaves_its_combination_out() -> None:
    box = boxed(STUDY.frame().filter(pl.col("treatment") != "size0threads0allocator0"))
    averaged = table(box, np.arange(6))
    assert averaged is not None
    assert averaged.left_out == 1
    assert 0 not in averaged.combos
    assert len(averaged.levels) == 4


def test_a_level_without_most_of_the_combinations_is_absent() -> None:
    mostly = (pl.col("allocator") == "allocator3") & (pl.col("size") != "size0")
    averaged = table(boxed(STUDY.frame().filter(~mostly)), np.arange(6))
    assert averaged is not None
    assert averaged.absent.tolist() == [3]
    assert averaged.left_out == 0


def test_a_block_that_hardly_began_is_not_used() -> None:
    begun = (pl.col("block") < 5) | (pl.col("position") < 5)
    averaged = table(boxed(STUDY.frame().filter(begun)), np.arange(6))
    assert averaged is not None
    assert averaged.blocks.tolist() == [0, 1, 2, 3]


def test_blocks_that_all_have_little_are_used() -> None:
    third = (pl.col("block") % 3) == (pl.col("treatment").str.slice(4, 1).cast(pl.Int64))
    averaged = table(boxed(STUDY.frame().filter(third)), np.arange(6))
    assert averaged is not None
    assert len(averaged.values) == 5
    assert np.isfinite(averaged.values).all()


def test_differences_between_hosts_are_removed() -> None:
    slower = pl.when(pl.col("position") % 2 == 0).then(3.0).otherwise(1.0)
    frame = STUDY.frame().with_columns(
        pl.col("y") * slower, host=pl.lit("h") + (pl.col("position") % 2).cast(pl.String)
    )
    plain, moved = table(boxed(STUDY.frame()), np.arange(6)), table(boxed(frame), np.arange(6))
    assert plain is not None
    assert moved is not None
    one, other = (each.values - each.values.mean() for each in (plain, moved))
    assert np.abs(one - other).max() < 0.05


def test_figures_are_sorted_in(modelled: Modelled) -> None:
    this = modelled(STUDY)
    box = grid(this, 2)
    assert box is not None
    numbers = np.arange(24)
    sorted_in = box.by_treatment(numbers)
    for ident, number in zip(this.observed.ids, numbers, strict=True):
        combo, level = np.argwhere(sorted_in == number)[0]
        a, b = box.combos[combo][:2]
        assert ident == f"size{a}threads{b}allocator{level}"


def test_a_box_that_would_be_too_large_is_none(
    modelled: Modelled, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heapwright.analysis.factorial.grid.MOST_ENTRIES", 100)
    assert grid(modelled(STUDY), 2) is None
