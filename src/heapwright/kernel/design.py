# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The order of a study's boots: in each block every load under every kernel.

Virtual time does not feel the host, but several processors do. An interrupted study should have all
kernels about equally far. So a block is whole before the next begins. Within a load the order of
the kernels is drawn anew for each block.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from heapwright.artefacts.kernel_study.document import Cell

REPLICATES = {"small": 3, "medium": 6, "published": 5}
LOADS = ("paths", "churn", "fileio", "memory")


@dataclass(frozen=True, slots=True)
class Factors:
    """The levels of a study."""

    allocators: Sequence[str]
    loads: Sequence[str]
    cpus: Sequence[int] = (1,)
    memory_mib: Sequence[int] = (0,)
    """0 is that of the load."""


def cells(factors: Factors, blocks: int, seed: int) -> tuple[Cell, ...]:
    """Every boot in its order; a block's number is the seed of its loads."""
    drawn = random.Random(seed)
    found: list[Cell] = []
    groups = list(product(factors.loads, factors.cpus, factors.memory_mib))
    for block in range(1, blocks + 1):
        for load, cpus, memory in groups:
            order = list(factors.allocators)
            drawn.shuffle(order)
            found += [
                Cell(block=block, load=load, cpus=cpus, memory_mib=memory, allocator=name)
                for name in order
            ]
    return tuple(found)
