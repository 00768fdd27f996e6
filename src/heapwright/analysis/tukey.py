# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""All pairs of treatments, by Tukey's honest significant difference on the blocked model.

The common library routines are one-way: they pool the differences between blocks into the error.
Here the difference of two treatments, its variance and the degrees of freedom are those of
`blocked.fit`, and the statistic q = |difference| / se * sqrt(2) is held against the studentised
range of k means (Tukey 1953; with holes, each pair's own variance: Kramer 1956, conservative by
Hayter 1984 for a one-way layout and close for ours).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from heapwright.analysis.blocked import NO_SCATTER, BlockedFit, Floats


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """All pairs; every array has shape (k, k), row minus column on the log scale.

    `p` is adjusted for the number of pairs and is 1 on the diagonal; `low` and `high` hold for all
    pairs at once. Without degrees of freedom nothing differs and the intervals are unbounded.
    """

    difference: Floats
    low: Floats
    high: Floats
    p: Floats

    def differs(self, level: float) -> NDArray[np.bool_]:
        """Which pairs differ at simultaneous confidence `level`."""
        return self.p < 1 - level


def all_pairs(fit: BlockedFit, level: float) -> Pairs:
    """Compare all pairs of treatments of `fit` at simultaneous confidence `level`."""
    k = len(fit.treatments)
    difference = fit.effects[:, None] - fit.effects[None, :]
    variance = np.diag(fit.unscaled)
    unscaled = variance[:, None] + variance[None, :] - 2 * fit.unscaled
    np.fill_diagonal(unscaled, 0.0)
    if k < 2 or fit.df == 0:
        half = np.where(np.eye(k) > 0, 0.0, np.inf)
        return Pairs(difference, difference - half, difference + half, np.ones((k, k)))
    if fit.sigma == 0:
        p = np.where(np.abs(difference) > NO_SCATTER, 0.0, 1.0)
        return Pairs(difference, difference, difference, p)
    error = fit.sigma * np.sqrt(unscaled / 2)
    half = float(stats.studentized_range.ppf(level, k, fit.df)) * error
    upper = np.triu_indices(k, 1)
    statistic = np.abs(difference[upper]) / error[upper]
    p = np.ones((k, k))
    p[upper] = np.clip(stats.studentized_range.sf(statistic, k, fit.df), 0.0, 1.0)
    p.T[upper] = p[upper]
    return Pairs(difference, difference - half, difference + half, p)
