# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The figures that rules ask for, one in each block: ratios, exponents, spreads, means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from heapwright.analysis.findings.sample import Runs, Sample, per_block
from heapwright.base.polars_package import pl


def ratio(
    runs: Runs,
    response: str,
    of: Mapping[str, str],
    to: Mapping[str, str],
    alike: str | None = None,
) -> Sample:
    """Logarithm of the response under `of` over that under `to`, matched in all other factors.

    `alike` is a factor whose levels count alike, as in `per_block`.
    """
    return _difference(runs.logarithms(response), ["block", *runs.factors], of, to, alike)


def mean(runs: Runs, response: str) -> Sample:
    """Arithmetic mean over the treatments, each counting alike."""
    return per_block(runs.plain(response), runs.factors)


def geometric_mean(runs: Runs, response: str) -> Sample:
    """The same, geometric: each treatment counts by ratios, independent of its size."""
    found = per_block(runs.logarithms(response), runs.factors)
    return Sample(np.exp(found.blocks), found.notes)


def exponent(runs: Runs, response: str, by: str, values: Mapping[str, float]) -> Sample:
    """Slope of the logarithm on that of a quantity, within each combination of the others."""
    table = runs.logarithms(response).filter(pl.col(by).is_in(list(values)))
    others = [name for name in runs.factors if name != by]
    logarithms = {level: float(np.log(value)) for level, value in values.items()}
    placed = table.with_columns(at=pl.col(by).replace_strict(logarithms, return_dtype=pl.Float64))
    keys = ["block", *others]
    away = pl.col("at") - pl.col("at").mean().over(keys)
    slopes = (
        placed.with_columns(away=away)
        .filter(pl.len().over(keys) == len(values))
        .group_by(keys, maintain_order=True)
        .agg(value=(pl.col("away") * pl.col("value")).sum() / (pl.col("away") ** 2).sum())
    )
    return per_block(slopes, others)


def spread(
    runs: Runs, response: str, of: Mapping[str, str], to: Mapping[str, str], along: str
) -> Sample:
    """Logarithm of how much more the response varies along a factor under `of` than under `to`.

    How much it varies is the largest over the smallest, within each combination of the others.
    """
    table = runs.logarithms(response)
    keys = ["block", *(name for name in runs.factors if name != along)]
    levels = table[along].n_unique()
    ranges = (
        table.filter(pl.len().over(keys) == levels)
        .group_by(keys, maintain_order=True)
        .agg(value=pl.col("value").max() - pl.col("value").min())
    )
    return _difference(ranges, keys, of, to)


def _difference(
    table: pl.DataFrame,
    keys: Sequence[str],
    of: Mapping[str, str],
    to: Mapping[str, str],
    alike: str | None = None,
) -> Sample:
    """`value` under `of` less that under `to`, matched in all other keys."""
    others = [name for name in keys if name not in of]
    upper = _where(table, of).select(*others, "value")
    lower = _where(table, to).select(*others, pl.col("value").alias("below"))
    matched = upper.join(lower, on=others, how="inner").with_columns(
        value=pl.col("value") - pl.col("below")
    )
    keys = [name for name in others if name != "block"]
    found = per_block(matched, keys, alike)
    alone = _count(pl.concat([upper.select(keys), lower.select(keys)])) - _count(matched, keys)
    if keys and alone:
        note = f"{alone} combinations left out: without a good run on one side"
        return Sample(found.blocks, (*found.notes, note))
    return found


def _count(table: pl.DataFrame, keys: Sequence[str] | None = None) -> int:
    """Different combinations in a table."""
    chosen = table if keys is None else table.select(keys)
    return chosen.n_unique() if chosen.width and len(chosen) else 0


def _where(table: pl.DataFrame, fixed: Mapping[str, str]) -> pl.DataFrame:
    conditions: Sequence[pl.Expr] = [pl.col(name) == level for name, level in fixed.items()]
    return table.filter(*conditions) if conditions else table
