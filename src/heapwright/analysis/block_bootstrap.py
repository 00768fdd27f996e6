# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The bootstrap of `intervals` for complete data: whole blocks are drawn repeatedly.

Each column is a contrast with a value in every block (a log ratio, a slope). Its estimate is the
mean over blocks. The quantile is that of the largest |t| over the columns. Each t is studentised by
its own resample. The standard error of a resample is at least half of that in the data;
docs/explanation/methods.md gives the reason.
"""

from functools import lru_cache

import numpy as np

from heapwright.analysis.blocked import NO_SCATTER, Floats

ERROR_FLOOR = 1 / 2
_CHUNK = 1000


@lru_cache(maxsize=8)
def draws(blocks: int, resamples: int, seed: int) -> Floats:
    """How often each block is drawn in each resample, shape (resamples, blocks)."""
    even = np.full(blocks, 1 / blocks)
    counts = np.random.default_rng(seed).multinomial(blocks, even, size=resamples)
    weights = counts.astype(np.float64)
    weights.setflags(write=False)
    return weights


def simultaneous(contrasts: Floats, weights: Floats, level: float) -> tuple[float, Floats]:
    """The quantile of the largest |t|, and the standard errors of the p columns, shape (p,).

    `contrasts` is (blocks, p), `weights` as `draws` gives them. All intervals of half-width
    quantile times error hold at once with confidence `level`. A column without scatter has no error
    and no influence. If no column scatters, the quantile is 0.
    """
    errors = standard_errors(contrasts)
    moving = errors > NO_SCATTER
    if not moving.any():
        return 0.0, np.where(moving, errors, 0.0)
    largest = largest_t(contrasts[:, moving], weights)
    return quantile(largest, level), np.asarray(np.where(moving, errors, 0.0))


def standard_errors(contrasts: Floats) -> Floats:
    """Of the means of the columns, shape (p,)."""
    blocks = len(contrasts)
    deviations = contrasts - contrasts.mean(axis=0)
    return np.asarray(np.sqrt((deviations**2).sum(axis=0)) / blocks)


def largest_t(contrasts: Floats, weights: Floats) -> Floats:
    """The largest |t| of each resample; every column must scatter."""
    blocks = len(contrasts)
    deviations = contrasts - contrasts.mean(axis=0)
    floor = ERROR_FLOOR * standard_errors(contrasts)
    found = []
    for begin in range(0, len(weights), _CHUNK):
        part = weights[begin : begin + _CHUNK]
        shift = part @ deviations / blocks
        # sum of w (d - shift)^2, the weights of a resample adding up to the number of blocks
        squares = np.maximum(part @ deviations**2 - blocks * shift**2, 0.0)
        errors = np.maximum(np.sqrt(squares) / blocks, floor)
        found.append((np.abs(shift) / errors).max(axis=1))
    return np.concatenate(found)


def quantile(largest: Floats, level: float) -> float:
    """The order statistic that `level` of the resamples stay at or below."""
    ordered = np.sort(largest)
    rank = min(int(np.ceil((len(ordered) + 1) * level)), len(ordered))
    return float(ordered[rank - 1])
