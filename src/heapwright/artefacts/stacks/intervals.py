# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Estimates of amounts from samples by bytes, with intervals. Pure.

A block of `size` bytes is a sample with the probability p = 1 - exp(-size / mean), independently of
all others. A sampled block therefore stands for 1 / p blocks. The sum of these is unbiased. The sum
of (1 - p) / p^2 estimates its variance without bias.

The variance of T bytes is s T. Here s is the mean of size (1 - p) / p over all bytes. The samples
estimate s. The interval has all T that a test at 5 % would not reject: (estimate - T)^2 <= z^2 s T.
It is not symmetric, and holds with few samples. Large blocks are nearly always samples. Their s is
nearly 0.

Sources: Horvitz and Thompson, JASA 47, 1952 (the estimate); Wilson, JASA 22, 1927 (the interval).
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

Z = 1.959963984540054
"""The normal distribution has 95 % between -Z and Z."""


class Estimate(NamedTuple):
    """Bytes and blocks, with the variance of the bytes. Sums of estimates are estimates."""

    bytes: float = 0.0
    blocks: float = 0.0
    variance: float = 0.0

    def plus(self, other: "Estimate") -> "Estimate":
        return Estimate(*(one + two for one, two in zip(self, other, strict=True)))


def estimate(samples: Iterable[tuple[int, int]], mean: float) -> Estimate:
    """The estimate from numbers of samples: pairs of a size in bytes and a count."""
    found = Estimate()
    for size, count in samples:
        chance = -math.expm1(-size / mean)
        found = found.plus(
            Estimate(
                bytes=count * size / chance,
                blocks=count / chance,
                variance=count * (1 - chance) * (size / chance) ** 2,
            )
        )
    return found


def interval(amount: float, variance: float) -> tuple[float, float]:
    """The bounds between which the true amount lies in 95 % of all runs."""
    if amount <= 0:
        return 0.0, 0.0
    spread = Z * Z * variance / amount
    half = math.sqrt(spread * amount + spread * spread / 4)
    return amount + spread / 2 - half, amount + spread / 2 + half
