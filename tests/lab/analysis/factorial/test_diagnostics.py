# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Diagnostics: silent where all is well, and plain about what is not."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from heapwright.analysis.factorial.diagnostics import diagnose
from heapwright.analysis.factorial.model import Model, model
from heapwright.analysis.factorial.observed import observe

from .made import Study

Modelled = Callable[[Study], Model]
STUDY = Study({"a": 3, "b": 4}, blocks=20, seed=4)


def spoilt(factor: pl.Expr) -> Model:
    """STUDY with each value times a factor."""
    frame = STUDY.frame().with_row_index("row").with_columns(pl.col("y") * factor)
    return model(observe(frame, STUDY.named(), "y"))


def draws(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_nothing_is_reported_of_normal_errors(modelled: Modelled) -> None:
    found = diagnose(modelled(STUDY))
    assert found.warnings == ()
    assert found.normality is not None
    assert found.normality.tested == 240
    assert len(found.quantiles) == 99
    assert found.quantiles[49][0] == pytest.approx(0, abs=1e-9)


def test_runs_that_are_slow_at_times() -> None:
    slow = np.where(draws().random(240) < 0.03, 0.6, 0.0)
    found = diagnose(spoilt(pl.lit(pl.Series(slow)).exp()))
    assert len(found.warnings) == 1
    assert "not normal" in found.warnings[0]
    assert "beyond 4 standard deviations" in found.warnings[0]
    assert "aligned ranks" in found.warnings[0]


def test_unequal_scatter_names_the_factor_and_level() -> None:
    noise = pl.Series(draws().normal(0, 0.3, 240))
    found = diagnose(spoilt(pl.when(pl.col("a") == "a2").then(pl.lit(noise)).otherwise(0.0).exp()))
    assert found.spread is not None
    assert (found.spread.factor, found.spread.widest) == ("a", "a2")
    assert found.spread.ratio is not None
    assert found.spread.ratio > 3
    assert any("with a a2 it is" in each for each in found.warnings)


def test_drift_within_blocks() -> None:
    found = diagnose(spoilt((pl.col("position") * 0.05).exp()))
    assert found.order is not None
    assert found.order.lag_1 > 0.3
    assert any("resemble each other" in each for each in found.warnings)


def test_nothing_can_be_said_of_one_block() -> None:
    frame = STUDY.frame().filter(pl.col("block") == 1)
    found = diagnose(model(observe(frame, STUDY.named(), "y")))
    assert (found.normality, found.spread, found.order, found.warnings) == (None, None, None, ())


def test_two_blocks_have_no_spread_of_their_own(modelled: Modelled) -> None:
    assert diagnose(modelled(Study({"a": 3, "b": 4}, blocks=2))).spread is None


def test_false_alarms_are_rare(modelled: Modelled) -> None:
    said = [
        diagnose(modelled(Study({"a": 3, "b": 3}, blocks=6, seed=seed))).warnings
        for seed in range(60)
    ]
    assert sum(map(bool, said)) <= 6
