# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The rank-based analysis of variance: aligned ranks within strata.

A term is looked at within strata: the runs of one block that differ in the term's own factors only.
In each stratum all means over fewer of these factors are taken out, which leaves what only this
term (and scatter) can have brought there; these values are ranked over all strata. Without such an
effect the levels of a stratum could change places, so every direction in which the ranks can differ
is as likely as every other, and the variance along the term's mean over the strata is held against
that between blocks. For one factor this is the test of Hodges and Lehmann (1962, Annals of
Mathematical Statistics 33), for interactions that of Mehra and Sen (1969, the same 40). It asks of
the scatter that it be the same for the levels of a stratum, not that it be normal.

The usual aligned ranks of factorial designs (everything else taken out by means over all runs)
were tried, and see effects where there are none if scatter is skewed: docs/explanation/methods.md
has figures.

With runs missing only complete strata are used, if these are half of them. Else a missing run has
the value that the additive model expects, and what is filled in counts for nothing in the degrees
of freedom and the variances; a stratum of which less than half is there is left out. So is always
a combination in which a treatment has no run at all.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

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
