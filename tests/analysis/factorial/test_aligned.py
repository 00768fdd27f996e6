# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Aligned ranks: they see what is there, and no interactions that are not."""

from collections.abc import Callable

import polars as pl

from heapwright.analysis.factorial.aligned import UNTESTED, aligned_ranks
from heapwright.analysis.factorial.model import Model, model
from heapwright.analysis.factorial.observed import observe

from .made import Study

Modelled = Callable[[Study], Model]


def test_large_main_effects_give_no_interaction(modelled: Modelled) -> None:
    """The ranks of the values themselves, not aligned, are known to fail here."""
    found = [
        aligned_ranks(modelled(Study({"a": 4, "b": 4}, 8, seed=seed, error=0.02, interaction=0.0)))
        for seed in range(20)
    ]
    for a, b, both in found:
        assert a.p is not None
        assert b.p is not None
        assert both.p is not None
        assert max(a.p, b.p) < 1e-6
    assert sum(both.p is not None and both.p < 0.05 for _, _, both in found) <= 4


def test_an_interaction_is_seen(modelled: Modelled) -> None:
    both = aligned_ranks(modelled(Study({"a": 3, "b": 3}, 8, interaction=0.2)))[2]
    assert both.p is not None
    assert both.p < 1e-6


def test_a_wild_run_hardly_matters() -> None:
    study = Study({"a": 3, "b": 3}, 8, seed=2)
    frame = study.frame().with_row_index("row")
    wild = frame.with_columns(
        pl.when(pl.col("row") == 17).then(pl.col("y") * 1e6).otherwise(pl.col("y")).alias("y")
    )
    usual = aligned_ranks(model(observe(frame, study.named(), "y")))[0]
    spoilt = aligned_ranks(model(observe(wild, study.named(), "y")))[0]
    assert usual.p is not None
    assert spoilt.p is not None
    assert max(usual.p, spoilt.p) < 1e-4


def test_nothing_is_tested_without_scatter() -> None:
    study = Study({"a": 3, "b": 2}, 4)
    frame = study.frame().with_columns(y=pl.lit(2.0))
    assert aligned_ranks(model(observe(frame, study.named(), "y"))) == [UNTESTED] * 3
