# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The model: which error terms are tested against, and when a study is balanced."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from heapwright.analysis.factorial.model import Model, between, beyond, model
from heapwright.analysis.factorial.observed import observe

from .made import Study

Modelled = Callable[[Study], Model]
WHOLE = Study({"a": 3, "b": 2, "c": 2}, blocks=4)


def test_pure_error_is_between_runs_of_a_treatment(modelled: Modelled) -> None:
    this = modelled(WHOLE)
    assert (this.df, this.pooled, this.balanced) == (3 * 11, False, True)
    values = this.observed.value.copy()
    for codes in (this.observed.treatment, this.observed.block):
        values -= (np.bincount(codes, values) / np.bincount(codes))[codes]
    assert this.variance == pytest.approx(float((values**2).sum()) / 33)


def test_with_one_run_of_each_the_rest_is_the_error() -> None:
    frame = WHOLE.frame().filter(pl.col("block") == 1)
    this = model(observe(frame, WHOLE.named(), "y"))
    squares, df = beyond(this.equations, this.layout, this.right, between(this))
    assert (this.pooled, this.df, df) == (True, 2, 2)
    assert this.variance == pytest.approx(squares / 2)


def test_nothing_is_left_to_be_the_error() -> None:
    frame = Study({"a": 4}, blocks=1)
    this = model(observe(frame.frame(), frame.named(), "y"))
    assert (this.pooled, this.df, this.variance) == (False, 0, None)


def test_runs_that_do_not_differ_have_no_variance() -> None:
    frame = WHOLE.frame().with_columns(y=pl.lit(3.0))
    assert model(observe(frame, WHOLE.named(), "y")).variance == 0


def test_a_missing_run_is_no_balance(modelled: Modelled) -> None:
    frame = WHOLE.frame()
    assert not model(observe(frame.head(47), WHOLE.named(), "y")).balanced
    assert modelled(Study({"a": 2, "b": 2}, 3, left_out=lambda k: k == (0, 0))).balanced
