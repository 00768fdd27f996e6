# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How many blocks would decide what an interval leaves open, if the figures stay.

Half-widths shrink with the root of the number of blocks. An interval of half-width h that contains
a limit at distance d from the estimate needs (h / d)^2 times as many blocks.
"""

import math
from collections.abc import Iterable

MOST_BLOCKS_WORTH_NAMING = 500


def blocks_needed(
    blocks: int, value: float, interval: tuple[float, float], limits: Iterable[float]
) -> float:
    """The number for all limits that lie within the interval; 0 if none does.

    Pre: all figures are on the scale on which the interval is symmetric: logarithms of a ratio.
    Post: infinite if the estimate is a limit.
    """
    low, high = interval
    half = (high - low) / 2
    needed = 0.0
    for limit in limits:
        if low <= limit <= high:
            distance = abs(value - limit)
            needed = max(needed, blocks * (half / distance) ** 2 if distance > 0 else math.inf)
    return needed


def ratio_blocks_needed(
    blocks: int, ratio: float, interval: tuple[float, float], limits: Iterable[float]
) -> float:
    """The same for a ratio. Pre: its interval and the limits are above zero."""
    low, high = interval
    ends = (math.log(low), math.log(high))
    return blocks_needed(blocks, math.log(ratio), ends, map(math.log, limits))


def blocks_text(needed: float) -> str:
    """`about 40 blocks`, or `more than 500 blocks`."""
    if needed > MOST_BLOCKS_WORTH_NAMING:
        return f"more than {MOST_BLOCKS_WORTH_NAMING} blocks"
    return f"about {math.ceil(needed)} blocks"
