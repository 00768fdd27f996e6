# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Synthetic programs with known optima, and searches on them.

The true logarithm of a figure is a sum over settings (linear and curved), and over pairs of
settings. A level outside of the grid lies a quarter of a step from the level that it is near. It
can be better than every cell of the grid. The noise of consecutive runs is recorded
(`race/noise.csv`, with the drift of its machine) or drawn.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from heapwright.analysis.tuning.search import Rules, Search, usual_runs
from heapwright.analysis.tuning.space import Cell, Factor, Measured, Space
from support.recorded_noise import Noise

Floats = NDArray[np.float64]
Truth = Callable[[Floats], Floats]
"""The log ratios of cells to the default, from their codes of shape (cells, settings)."""

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
NEAR = {
    "arena_max": (("4", 0), ("8", 1)),
    "tcache_count": (("11", 0), ("31", 2), ("508", 2)),
    "tcache_max": (("16", 0), ("1024", 1)),
    "mmap_threshold": (("16384", 0), ("262144", 0), ("8388608", 2)),
    "trim_threshold": (("16384", 0), ("262144", 0), ("268435456", 2), ("4294967296", 2)),
    "top_pad": (("4096", 0), ("4194304", 2), ("67108864", 2)),
    "hugetlb": (),
}
FINER = Space(tuple(replace(each, finer=NEAR[each.name]) for each in SPACE.factors))
"""The same grid, with the finer levels that `--finer` gives."""
QUARTER_STEP = 0.25
PROGRAMS = ("none", "worse", "few", "pairs", "curved", "many")
DRAWN = ("normal", "heavy", "drift", "peak")
NOISES = ("python_cpu", "compiler_cpu", "perl_cpu", "perl_wall", *DRAWN)
CAPS = (None, 1.05)
"""Of the other figure: none, or 5 % above the default."""


@dataclass(frozen=True, slots=True)
class Program:
    """The truth about one program."""

    objective: Truth
    other: Truth


def _code(factor: Factor, level: int) -> float:
    """The true place of a level on the scale on which the grid goes from -1 to 1."""
    if level <= factor.high:
        return factor.code(level)
    text, near = factor.finer[level - len(factor.levels)]
    side = 1 if int(text) > int(factor.levels[near]) else -1
    return factor.code(near) + side * QUARTER_STEP


def codes_of(cells: Sequence[Cell]) -> Floats:
    return np.array([[_code(f, i) for f, i in zip(FINER.factors, c, strict=True)] for c in cells])


CELLS = list(itertools.product(*(range(len(f.levels)) for f in SPACE.factors)))
_CODES = codes_of(CELLS)
_DEFAULT = codes_of([SPACE.default])


def _relative(values: Truth) -> Truth:
    base = values(_DEFAULT)
    return lambda codes: np.asarray(values(codes) - base)


def program(kind: str, draws: np.random.Generator) -> Program:
    """A program of one kind. `none`: nothing has an effect. `worse`: every change costs."""
    k = len(SPACE.factors)
    if kind == "none":
        return Program(lambda codes: np.zeros(len(codes)), _other(draws))
    if kind == "worse":
        cost = draws.uniform(0.005, 0.04)
        return Program(lambda codes: cost * (codes != _DEFAULT).sum(axis=1), _other(draws))
    number = {"few": 2, "pairs": 3, "curved": 2, "many": k}[kind]
    chosen = draws.choice(k, number, replace=False)
    slopes = draws.normal(0, 0.03 if kind == "many" else 0.06, number)
    pair = draws.normal(0, 0.06) if kind == "pairs" else 0.0
    curve = draws.normal(0, 0.05) if kind == "curved" else 0.0

    def truth(codes: Floats) -> Floats:
        first, second = codes[:, chosen[0]], codes[:, chosen[1]]
        return np.asarray(codes[:, chosen] @ slopes + pair * first * second + curve * first**2)

    return Program(_relative(truth), _other(draws))


def _other(draws: np.random.Generator) -> Truth:
    """The other figure: two settings change it."""
    chosen = draws.choice(len(SPACE.factors), 2, replace=False)
    slopes = draws.normal(0, 0.06, 2)
    return _relative(lambda codes: np.asarray(codes[:, chosen] @ slopes))


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

    winner: Cell | None
    """The recommended cell; None: keep the default."""
    runs: int
    worse: bool
    """Whether the recommended cell is worse than the default, or above the cap."""
    missed: float
    """By how much the answer is above the best cell of the grid under the cap, as a fraction."""


def searched(kind: str, noise: str, cap: float | None, seed: int, space: Space = SPACE) -> Outcome:
    """One search on one program."""
    draws = np.random.default_rng((seed, PROGRAMS.index(kind), NOISES.index(noise)))
    truth = program(kind, draws)
    source = Drawn(noise, draws) if noise in DRAWN else Noise(noise, draws)
    search = Search(space, Rules(cap=cap), usual_runs(space))
    while (block := search.wanted()) is not None:
        order = draws.permutation(len(block.cells))
        values = source.take(len(order))
        codes = codes_of(block.cells)
        objective, other = truth.objective(codes), truth.other(codes)
        search.observe(
            {
                block.cells[i]: Measured(
                    float(np.exp(objective[i] + value)),
                    float(np.exp(other[i] + draws.normal(0, 0.003))),
                )
                for i, value in zip(order, values, strict=True)
            }
        )
    found = search.confirmation
    winner = search.winner if found and found.judgement == "better" else None
    limit = np.inf if cap is None else np.log(cap)
    best = truth.objective(_CODES)[truth.other(_CODES) <= limit].min()
    code = codes_of([winner or space.default])
    reached = float(truth.objective(code)[0])
    worse = winner is not None and (reached > 0 or bool(truth.other(code)[0] > limit))
    return Outcome(winner, search.runs, worse, float(np.expm1(reached - best)))
