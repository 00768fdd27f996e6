# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How likely a block of a phase and a lifetime class is still live at a later moment.

Births are spread evenly over their phase, lifetimes evenly over their class. So the end of a block
is the sum of two uniform variables. Its distribution is a second difference of a squared ramp.
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def ended_by(moments: Array, begins: Array, ends: Array, low: Array, high: Array) -> Array:
    """Shape (K, P, Q): the probability that a block born in phase p with a lifetime of class k has
    ended by moment q. Lifetimes are whole operations from low to high; infinite ones never end.
    """
    finite = np.isfinite(high)
    first = np.where(finite, low, 1.0)[:, None, None] - 0.5
    last = np.where(finite, high, 1.0)[:, None, None] + 0.5
    since_begin = moments[None, None, :] - begins[None, :, None]
    since_end = moments[None, None, :] - ends[None, :, None]
    area = (ends - begins)[None, :, None] * (last - first)
    sums = (
        _ramp(since_begin - first)
        - _ramp(since_end - first)
        - _ramp(since_begin - last)
        + _ramp(since_end - last)
    )
    probability: Array = np.clip(sums / area, 0.0, 1.0)
    probability[~finite] = 0.0
    return probability


def born_by(moments: Array, begins: Array, ends: Array) -> Array:
    """Shape (P, Q): the share of a phase's blocks that are born by moment q."""
    passed = (moments[None, :] - begins[:, None]) / (ends - begins)[:, None]
    share: Array = np.clip(passed, 0.0, 1.0)
    return share


def live_at(moments: Array, begins: Array, ends: Array, low: Array, high: Array) -> Array:
    """Shape (K, P, Q): the probability that such a block is live at moment q."""
    born = born_by(moments, begins, ends)[None, :, :]
    live: Array = np.clip(born - ended_by(moments, begins, ends, low, high), 0.0, 1.0)
    return live


def _ramp(value: Array) -> Array:
    squared: Array = np.square(np.maximum(value, 0.0)) / 2
    return squared
