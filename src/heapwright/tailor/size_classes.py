# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Size classes with the least waste for the sizes of a program.

The blocks of a heap with tags are multiples of 16 bytes and hold 8 bytes of the tag. With k
classes, each block is rounded up to the nearest class. The waste is the sum of what is rounded.

Source: the optimal k classes end at blocks that occur. Each choice of the last class leaves the
same problem for the blocks below it. That gives an exact dynamic program in O(k n^2).
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

TAG = 8
UNIT = 16
MOST_RATIO = 2
"""Between neighbours, so that a size that no input showed wastes at most half of its block."""


def block_of(size: int) -> int:
    """The smallest block for a request."""
    return (max(size, 1) + TAG + UNIT - 1) // UNIT * UNIT


def blocks_of(counts: Mapping[int, int]) -> dict[int, int]:
    """The number of objects of each block, in ascending order, from that of each size."""
    found: dict[int, int] = {}
    for size in sorted(counts):
        found[block_of(size)] = found.get(block_of(size), 0) + counts[size]
    return found


def waste_of(classes: Sequence[int], blocks: Mapping[int, int]) -> int:
    """Bytes lost by rounding each block up to its class. Pre: a class holds each block."""
    ends = np.asarray(classes, dtype=np.int64)
    sizes = np.fromiter(blocks.keys(), dtype=np.int64, count=len(blocks))
    weights = np.fromiter(blocks.values(), dtype=np.int64, count=len(blocks))
    return int((weights * (ends[np.searchsorted(ends, sizes)] - sizes)).sum())


def best_classes(blocks: Mapping[int, int], most: int) -> list[tuple[int, ...]]:
    """The classes with the least waste for each number of classes from 1 to `most`.

    The list ends early where further classes save nothing.
    """
    sizes = np.array(sorted(blocks), dtype=np.int64)
    weights = np.array([blocks[int(size)] for size in sizes], dtype=np.int64)
    number = len(sizes)
    if number == 0:
        return []
    objects = np.concatenate(([0], np.cumsum(weights)))
    bytes_ = np.concatenate(([0], np.cumsum(weights * sizes)))
    least = sizes * objects[1:] - bytes_[1:]  # one class for all blocks up to each
    before: list[np.ndarray] = []
    found: list[tuple[int, ...]] = [(int(sizes[-1]),)]
    for _ in range(1, min(most, number)):
        if least[-1] == 0:
            break
        next_least = least.copy()
        chosen = np.full(number, -1, dtype=np.int64)
        for last in range(1, number):
            # the classes below end at block `at`; one more class holds the blocks above it
            held = objects[last + 1] - objects[1 : last + 1]
            costs = least[:last] + sizes[last] * held - (bytes_[last + 1] - bytes_[1 : last + 1])
            at = int(np.argmin(costs))
            if costs[at] < next_least[last]:
                next_least[last] = costs[at]
                chosen[last] = at
        least = next_least
        before.append(chosen)
        found.append(_traced(sizes, before))
    return found


def _traced(sizes: np.ndarray, before: Sequence[np.ndarray]) -> tuple[int, ...]:
    """The ends of the classes, followed from the last block down."""
    at, ends = len(sizes) - 1, [int(sizes[-1])]
    for chosen in reversed(before):
        if chosen[at] >= 0:
            at = int(chosen[at])
            ends.append(int(sizes[at]))
    return tuple(reversed(ends))


def with_bounded_gaps(classes: Sequence[int], largest: int) -> tuple[int, ...]:
    """The classes, with further ones where neighbours differ by more than a ratio of 2, from the
    smallest block to `largest`."""
    whole = sorted({2 * UNIT, *classes, largest})
    added = []
    for low, high in pairwise(whole):
        block = low * MOST_RATIO
        while block + UNIT < high:
            added.append(block)
            block *= MOST_RATIO
    return tuple(sorted({*whole, *added}))
