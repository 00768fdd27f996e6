# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The order of a study's boots: in each block every load under every kernel, kernels interleaved.

Virtual time does not feel the host, but several processors do. An interrupted study should have all
kernels about equally far. So a block is whole before the next begins. Within a load the order of
the kernels is drawn anew for each block.
"""

import random
from collections.abc import Sequence

from heapwright.artefacts.kernel_study.document import Cell

REPLICATES = {"small": 3, "medium": 6, "published": 5}
LOADS = ("paths", "churn", "fileio", "memory")


def cells(
    allocators: Sequence[str], loads: Sequence[str], blocks: int, cpus: Sequence[int], seed: int
) -> tuple[Cell, ...]:
    """Every boot in its order; a block's number is the seed of its loads."""
    drawn = random.Random(seed)
    found: list[Cell] = []
    for block in range(1, blocks + 1):
        for load in loads:
            for count in cpus:
                order = list(allocators)
                drawn.shuffle(order)
                found += [
                    Cell(block=block, load=load, cpus=count, allocator=name) for name in order
                ]
    return tuple(found)
