# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The order of the runs: randomised complete blocks.

Every block runs every treatment once, in random order. A drift between blocks (temperature, load,
page cache) therefore affects all treatments alike and is removed as a separate term. Measured
blocks count from 1. Warm-up blocks come before them and end at 0, so a block's number is unique in
a result.

The order of a block depends only on the seed, the block's number and the set of treatments. It does
not depend on the order of the list, the number of blocks, or earlier blocks. The same seed
therefore gives the same order even when the experiment stops earlier.

Source: Montgomery, Design and Analysis of Experiments, chapter 4.
"""

import random
import secrets
from collections.abc import Iterator, Sequence

Key = tuple[str, str]
"""A treatment's key: (allocator, level)."""

SEED_BITS = 32


def fresh_seed() -> int:
    """A seed for an experiment without one; short enough to be typed again."""
    return secrets.randbits(SEED_BITS)


def block_numbers(warmup: int, blocks: int) -> Iterator[int]:
    """The warm-up blocks `1 - warmup … 0`, then the measured ones `1 … blocks`."""
    yield from range(1 - warmup, blocks + 1)


def is_warmup(block: int) -> bool:
    return block < 1


def block_order(
    treatments: Sequence[Key], *, seed: int, block: int, first: Key | None = None
) -> list[Key]:
    """The treatments in the order in which `block` runs them.

    `first`, if present, is moved to the front. The first warm-up block begins with the baseline,
    because its time sets the limit for the others. Raises ValueError on a repeated treatment.
    """
    order = sorted(treatments)
    if len(set(order)) != len(order):
        raise ValueError("a treatment appears twice in a block")
    random.Random(f"heapwright/{seed}/{block}").shuffle(order)
    if first is not None:
        order.remove(first)
        order.insert(0, first)
    return order
