# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runs as arrays: what counts, what is refused, and how treatments are numbered."""

import numpy as np
import polars as pl
import pytest

from heapwright.analysis.factorial.observed import Factor, distinct, observe

from .made import Study

SMALL = Study({"a": 2, "b": 3}, blocks=4)


def test_only_good_measured_runs_count() -> None:
    frame = SMALL.frame().with_row_index("row")
    spoilt = frame.with_columns(
        outcome=pl.when(pl.col("row") == 0).then(pl.lit("timeout")).otherwise("outcome"),
        warmup=pl.col("row") == 1,
        y=pl.when(pl.col("row") == 2).then(None).otherwise("y"),
    )
    assert observe(spoilt, SMALL.named(), "y").runs == frame.height - 3


def test_levels_are_numbered_as_the_study_has_them() -> None:
    factors = (Factor("a", ("a1", "a0")), Factor("b", ("b2", "b1", "b0")))
    observed = observe(SMALL.frame(), factors, "y")
    for ident, (a, b) in zip(observed.ids, observed.levels, strict=True):
        assert ident == factors[0].levels[a] + factors[1].levels[b]


def test_the_logarithm_is_taken_where_it_can_be() -> None:
    frame = SMALL.frame()
    assert observe(frame, SMALL.named(), "y").scale == "log"
    shifted = frame.with_columns(pl.col("y") - pl.col("y").min())
    linear = observe(shifted, SMALL.named(), "y")
    assert linear.scale == "linear"
    assert linear.value.min() == 0
    assert linear.shown(2.0) == 2.0
    with pytest.raises(ValueError, match="no logarithm"):
        observe(shifted, SMALL.named(), "y", "log")


def test_a_level_that_no_factor_has_is_refused() -> None:
    with pytest.raises(ValueError, match="a has no level 'a1'"):
        observe(SMALL.frame(), (Factor("a", ("a0",)), SMALL.named()[1]), "y")


def test_runs_are_in_the_order_in_which_they_were_made() -> None:
    frame = SMALL.frame().sample(fraction=1, shuffle=True, seed=1)
    observed = observe(frame, SMALL.named(), "y")
    expected = SMALL.frame()["y"].log().to_numpy()
    np.testing.assert_allclose(observed.value, expected)


def test_some_treatments_alone_are_numbered_anew() -> None:
    observed = observe(SMALL.frame(), SMALL.named(), "y")
    part = observed.only(observed.levels[:, 1] == 2)
    assert part.treatments == 2
    assert part.runs == 8
    assert set(part.ids) == {"a0b2", "a1b2"}
    assert part.varied() == (0,)
    assert part.column("b") == 1
    assert sorted(set(part.treatment.tolist())) == [0, 1]


def test_a_block_without_good_runs_is_none() -> None:
    frame = SMALL.frame().with_columns(
        outcome=pl.when(pl.col("block") == 2).then(pl.lit("crashed")).otherwise("outcome")
    )
    observed = observe(frame, SMALL.named(), "y")
    assert observed.blocks == 3
    assert observed.numbers == (1, 3, 4)


def test_a_block_is_of_one_host() -> None:
    frame = SMALL.frame().with_columns(
        host=pl.when((pl.col("block") == 2) & (pl.col("position") > 2))
        .then(pl.lit("there"))
        .otherwise("host")
    )
    observed = observe(frame, SMALL.named(), "y")
    assert (observed.blocks, observed.hosts) == (5, 2)
    assert observed.numbers == (1, 2, 3, 4)
    assert observed.repetition.max() == 3


def test_different_rows_are_numbered_in_order() -> None:
    levels = np.random.default_rng(1).integers(-1, 4, (60, 3))
    rows, codes = distinct(levels)
    expected, numbers = np.unique(levels, axis=0, return_inverse=True)
    np.testing.assert_array_equal(rows, expected)
    np.testing.assert_array_equal(codes, numbers.ravel())
    rows, codes = distinct(levels[:, :0])
    assert (len(rows), codes.max()) == (1, 0)
