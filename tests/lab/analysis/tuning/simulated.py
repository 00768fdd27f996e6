# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Synthetic programs with known optima, and searches on them.

The true logarithm of a figure is a sum over settings (linear and curved), and over pairs of
settings. The noise of consecutive runs is recorded (`race/noise.csv`, with the drift of its
machine) or drawn.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapwright.analysis.tuning.search import Rules, Search, usual_runs
from heapwright.analysis.tuning.space import Cell, Factor, Measured, Space
from support.recorded_noise import Noise

Floats = NDArray[np.float64]
Truth = Callable[[Cell], float]
"""The log ratio of a cell to the default."""

SPACE = Space(
    (
        Factor("arena_max", ("1", "2", "default"), 2),
        Factor("tcache_count", ("0", "default", "127"), 1),
        Factor("tcache_max", ("64", "256", "default"), 2),
        Factor("mmap_threshold", ("65536", "default", "33554432"), 1),
        Factor("trim_threshold", ("65536", "default", "1073741824"), 1),
        Factor("top_pad", ("0", "default", "16777216"), 1),
        Factor("hugetlb", ("default", "1"), 0),
    )
)
"""As that of glibc: 1,458 cells."""
PROGRAMS = ("none", "worse", "few", "pairs", "curved", "many")
DRAWN = ("normal", "heavy", "drift", "peak")
NOISES = ("python_cpu", "compiler_cpu", "perl_cpu", "perl_wall", *DRAWN)
CAPS = (None, 1.05)
"""Of the other figure: none, or 5 % above the default."""


@dataclass(frozen=True, slots=True)
class Program:
    """The truth about one program."""

    objective: Floats
    """Shape (cells,)."""
    other: Floats


CELLS = list(itertools.product(*(range(len(f.levels)) for f in SPACE.factors)))
PLACE = {cell: number for number, cell in enumerate(CELLS)}
_CODES = np.array([[f.code(i) for f, i in zip(SPACE.factors, c, strict=True)] for c in CELLS])


def program(kind: str, draws: np.random.Generator) -> Program:
    """A program of one kind. `none`: nothing has an effect. `worse`: every change costs."""
    k = len(SPACE.factors)
    if kind == "none":
        return Program(np.zeros(len(CELLS)), _other(draws))
    if kind == "worse":
        away = np.array([len(SPACE.given(cell)) for cell in CELLS], float)
        return Program(away * draws.uniform(0.005, 0.04), _other(draws))
    number = {"few": 2, "pairs": 3, "curved": 2, "many": k}[kind]
    chosen = draws.choice(k, number, replace=False)
    truth = _CODES[:, chosen] @ draws.normal(0, 0.03 if kind == "many" else 0.06, number)
    if kind == "pairs":
        truth = truth + draws.normal(0, 0.06) * _CODES[:, chosen[0]] * _CODES[:, chosen[1]]
    if kind == "curved":
        truth = truth + draws.normal(0, 0.05) * _CODES[:, chosen[0]] ** 2
    return Program(truth - truth[PLACE[SPACE.default]], _other(draws))


def _other(draws: np.random.Generator) -> Floats:
    """The other figure: two settings change it."""
    chosen = draws.choice(len(SPACE.factors), 2, replace=False)
    values = _CODES[:, chosen] @ draws.normal(0, 0.06, 2)
    return np.asarray(values - values[PLACE[SPACE.default]])


class Drawn:
    """Noise that is drawn: `normal` 3 %, `heavy` with rare runs of twice the time, `drift`."""

    def __init__(self, kind: str, draws: np.random.Generator) -> None:
        self._kind = kind
        self._draws = draws
        self._level = 0.0

    def take(self, runs: int) -> Floats:
        draws = self._draws
        if self._kind == "peak":
            return draws.normal(0, 0.002, runs)
        if self._kind == "heavy":
            return np.asarray(0.02 * draws.standard_t(2, runs))
        if self._kind == "drift":
            self._level += draws.normal(0, 0.02)
            return self._level + draws.normal(0, 0.02, runs)
        return draws.normal(0, 0.03, runs)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a simulated search."""

    winner: int | None
    """The place of the recommended cell; None: keep the default."""
    runs: int
    worse: bool
    """Whether the recommended cell is worse than the default, or above the cap."""
    missed: float
    """By how much the answer is above the best cell under the cap, as a fraction."""


def searched(kind: str, noise: str, cap: float | None, seed: int) -> Outcome:
    """One search on one program."""
    draws = np.random.default_rng((seed, PROGRAMS.index(kind), NOISES.index(noise)))
    truth = program(kind, draws)
    source = Drawn(noise, draws) if noise in DRAWN else Noise(noise, draws)
    search = Search(SPACE, Rules(cap=cap), usual_runs(SPACE))
    while (block := search.wanted()) is not None:
        order = draws.permutation(len(block.cells))
        values = source.take(len(order))
        search.observe(
            {
                block.cells[i]: Measured(
                    float(np.exp(truth.objective[PLACE[block.cells[i]]] + value)),
                    float(np.exp(truth.other[PLACE[block.cells[i]]] + draws.normal(0, 0.003))),
                )
                for i, value in zip(order, values, strict=True)
            }
        )
    found = search.confirmation
    winner = PLACE[search.winner] if found and found.judgement == "better" else None
    limit = np.inf if cap is None else np.log(cap)
    best = truth.objective[truth.other <= limit].min()
    reached = 0.0 if winner is None else float(truth.objective[winner])
    worse = winner is not None and (reached > 0 or bool(truth.other[winner] > limit))
    return Outcome(winner, search.runs, worse, float(np.expm1(reached - best)))
