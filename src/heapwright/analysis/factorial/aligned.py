# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The rank-based analysis of variance: aligned ranks within strata.

A term is tested within strata: the runs of one block that differ only in the factors of the term.
In each stratum all means over fewer of these factors are subtracted. The remaining values contain
only this term and scatter. They are ranked over all strata. Without an effect the levels of a
stratum are exchangeable, so all directions of rank differences are equally likely. The variance
along the mean of the term over the strata is compared with that between blocks. The scatter must be
equal for the levels of a stratum, but it need not be normal.

The usual aligned ranks of factorial designs subtract all other means over all runs. With skewed
scatter they find effects where none exist; docs/explanation/methods.md has figures.

If runs are missing, only complete strata are used, provided that these are at least half. Otherwise
a missing run gets the value of the additive model. Such values do not count in the degrees of
freedom and the variances. A stratum with less than half of its runs is left out. A combination in
which a treatment has no run is always left out.

Source: Hodges and Lehmann (1962, Annals of Mathematical Statistics 33) for one factor, Mehra and
Sen (1969, the same 40) for interactions.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats  # noqa: TID251 - the extra `studies` has it

from heapwright.analysis.factorial.model import Model
from heapwright.analysis.factorial.observed import Floats, Ints, distinct
from heapwright.analysis.factorial.terms import Term

DIGITS = 10
"""Of the aligned values, in units of the largest: what differs less is equal."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """The test of one term; None where nothing can be tested."""

    f: float | None
    p: float | None


UNTESTED = Ranked(None, None)


def aligned_ranks(this: Model) -> list[Ranked]:
    """One test a term of the model. Cost: a sort of the runs for each."""
    if this.pooled or not this.variance:
        return [UNTESTED] * len(this.equations.terms)
    return [_tested(this, term) for term in this.equations.terms]


def _tested(this: Model, term: Term) -> Ranked:
    values, combo, share = _strata(this, term)
    axes = tuple(range(1, values.ndim))
    df = int(np.prod([size - 1 for size in values.shape[1:]]))
    df_error = int((len(values) - len(np.unique(combo))) * df * share)
    if df_error < 1:
        return UNTESTED
    left = _centred(values, axes)
    rounded = np.round(left / (np.abs(left).max() or 1.0), DIGITS)
    ranks = _centred(stats.rankdata(rounded).reshape(values.shape), axes)
    effect = share * len(ranks) * float((ranks.mean(axis=0) ** 2).sum())
    error = float((_within(ranks, combo) ** 2).sum())
    if error <= 0:
        return UNTESTED
    f = effect / df / (error / df_error)
    return Ranked(f, float(special.fdtrc(df, df_error, f)))


def _strata(this: Model, term: Term) -> tuple[Floats, Ints, float]:
    """The values of each stratum, an axis for each factor of the term; its combination.

    The last is the share of the values that runs have; the others are filled in.
    """
    observed = this.observed
    others = [column for column in range(observed.levels.shape[1]) if column not in term]
    _, combo = distinct(observed.levels[:, others])
    places = [np.unique(observed.levels[:, column], return_inverse=True)[1] for column in term]
    shape = [int(place.max()) + 1 for place in places]
    cell = np.ravel_multi_index(tuple(places), shape)
    whole = np.bincount(combo) == np.prod(shape)
    kept = whole[combo]
    number = np.cumsum(whole) - 1  # of the combinations that have every treatment
    count, blocks, cells = int(whole.sum()), len(observed.numbers), int(np.prod(shape))
    expected = np.zeros((count, cells))
    expected[number[combo[kept]], cell[kept]] = this.effects[kept]
    values = np.repeat(expected[:, None, :], blocks, axis=1)
    seen = np.zeros(values.shape, dtype=bool)
    runs = kept[observed.treatment]
    treatment = observed.treatment[runs]
    where = (number[combo[treatment]], observed.repetition[runs], cell[treatment])
    values[where] += this.residuals[runs]
    seen[where] = True
    used = 2 * seen.sum(axis=2) >= cells
    complete = seen.all(axis=2)
    if 2 * complete.sum() >= used.sum():
        used = complete
    share = float(seen[used].mean()) if used.any() else 0.0
    return values[used].reshape(-1, *shape), np.nonzero(used)[0], share


def _centred(values: Floats, axes: tuple[int, ...]) -> Floats:
    """Without the means over any of the axes."""
    for axis in axes:
        values = values - values.mean(axis=axis, keepdims=True)
    return values


def _within(ranks: Floats, combo: NDArray[np.int64]) -> Floats:
    """Without the means of each combination over the blocks."""
    flat = ranks.reshape(len(ranks), -1)
    _, begins, place, counts = np.unique(
        combo, return_index=True, return_inverse=True, return_counts=True
    )
    sums = np.add.reduceat(flat, begins, axis=0)  # the combinations are in order
    return np.asarray(flat - (sums / counts[:, None])[place])
