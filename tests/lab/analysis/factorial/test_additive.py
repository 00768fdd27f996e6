# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The additive model: ordinary least squares with dummy variables says the same."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from heapwright.analysis.factorial.additive import block_squares, fit, lay_out, scattered
from heapwright.analysis.factorial.observed import Observed, observe

from .made import Study

Seen = Callable[[Study], Observed]
STUDY = Study({"a": 3, "b": 4}, blocks=6, seed=3, missing=0.2)


def on_hosts(study: Study) -> Observed:
    """Runs of three hosts, dealt out within blocks."""
    frame = study.frame().with_row_index("row")
    hosts = frame.with_columns(host=pl.lit("h") + (pl.col("row") % 3).cast(pl.String))
    slower = (pl.col("row") % 3 * 0.3).exp()
    return observe(hosts.with_columns(pl.col("y") * slower), study.named(), "y")


def dummies(codes: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.eye(int(codes.max()) + 1)[codes]


def residual_squares(parts: list[NDArray[np.float64]], y: NDArray[np.float64]) -> float:
    design = np.hstack([np.ones((len(y), 1)), *parts])
    found = np.linalg.lstsq(design, y, rcond=None)[0]
    return float(((y - design @ found) ** 2).sum())


@pytest.mark.parametrize("hosts", [False, True])
def test_least_squares_with_dummies(seen: Seen, hosts: bool) -> None:
    observed = on_hosts(STUDY) if hosts else seen(STUDY)
    y = observed.value
    layout = lay_out(observed)
    found = fit(layout, y[:, None])
    blocks = dummies(observed.block)
    whole = np.hstack([blocks, dummies(observed.treatment)])
    assert found.error[0] == pytest.approx(residual_squares([whole], y), rel=1e-9)
    assert layout.df_error == len(y) - np.linalg.matrix_rank(whole)
    before, after = block_squares(layout, y[:, None])
    by_host = residual_squares([dummies(observed.host)], y)
    assert before[0] == pytest.approx(residual_squares([], y) - by_host, abs=1e-9)
    assert after[0] == pytest.approx(by_host - residual_squares([blocks], y), rel=1e-9)
    assert layout.df_hosts + layout.df_blocks == np.linalg.matrix_rank(blocks) - 1
    assert found.total[0] == pytest.approx(residual_squares([], y))


def test_a_block_on_two_hosts_is_two() -> None:
    frame = STUDY.frame().with_columns(
        host=pl.when((pl.col("block") < 3) | (pl.col("position") < 4))
        .then(pl.lit("one"))
        .otherwise(pl.lit("two"))
    )
    observed = observe(frame, STUDY.named(), "y")
    layout = lay_out(observed)
    assert (observed.blocks, len(observed.numbers)) == (10, 6)
    assert (layout.df_hosts, layout.df_blocks) == (1, 8)
    assert (np.bincount(layout.host) == [6, 4]).all()


def test_effects_are_means_at_the_average_block(seen: Seen) -> None:
    study = Study({"a": 3}, blocks=5)
    observed = seen(study)
    found = fit(lay_out(observed), observed.value[:, None])
    means = [observed.value[observed.treatment == k].mean() for k in range(3)]
    np.testing.assert_allclose(found.effects[:, 0], means)


def test_a_treatment_that_shares_no_block_costs_no_freedom() -> None:
    frame = STUDY.frame()
    alone = frame.filter(
        ((pl.col("treatment") == "a0b0") & (pl.col("block") == 1))
        | ((pl.col("treatment") != "a0b0") & (pl.col("block") > 1))
    )
    observed = observe(alone, STUDY.named(), "y")
    layout = lay_out(observed)
    whole = np.hstack([dummies(observed.block), dummies(observed.treatment)])
    assert layout.df_error == observed.runs - np.linalg.matrix_rank(whole)
    assert layout.df_treatments == np.linalg.matrix_rank(whole) - observed.blocks


def test_little_scatter_beside_large_effects_is_kept() -> None:
    study = Study({"a": 4}, blocks=6, error=1e-9)
    frame = study.frame().with_columns(pl.col("y") * (1 + 1e-9 * pl.col("position")))
    observed = observe(frame, study.named(), "y")
    layout = lay_out(observed)
    found = fit(layout, observed.value[:, None])
    assert scattered(layout, found)[0]
    assert 0 < np.sqrt(found.error[0] / layout.df_error) < 1e-6


def test_equal_runs_do_not_scatter() -> None:
    study = Study({"a": 4}, blocks=6)
    frame = study.frame().with_columns(y=pl.col("a").str.slice(1).cast(pl.Float64) + 3.3)
    observed = observe(frame, study.named(), "y")
    layout = lay_out(observed)
    assert not scattered(layout, fit(layout, observed.value[:, None]))[0]
