# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The table of variance: it adds up, it does not depend on units, and it says what it cannot."""

from collections.abc import Callable

import polars as pl
import pytest

from heapwright.analysis.factorial.anova import anova
from heapwright.analysis.factorial.model import Model, model
from heapwright.analysis.factorial.observed import observe

from .made import Study

Modelled = Callable[[Study], Model]
WHOLE = Study({"a": 3, "b": 2, "c": 2}, blocks=4)


def test_a_complete_design_adds_up(modelled: Modelled) -> None:
    this = modelled(WHOLE)
    table = anova(this)
    assert sum(line.sum_sq for line in table) == pytest.approx(float(this.found.total[0]))
    assert sum(line.df for line in table) == this.observed.runs - 1
    assert sum(line.eta_sq or 0 for line in table) == pytest.approx(1)
    for line in table:
        if line.kind == "factors":
            assert line.partial_eta_sq is not None
            assert line.eta_sq is not None
            assert line.eta_sq <= line.partial_eta_sq <= 1


def test_units_do_not_matter(modelled: Modelled) -> None:
    frame = WHOLE.frame().with_columns(pl.col("y") * 1e9)
    for one, other in zip(
        anova(modelled(WHOLE)), anova(model(observe(frame, WHOLE.named(), "y"))), strict=True
    ):
        assert one.term == other.term
        assert one.sum_sq == pytest.approx(other.sum_sq, abs=1e-9)
        if one.f is not None:
            assert one.f == pytest.approx(other.f, rel=1e-6)


def test_a_named_interaction_leaves_what_remains(modelled: Modelled) -> None:
    without = {line.term: line for line in anova(modelled(WHOLE))}
    this = model(modelled(WHOLE).observed, [("a", "b", "c")])
    named = {line.term: line for line in anova(this)}
    assert named["a:b:c"].sum_sq == pytest.approx(without["remaining"].sum_sq)
    assert "remaining" not in named
    assert named["residual"] == without["residual"]


def test_hosts_have_their_own_line_in_the_table() -> None:
    frame = WHOLE.frame().with_columns(host=pl.lit("h") + (pl.col("block") % 2).cast(pl.String))
    table = anova(model(observe(frame, WHOLE.named(), "y")))
    assert [(line.term, line.df) for line in table[:2]] == [("host", 1), ("block", 2)]


def test_runs_that_do_not_scatter_are_not_tested() -> None:
    frame = WHOLE.frame().with_columns(y=pl.col("a").str.slice(1).cast(pl.Float64) + 1)
    this = model(observe(frame, WHOLE.named(), "y"))
    assert this.variance == 0
    lines = {line.term: line for line in anova(this)}
    assert lines["a"].eta_sq == pytest.approx(1)
    assert all(line.f is None and line.p is None for line in lines.values())
    assert lines["b"].sum_sq == pytest.approx(0, abs=1e-12)


def test_runs_that_are_all_equal() -> None:
    frame = WHOLE.frame().with_columns(y=pl.lit(5.0))
    table = anova(model(observe(frame, WHOLE.named(), "y")))
    assert {line.eta_sq for line in table} == {None}


def test_one_block_without_anything_left_to_test_by() -> None:
    frame = WHOLE.frame().filter(pl.col("block") == 1)
    this = model(observe(frame, WHOLE.named(), "y"), [("a", "b", "c")])
    assert (this.variance, this.df, this.pooled) == (None, 0, False)
    table = anova(this)
    assert [line.term for line in table] == ["a", "b", "c", "a:b", "a:c", "b:c", "a:b:c"]
    assert all(line.f is None for line in table)


def test_one_run() -> None:
    frame = WHOLE.frame().filter((pl.col("block") == 1) & (pl.col("treatment") == "a0b0c0"))
    assert anova(model(observe(frame, WHOLE.named(), "y"))) == ()
