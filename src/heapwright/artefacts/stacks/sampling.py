# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Undoes the sampling of jemalloc and TCMalloc.

Both sample bytes: the distance between two sampled bytes has an exponential distribution with the
mean `rate`. A block of `size` bytes is therefore sampled with the probability
1 - exp(-size / rate). A stack has `count` sampled blocks of `size` bytes together. Its amounts are
divided by the probability of its mean size. That is right for stacks whose blocks have one size.

Source: the comment of `ReadHeapProfile` in gperftools' pprof and jemalloc's jeprof, which scale in
the same way.
"""

import math


class Scaling:
    """Scales the amounts of one column of a file.

    The scaled amounts are fractions. Each is rounded so that the sum of those so far stays the
    whole part of the exact sum. The total is then that of jeprof.
    """

    formula = "amounts are divided by 1 - exp(-mean size / rate)"

    def __init__(self, rate: float) -> None:
        """`rate` is the mean distance in bytes; 0: nothing was sampled."""
        self._rate = rate
        self._exact = [0.0, 0.0]
        self._told = [0, 0]

    def scaled(self, count: int, size: int) -> tuple[int, int]:
        """Blocks and bytes of a stack before sampling."""
        if not self._rate or not count or not size:
            return count, size
        factor = self.factor(count, size)
        return self._rounded(0, count * factor), self._rounded(1, size * factor)

    @property
    def words(self) -> str:
        """What was sampled, and how it is scaled; empty if nothing was sampled."""
        if not self._rate:
            return ""
        return f"one byte in {self._rate:,.0f} was sampled on average; {self.formula}"

    def factor(self, count: int, size: int) -> float:
        """The blocks that one sampled block stands for."""
        return -1 / math.expm1(-(size / count) / self._rate)

    def _rounded(self, column: int, value: float) -> int:
        self._exact[column] += value
        found = max(int(self._exact[column]) - self._told[column], 0)
        self._told[column] += found
        return found


class UniformScaling(Scaling):
    """The first version of sampled profiles: a block smaller than the distance stands for
    `rate / size` blocks."""

    formula = "amounts are multiplied by rate / mean size if that is more than 1"

    def factor(self, count: int, size: int) -> float:
        return max(self._rate / (size / count), 1.0)
