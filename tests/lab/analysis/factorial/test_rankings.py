# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Rankings: with nothing but allocators they say what a comparison says."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from heapwright.analysis.blocked import Cells, comparable, fit
from heapwright.analysis.factorial.grid import Grid, grid
from heapwright.analysis.factorial.model import Model, model
from heapwright.analysis.factorial.observed import observe
from heapwright.analysis.factorial.rankings import Question, rank, scopes
from heapwright.analysis.intervals import simultaneous
from heapwright.analysis.letters import compact_letters
from heapwright.analysis.tukey import all_pairs
from heapwright.artefacts.study_analysis.document import Better, Ranking

from .made import Study

Modelled = Callable[[Study], Model]
WHOLE = Study({"size": 3, "threads": 2, "pattern": 2, "allocator": 4}, blocks=6)


def asked(box: Grid, baseline: str = "allocator0", better: Better = "lower") -> Question:
    return Question(
        baseline=baseline,
        better=better,
        confidence=0.95,
        resamples=9999,
        seed=1,
        failed=np.zeros_like(box.runs),
    )


def overall(this: Model, baseline: str = "allocator0", better: Better = "lower") -> Ranking:
    column = this.observed.column("allocator")
    box = grid(this, column)
    assert box is not None
    found = rank(this, box, (), asked(box, baseline, better))
    assert found is not None
    return found


@pytest.mark.parametrize("blocks", [5, 15])
def test_one_factor_is_a_comparison(modelled: Modelled, blocks: int) -> None:
    study = Study({"allocator": 4}, blocks=blocks, seed=blocks, error=0.15)
    found = overall(modelled(study))
    frame = study.frame().sort("block", "allocator")
    values = np.log(frame["y"].to_numpy()).reshape(blocks, 4)
    compared = fit(comparable(Cells(tuple((f"allocator{k}", "") for k in range(4)), values)))
    bounds = simultaneous(compared, 0.95, 1)
    letters = compact_letters(compared.effects.tolist(), all_pairs(compared).differs(0.95))
    assert found.method == bounds.method
    for entry in found.entries:
        k = int(entry.allocator[-1])
        assert entry.ratio == pytest.approx(np.exp(compared.effects[k]))
        assert entry.low == pytest.approx(np.exp(bounds.low[k]), rel=1e-9)
        assert entry.high == pytest.approx(np.exp(bounds.high[k]), rel=1e-9)
        assert entry.group == letters[k]


def test_places_and_percentages(modelled: Modelled) -> None:
    found = overall(modelled(WHOLE))
    means = [entry.mean for entry in found.entries]
    assert means == sorted(means)
    assert [entry.place for entry in found.entries] == [1, 2, 3, 4]
    for entry in found.entries:
        assert entry.percent_over_best == pytest.approx(100 * (entry.mean / means[0] - 1))
        assert entry.runs == 72
    assert found.cells == 12
    base = found.entry("allocator0")
    assert base is not None
    assert (base.ratio, base.low, base.high) == (1.0, 1.0, 1.0)
    assert found.entry("other") is None


def test_higher_can_be_better(modelled: Modelled) -> None:
    lower, higher = overall(modelled(WHOLE)), overall(modelled(WHOLE), better="higher")
    assert [each.allocator for each in higher.entries] == [
        each.allocator for each in lower.entries
    ][::-1]
    best = higher.entries[0]
    assert best.group[0] == "a"
    last = higher.entries[-1]
    assert last.percent_over_best == pytest.approx(100 * (1 - last.mean / best.mean))


def test_scopes_are_levels_pairs_and_cells(modelled: Modelled) -> None:
    this = modelled(WHOLE)
    box = grid(this, 3)
    assert box is not None
    found = scopes(this, box)
    sizes = [len(scope) for scope in found]
    assert [sizes.count(k) for k in range(4)] == [1, 7, 16, 12]
    cell = rank(this, box, found[-1], asked(box))
    assert cell is not None
    assert cell.scope == {"size": "size2", "threads": "threads1", "pattern": "pattern1"}
    assert cell.cells == 1
    assert {entry.runs for entry in cell.entries} == {6}


