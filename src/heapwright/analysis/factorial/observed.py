# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The runs of a study as arrays of numbers: what every step of the analysis works on.

A run is a treatment, a block, a host and a value. A block that began on one host and ended on
another counts as two, because its parts share treatments but not circumstances. Treatments without
any value of the response are left out, so every figure of a treatment has runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from heapwright.base.polars_package import pl

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Scale = Literal["log", "linear"]


@dataclass(frozen=True, slots=True)
class Factor:
    """What was varied; the levels in the order in which they are shown."""

    name: str
    levels: tuple[str, ...]
    values: tuple[float, ...] = ()
    """The levels as numbers; empty if it is not a quantity."""
    unit: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """One response of n good measured runs of T treatments.

    treatment  (n,)    0 … T-1, all of them used
    block      (n,)    0 … blocks-1, all of them used; each is of one host
    host       (n,)    0 … hosts-1, all of them used
    repetition (n,)    place in `numbers`: the block as the results have it, for any host
    value      (n,)    the logarithm of the response if the scale is log
    levels     (T, F)  number of the treatment's level in each of `factors`
    ids        (T,)    names of the treatments
    numbers            what the blocks are called in the results
    The runs are in the order in which they were made, as far as that is known.
    """

    factors: tuple[Factor, ...]
    treatment: Ints
    block: Ints
    host: Ints
    repetition: Ints
    value: Floats
    levels: Ints
    ids: tuple[str, ...]
    numbers: tuple[int, ...]
    scale: Scale = "log"

    @property
    def runs(self) -> int:
        return len(self.value)

    @property
    def treatments(self) -> int:
        return len(self.levels)

    @property
    def blocks(self) -> int:
        return int(self.block.max(initial=-1)) + 1

    @property
    def hosts(self) -> int:
        return int(self.host.max(initial=-1)) + 1

    @property
    def counts(self) -> Ints:
        """Runs of each treatment, shape (T,)."""
        return np.bincount(self.treatment, minlength=self.treatments)

    def column(self, factor: str) -> int:
        """The position of a factor in `factors` and `levels`; raises ValueError for an unknown
        factor."""
        return [each.name for each in self.factors].index(factor)

    def varied(self) -> tuple[int, ...]:
        """The columns of the factors that have two levels with runs at least."""
        return tuple(
            column
            for column in range(len(self.factors))
            if len(np.unique(self.levels[:, column])) > 1
        )

    def only(self, treatments: NDArray[np.bool_]) -> Observed:
        """The runs of some treatments, shape (T,), numbered anew."""
        kept = treatments[self.treatment]
        return Observed(
            factors=self.factors,
            treatment=_renumbered(self.treatment[kept]),
            block=_renumbered(self.block[kept]),
            repetition=_renumbered(self.repetition[kept]),
            numbers=tuple(self.numbers[place] for place in np.unique(self.repetition[kept])),
            host=_renumbered(self.host[kept]),
            value=self.value[kept],
            levels=self.levels[treatments],
            ids=tuple(name for name, keep in zip(self.ids, treatments, strict=True) if keep),
            scale=self.scale,
        )

    def shown(self, value: float) -> float:
        """A mean in the unit of the response."""
        return float(np.exp(value)) if self.scale == "log" else float(value)


def observe(
    frame: pl.DataFrame, factors: Sequence[Factor], response: str, scale: Scale | None = None
) -> Observed:
    """The good measured runs of `frame` that have a value of `response`.

    `frame` has a column for each factor, `treatment`, `block`, `host`, `warmup`, `outcome` and the
    response; `host`, `began` and `position` may be missing. Without a scale it is the logarithm if
    all values are above zero. Raises ValueError if the scale is log and one is not.
    """
    runs = good_runs(frame).filter(pl.col(response).is_finite())
    order = [name for name in ("host", "began", "block", "position") if name in runs.columns]
    runs = runs.sort(order, maintain_order=True)
    raw = runs[response].to_numpy().astype(np.float64)
    positive = bool((raw > 0).all())
    if scale == "log" and not positive:
        raise ValueError(f"{response} is not above zero everywhere, so it has no logarithm")
    chosen: Scale = scale or ("log" if positive else "linear")
    ids, treatment = np.unique(runs["treatment"].to_numpy().astype(str), return_inverse=True)
    numbers, repetition = np.unique(runs["block"].to_numpy(), return_inverse=True)
    host = np.zeros(len(raw), dtype=np.int64)
    if "host" in runs.columns:
        _, host = np.unique(runs["host"].to_numpy().astype(str), return_inverse=True)
    first = np.zeros(len(ids), dtype=np.int64)
    first[treatment[::-1]] = np.arange(len(raw))[::-1]
    return Observed(
        factors=tuple(factors),
        treatment=treatment.astype(np.int64),
        block=_renumbered(repetition * (int(host.max(initial=0)) + 1) + host),
        host=host.astype(np.int64),
        repetition=repetition.astype(np.int64),
        value=np.log(raw) if chosen == "log" else raw,
        levels=_level_numbers(runs[first.tolist()], factors),
        ids=tuple(ids.tolist()),
        numbers=tuple(numbers.tolist()),
        scale=chosen,
    )


def good_runs(frame: pl.DataFrame) -> pl.DataFrame:
    """What is analysed: runs that ended well and are not warm-up."""
    return frame.filter((pl.col("outcome") == "ok") & ~pl.col("warmup"))


def distinct(levels: Ints) -> tuple[Ints, Ints]:
    """The different rows of levels in order, and the number of each row among them."""
    if not levels.shape[1]:
        return levels[:1], np.zeros(len(levels), dtype=np.int64)
    sizes = levels.max(axis=0, initial=0) + 2  # a level may be -1: none
    keys = np.ravel_multi_index(tuple((levels + 1).T), tuple(sizes.tolist()))
    _, first, codes = np.unique(keys, return_index=True, return_inverse=True)
    return levels[first], codes.astype(np.int64)


def _level_numbers(treatments: pl.DataFrame, factors: Sequence[Factor]) -> Ints:
    """A row a treatment, a column a factor. Raises ValueError for a level that no factor has."""
    numbers = np.empty((treatments.height, len(factors)), dtype=np.int64)
    for column, factor in enumerate(factors):
        place = {level: number for number, level in enumerate(factor.levels)}
        for row, level in enumerate(treatments[factor.name].to_list()):
            if level not in place:
                raise ValueError(f"{factor.name} has no level {level!r}")
            numbers[row, column] = place[level]
    return numbers


def _renumbered(codes: Ints) -> Ints:
    return np.unique(codes, return_inverse=True)[1].astype(np.int64)
