# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether a figure drifts over the blocks: Kendall's test, and the slope of Theil and Sen.

Both depend on the order of the values and on medians only, so single disturbed runs do not matter.
Without a trend the test errs in at most `error` of cases if the order of the values is random. The
noise of consecutive runs is dependent, so a large number of blocks is first reduced to `BATCHES`
medians.

Source: Mann (1945), Nonparametric tests against trend; Sen (1968), Estimates of the regression
coefficient based on Kendall's tau.
"""

from collections.abc import Sequence

import numpy as np

from heapwright.analysis.numerics.ranks import kendall, theil_sen

FEWEST_BLOCKS = 6
"""With fewer values hardly any order is significant."""
BATCHES = 10
LEAST_TAU = 0.7
"""Of Kendall's tau: a command that changes with each run drifts steadily, a machine less so."""


def drift(blocks: Sequence[int], logarithms: Sequence[float], error: float) -> float | None:
    """Relative change from the first block to the last; None if there is no trend."""
    if len(blocks) < FEWEST_BLOCKS or len(set(logarithms)) < 2:
        return None
    batches = np.array_split(np.asarray(logarithms), min(len(logarithms), BATCHES))
    found = kendall(range(len(batches)), [np.median(each) for each in batches])
    if not (found.p <= error and abs(found.tau) >= LEAST_TAU):
        return None
    slope = theil_sen(logarithms, blocks).middle
    return float(np.expm1(slope * (max(blocks) - min(blocks))))
