# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""All pairs of treatments, by Tukey's honest significant difference on the blocked model.

The common library routines are one-way: they pool the differences between blocks into the error.
Here the difference of two treatments, its variance and the degrees of freedom are those of
`blocked.fit`. The statistic q = |difference| / se * sqrt(2) is compared with the studentised range
of k means (Tukey 1953). With missing runs each pair has its own variance (Kramer 1956). This is
conservative for a one-way layout (Hayter 1984) and close for this model.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapwright.analysis import studentized_range
from heapwright.analysis.blocked import NO_SCATTER, BlockedFit, Floats


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """All pairs of k treatments; every array has shape (k, k), row minus column, on the log scale.

    `error` is the standard error of a difference divided by sqrt(2), as the studentised range
    requires. It is infinite without degrees of freedom, and 0 without scatter and on the diagonal.
    """

    difference: Floats
    error: Floats
    df: int

    def p_values(self) -> Floats:
        """Adjusted for the number of pairs; 1 on the diagonal."""
        k = len(self.difference)
        p = np.where(np.abs(self.difference) > NO_SCATTER, 0.0, 1.0)
        scattered = np.triu(self.error, 1) > 0
        statistic = np.abs(self.difference[scattered]) / self.error[scattered]
        p[scattered] = studentized_range.survival(statistic, k, self.df) if self.df else 1.0
        p.T[scattered] = p[scattered]
        return p

    def half_widths(self, level: float) -> Floats:
        """Of the intervals of the differences that all hold at once with confidence `level`."""
        if self.df == 0 or not (self.error > 0).any():
            return self.error
        return studentized_range.quantile(level, len(self.difference), self.df) * self.error

    def differs(self, level: float) -> NDArray[np.bool_]:
        """Which pairs differ at simultaneous confidence `level`."""
        return np.abs(self.difference) > np.maximum(self.half_widths(level), NO_SCATTER)


def all_pairs(fit: BlockedFit) -> Pairs:
    """Compare all pairs of treatments of `fit`."""
    k = len(fit.treatments)
    difference = fit.effects[:, None] - fit.effects[None, :]
    variance = np.diag(fit.unscaled)
    unscaled = np.maximum(variance[:, None] + variance[None, :] - 2 * fit.unscaled, 0.0)
    if fit.df == 0:
        return Pairs(difference, np.where(np.eye(k) > 0, 0.0, np.inf), 0)
    error = fit.sigma * np.sqrt(unscaled / 2)
    np.fill_diagonal(error, 0.0)
    return Pairs(difference, error, fit.df)
