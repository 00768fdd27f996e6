# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Aligned ranks: they see what is there, and nothing that is not."""

from collections.abc import Callable

import numpy as np
import polars as pl

from heapwright.analysis.factorial.aligned import UNTESTED, aligned_ranks
from heapwright.analysis.factorial.model import Model, model
from heapwright.analysis.factorial.observed import observe

from .made import Study

Modelled = Callable[[Study], Model]


def test_large_main_effects_give_no_interaction(modelled: Modelled) -> None:
    """The ranks of the values themselves, which are not aligned, are known to fail here."""
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


def test_slow_runs_now_and_then_are_no_effect() -> None:
    """The usual aligned ranks see an effect in 1 of 6 such studies: docs/explanation/methods.md."""
    study = Study({"work": 6, "allocator": 4}, 5, interaction=0.0)
    found = []
    for seed in range(80):
        draws = np.random.default_rng(seed)
        slow = np.where(draws.random(120) < 0.05, draws.exponential(0.5, 120), 0.0)
        noise = np.exp(slow + draws.normal(0, 0.03, 120))
        frame = study.frame().with_columns(
            y=pl.Series(noise) * (1 + pl.col("work").str.slice(4).cast(pl.Float64))
        )
        found.append(aligned_ranks(model(observe(frame, study.named(), "y")))[1].p)
    assert sum(p is not None and p < 0.05 for p in found) <= 9


def test_missing_runs_are_allowed_for(modelled: Modelled) -> None:
    found = [
        aligned_ranks(
            modelled(Study({"a": 4, "b": 5}, 6, seed=seed, interaction=0.0, missing=0.15))
        )[2].p
        for seed in range(80)
    ]
    assert sum(p is not None and p < 0.05 for p in found) <= 14
    assert None not in found


def test_a_term_without_whole_strata_is_not_tested(modelled: Modelled) -> None:
    study = Study({"a": 3, "b": 3, "c": 2}, 5, left_out=lambda levels: levels[0] < levels[1])
    this = modelled(study)
    found = dict(zip(this.equations.terms, aligned_ranks(this), strict=True))
    assert found[0, 1] == UNTESTED
    assert found[2,].p is not None
    assert found[0,].p is not None


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
