# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A model of the figure over the grid, from all runs of the search so far.

The logarithm of a figure is block + a term for each level of each active setting + interactions of
two. Settings that are not active have a straight line. The model uses every run, so it predicts a
cell better than the few runs of this cell, as far as the model is right.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from heapwright.analysis.tuning.space import Cell, Space

Floats = NDArray[np.float64]
Pair = tuple[int, int]

RIDGE = 0.3
"""Pulls terms that few runs tell apart towards 0."""
HUBER = 1.345
_NORMAL = 1.4826
_ITERATIONS = 8


def surface(
    space: Space,
    active: Sequence[int],
    pairs: Sequence[Pair],
    blocks: Sequence[Mapping[Cell, float]],
) -> Callable[[Cell], float]:
    """The log ratio of a cell to the default, from log figures of all blocks."""
    rows: list[Floats] = []
    values: list[float] = []
    for number, block in enumerate(blocks):
        for cell, value in block.items():
            indicator = np.zeros(len(blocks))
            indicator[number] = 1
            rows.append(np.concatenate((indicator, _terms(space, active, pairs, cell))))
            values.append(value)
    coefficients = _ridge(np.array(rows), np.array(values), len(blocks))[len(blocks) :]
    default = _terms(space, active, pairs, space.default)

    def predicted(cell: Cell) -> float:
        return float((_terms(space, active, pairs, cell) - default) @ coefficients)

    return predicted


def _terms(space: Space, active: Sequence[int], pairs: Sequence[Pair], cell: Cell) -> Floats:
    code = [f.code(level) for f, level in zip(space.factors, cell, strict=True)]
    terms: list[float] = []
    for place, factor in enumerate(space.factors):
        if place in active:
            terms += [
                float(cell[place] == level) for level in factor.places if level != factor.default
            ]
        else:
            terms.append(code[place])
    terms += [code[one] * code[other] for one, other in pairs]
    return np.array(terms)


def _ridge(rows: Floats, values: Floats, free: int) -> Floats:
    """Huber's estimate with a ridge on all columns but the first `free`."""
    penalty = np.diag([0.0] * free + [RIDGE] * (rows.shape[1] - free))
    weights = np.ones(len(values))
    coefficients: Floats = np.zeros(rows.shape[1])
    for _ in range(_ITERATIONS):
        weighted = rows * weights[:, None]
        solved = np.linalg.solve(rows.T @ weighted + penalty, weighted.T @ values)
        coefficients = np.asarray(solved, np.float64)
        residuals = np.abs(values - rows @ coefficients)
        spread = max(_NORMAL * float(np.median(residuals)), 1e-9)
        weights = np.minimum(1.0, HUBER * spread / np.maximum(residuals, 1e-12))
    return coefficients
