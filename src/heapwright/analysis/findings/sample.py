# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Runs as blocks of matched combinations: what every figure of a finding is computed from.

A figure is computed within each block, from combinations of levels that every block has. The
scatter of the figure over the blocks gives its interval. A block that was slow as a whole therefore
does no harm. A treatment that failed once cannot bias a mean, because its combination is left out
of all blocks, with a note.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from heapwright.analysis.numerics.distributions import student_quantile
from heapwright.base.polars_package import pl

Array = npt.NDArray[np.float64]
SOLE_BLOCK = "there is one block only, so there is no scatter to judge by"


@dataclass(frozen=True, slots=True)
class Runs:
    """Good measured runs: a column for each factor and response, `block` and `host`."""

    frame: pl.DataFrame
    factors: tuple[str, ...]

    def at(self, where: Mapping[str, Sequence[str]]) -> Runs:
        """Only the runs with one of these levels in each of these factors."""
        kept = self.frame
        for factor, levels in where.items():
            kept = kept.filter(pl.col(factor).is_in(list(levels)))
        return Runs(kept, self.factors)

    def logarithms(self, response: str) -> pl.DataFrame:
        """`block`, the factors, and the logarithm as `value`; what hosts add is taken out.

        Empty if there is a value that has no logarithm.
        """
        table = self._values(response)
        if table.is_empty() or not (table["value"] > 0).all():
            return table.clear()
        table = table.with_columns(pl.col("value").log())
        return _without_hosts(table, self.factors) if table["host"].n_unique() > 1 else table

    def plain(self, response: str) -> pl.DataFrame:
        """The same with the values as they are."""
        return self._values(response)

    def _values(self, response: str) -> pl.DataFrame:
        wanted = [*self.factors, "block", "host", pl.col(response).alias("value")]
        return self.frame.select(wanted).filter(pl.col("value").is_finite())


@dataclass(frozen=True, slots=True)
class Sample:
    """One figure a block, and what had to be left out for it."""

    blocks: Array = field(default_factory=lambda: np.empty(0))
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.blocks)

    @property
    def mean(self) -> float | None:
        return float(np.mean(self.blocks)) if len(self.blocks) else None

    def interval(self, level: float) -> tuple[float, float] | None:
        """By Student's t over the blocks (Gosset 1908); None with fewer than two."""
        count = len(self.blocks)
        if count < 2:
            return None
        middle = float(np.mean(self.blocks))
        error = float(np.std(self.blocks, ddof=1)) / math.sqrt(count)
        half = student_quantile((1 + level) / 2, count - 1) * error
        return middle - half, middle + half


def complete(table: pl.DataFrame, keys: Sequence[str]) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """The rows whose combination of `keys` is there in every block, with one `value` a block.

    A block that has less than half of the combinations (the last one, where time was up) is left
    out before. Says what was left out.
    """
    if table.is_empty():
        return table, ()
    single = table.group_by(["block", *keys], maintain_order=True).agg(pl.col("value").mean())
    combinations = single.select(keys).n_unique() if keys else 1
    sizes = single.group_by("block").len()
    whole = sizes.filter(2 * pl.col("len") >= combinations)["block"]
    notes = []
    if short := len(sizes) - len(whole):
        notes.append(f"{short} of {len(sizes)} blocks left out: less than half was run")
    single = single.filter(pl.col("block").is_in(whole.implode()))
    if keys:
        counts = single.group_by(keys).len().filter(pl.col("len") == len(whole))
        if missing := combinations - len(counts):
            notes.append(
                f"{missing} of {combinations} combinations left out: they have no good run in some "
                "block"
            )
        single = single.join(counts.select(keys), on=keys, how="semi")
    return single, tuple(notes)


def per_block(table: pl.DataFrame, keys: Sequence[str], alike: str | None = None) -> Sample:
    """The mean over the combinations of `keys`, each counting alike, in each block.

    With `alike` the levels of that key count alike, in however many combinations each is.
    """
    kept, notes = complete(table, keys)
    if kept.is_empty():
        return Sample(notes=notes)
    if alike in keys:
        kept = kept.group_by("block", alike, maintain_order=True).agg(pl.col("value").mean())
    means = kept.group_by("block").agg(pl.col("value").mean()).sort("block")
    return Sample(means["value"].to_numpy(), notes)


def _without_hosts(table: pl.DataFrame, factors: Sequence[str]) -> pl.DataFrame:
    """Logarithms less what their host adds, in the additive model of treatments and hosts, fitted
    by turns (backfitting)."""
    fitted = table.with_columns(raw=pl.col("value"))
    for _ in range(8):
        rest = pl.col("raw") - pl.col("value").mean().over(factors)
        effect = (rest - rest.mean()).mean().over("host")
        fitted = fitted.with_columns(value=pl.col("raw") - effect)
    return fitted.drop("raw")