def test_a_baseline_without_runs_gives_no_ratios(modelled: Modelled) -> None:
    found = overall(modelled(WHOLE), baseline="other")
    assert found.method == "none"
    assert {entry.ratio for entry in found.entries} == {None}
    assert all(entry.group for entry in found.entries)


def test_combinations_that_fail_are_left_out_for_all() -> None:
    """An allocator that always fails on the largest work does not win by it."""
    frame = WHOLE.frame().with_columns(
        pl.when(pl.col("size") == "size2").then(pl.col("y") * 100).otherwise(pl.col("y")).alias("y")
    )
    failing = (pl.col("allocator") == "allocator1") & (pl.col("size") == "size2")
    found = overall(model(observe(frame.filter(~failing), WHOLE.named(), "y")))
    assert (found.cells, found.left_out) == (8, 4)
    means = [entry.mean for entry in found.entries]
    assert max(means) < 10 * min(means)
    assert {entry.runs for entry in found.entries} == {48}


def test_an_allocator_that_mostly_fails_is_absent() -> None:
    failing = (pl.col("allocator") == "allocator1") & (pl.col("size") != "size2")
    found = overall(model(observe(WHOLE.frame().filter(~failing), WHOLE.named(), "y")))
    assert found.absent == ("allocator1",)
    assert len(found.entries) == 3


def test_bad_runs_are_counted_where_they_were(modelled: Modelled) -> None:
    this = modelled(WHOLE)
    box = grid(this, 3)
    assert box is not None
    bad = np.array([3 if ident.startswith("size1") else 0 for ident in this.observed.ids])
    question = asked(box)
    told = Question(
        question.baseline, "lower", 0.95, 99, 1, failed=box.by_treatment(bad.astype(np.int64))
    )
    for scope, expected in (((), 12), (((0, 1),), 12), (((0, 0),), 0)):
        found = rank(this, box, scope, told)
        assert found is not None
        assert {entry.failed for entry in found.entries} == {expected}


def test_one_block_has_order_and_ratios_alone() -> None:
    frame = WHOLE.frame().filter(pl.col("block") == 1)
    found = overall(model(observe(frame, WHOLE.named(), "y")))
    assert (found.method, found.df, found.blocks) == ("none", 0, 1)
    assert {entry.group for entry in found.entries} == {""}
    assert {entry.low for entry in found.entries} == {None}
    assert all(entry.ratio for entry in found.entries)


def test_on_the_linear_scale_there_are_no_ratios() -> None:
    found = overall(model(observe(WHOLE.frame(), WHOLE.named(), "y", "linear")))
    assert {entry.ratio for entry in found.entries} == {None}
    assert found.entries[0].percent_over_best == 0


def test_a_response_of_zero_in_every_run_is_zero() -> None:
    """A count of nothing has no share, with any remaining sums of other counts."""
    zero = pl.col("allocator") != "allocator1"
    frame = WHOLE.frame().with_columns(y=pl.when(zero).then(0.0).otherwise(pl.col("y") * 1e3 / 7))
    found = overall(model(observe(frame, WHOLE.named(), "y", "linear")))
    means = {entry.allocator: entry.mean for entry in found.entries}
    assert {mean for name, mean in means.items() if name != "allocator1"} == {0.0}
    assert means["allocator1"] > 0
    assert {entry.percent_over_best for entry in found.entries} == {None}


def test_filled_runs_cost_freedom() -> None:
    frame = Study({"allocator": 3}, blocks=8).frame()
    gone = frame.filter((pl.col("allocator") != "allocator1") | (pl.col("block") > 2))
    factors = Study({"allocator": 3}, blocks=8).named()
    assert overall(model(observe(gone, factors, "y"))).df == 14 - 2
