# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The Pareto front of two responses: the treatments that nothing beats in both.

By point estimates: the front says what is worth a look, the intervals say what is proven.
"""

from collections.abc import Mapping
from typing import TypeVar

from heapwright.artefacts.comparison.document import Key

Named = TypeVar("Named", str, Key)


def pareto_front(points: Mapping[Named, tuple[float, float]]) -> tuple[Named, ...]:
    """The keys whose (time, memory), or what else, no other point dominates; the fastest first.

    A point dominates another if it is nowhere larger and somewhere smaller; equal points stand
    together. Units do not matter, smaller is better.
    """

    def dominated(point: tuple[float, float]) -> bool:
        return any(
            other[0] <= point[0] and other[1] <= point[1] and other != point
            for other in points.values()
        )

    front = [key for key, point in points.items() if not dominated(point)]
    return tuple(sorted(front, key=lambda key: (*points[key], key)))
