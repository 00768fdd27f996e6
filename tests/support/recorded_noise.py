# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Noise of real runs for simulations: stretches of consecutive recorded runs."""

from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

RECORDED = Path(__file__).parents[1] / "lab" / "analysis" / "race" / "noise.csv"
"""Its head says how it was recorded."""


@cache
def recorded() -> dict[str, Floats]:
    """The logarithms of each column."""
    lines = [line for line in RECORDED.read_text("utf-8").splitlines() if line[0] != "#"]
    values = np.log(np.loadtxt(lines[1:], delimiter=","))
    return dict(zip(lines[0].split(","), values.T, strict=True))


class Noise:
    """An endless stretch of recorded runs."""

    def __init__(self, column: str, draws: np.random.Generator) -> None:
        self._values = recorded()[column]
        self._next = int(draws.integers(len(self._values)))

    def take(self, runs: int) -> Floats:
        """The noise of the next runs."""
        where = (self._next + np.arange(runs)) % len(self._values)
        self._next += runs
        return self._values[where]
