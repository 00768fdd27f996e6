# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From expected numbers of allocations to whole ones.

In each column the total is kept and the places agree with the expected ones (systematic sampling
with a random start). Where a few blocks are large, chance alone would bend the live curve by much.
So several starts are tried for the columns that weigh most. The start that brings the curve nearest
to the expected curve of all is kept.
"""

import numpy as np
from numpy.typing import NDArray

from heapwright.synth.observed import Array, Observed
from heapwright.synth.survival import live_at

Counts = NDArray[np.int64]

STARTS = 16
HEAVY = 1000
ROUNDING = 1e-6


def deal(expected: Array, seen: Observed, seed: int) -> Counts:
    """Whole numbers of shape (P, J) for expected ones; the same seed gives the same."""
    random = np.random.default_rng(seed)
    counts = _places(expected, random.random(size=(len(seen.band),)))
    live = live_at(seen.ends, seen.begins, seen.ends, seen.low, seen.high)
    heavy = np.argsort(-seen.mean_size, kind="stable")[:HEAVY]
    off = np.zeros(len(seen.ends))
    for column in heavy:
        starts = random.random(size=(STARTS,))
        tries = _places(np.repeat(expected[:, [column]], STARTS, axis=1), starts)
        change = (tries - expected[:, [column]]).T @ live[seen.lifetime[column]]
        curves = off + change * seen.mean_size[column]
        best = int(np.argmin(np.square(curves).sum(axis=1)))
        counts[:, column] = tries[:, best]
        off = curves[best]
    return counts


def _places(expected: Array, starts: Array) -> Counts:
    passed = np.floor(np.cumsum(expected, axis=0) + starts + ROUNDING)
    counts: Counts = np.diff(passed, axis=0, prepend=0.0).astype(np.int64)
    return counts
