# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The effects of a screening: settings, interactions of two, and curvature.

The logarithm of a figure is modelled as block + settings + interactions + curvature + error. A
block runs each cell of the design once, so its level cancels. Effects are those from the low to the
high level. The residuals of the blocks give the error. Curvature is the distance of the centre from
the mean of the corners. Runs far from the model have less weight, because neighbours disturb some
runs.

Source: Montgomery, Design and Analysis of Experiments, chapters 6 and 8; Huber and Ronchetti
(2009), chapter 7.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from heapwright.analysis.blocked import NO_SCATTER
from heapwright.analysis.numerics.distributions import student_quantile, student_tail
from heapwright.analysis.tuning.design import Fraction, column_sign, screening_cells
from heapwright.analysis.tuning.space import Cell, Space

Floats = NDArray[np.float64]
Pair = tuple[int, int]

HUBER = 1.345
"""Beyond this many standard deviations a run loses weight. 95 % efficient for normal noise."""
ITERATIONS = 15
DISTURBED = 5.0
"""A run this many robust standard deviations away from the model was disturbed."""
ACTIVE_LEVEL = 0.1
"""A false alarm costs runs only, so it may be frequent."""
_NORMAL = 1.4826


@dataclass(frozen=True, slots=True)
class Term:
    """One effect: of a setting (one place in `factors`), of interactions (none), or curvature.

    `effect` is a log ratio; `low` and `high` are its bounds, which hold for all settings at once.
    """

    factors: tuple[int, ...]
    pairs: tuple[Pair, ...]
    effect: float
    low: float
    high: float
    squares: float
    p: float

    @property
    def is_curvature(self) -> bool:
        return not self.factors and not self.pairs

    @property
    def most(self) -> float:
        """The largest effect that the bounds allow, as a log ratio."""
        return max(abs(self.low), abs(self.high))


@dataclass(frozen=True, slots=True)
class Screen:
    """The result of a screening."""

    terms: tuple[Term, ...]
    scatter: float
    """Standard deviation of the logarithm of one run."""
    df: int
    disturbed: int
    """Runs far from the model."""

    def main(self, factor: int) -> Term:
        return next(term for term in self.terms if term.factors == (factor,))

    @property
    def curvature(self) -> Term | None:
        return next((term for term in self.terms if term.is_curvature), None)

    def active(self, least: float, most: int) -> tuple[int, ...]:
        """The settings worth a closer look: effects of `least` or more, the largest first.

        An interaction brings both of its settings. Of aliases, the one with the largest effects of
        its settings is believed (heredity).
        """
        size: dict[int, float] = {}
        for term in self.terms:
            if term.p < ACTIVE_LEVEL and abs(term.effect) >= least:
                factors = self.believed(term) if term.pairs else term.factors
                for factor in factors:
                    size[factor] = max(size.get(factor, 0.0), abs(term.effect))
        return tuple(sorted(size, key=lambda factor: -size[factor])[:most])

    def believed(self, term: Term) -> Pair:
        """The interaction of a column that its aliases leave most likely."""
        return max(
            term.pairs, key=lambda p: abs(self.main(p[0]).effect) + abs(self.main(p[1]).effect)
        )

    def predicted(self, space: Space, cell: Cell, used: Sequence[int]) -> float:
        """The log figure of a cell by the effects of `used`, up to a constant."""
        code = [f.code(level) for f, level in zip(space.factors, cell, strict=True)]
        total = sum(self.main(factor).effect * code[factor] for factor in used)
        for term in self.terms:
            if term.pairs and term.p < ACTIVE_LEVEL:
                one, other = self.believed(term)
                if one in used and other in used:
                    total += term.effect * code[one] * code[other]
        return total / 2


def screened(
    space: Space,
    fraction: Fraction,
    blocks: Sequence[Mapping[Cell, float]],
    confidence: float,
) -> Screen:
    """The effects from the figures of all cells of the design, block by block.

    A missing cell is one that failed. Raises ValueError if nothing is there.
    """
    cells = screening_cells(space, fraction)
    signs = dict(zip(cells, range(fraction.runs), strict=True))
    has_centre = space.centre not in signs
    columns = [
        *fraction.masks,
        *(mask for mask in fraction.chains if mask not in fraction.masks),
    ]
    rows: list[list[float]] = []
    values: list[float] = []
    for number, block in enumerate(blocks):
        for cell, figure in block.items():
            if cell not in signs and cell != space.centre:
                continue
            indicator = [float(number == each) for each in range(len(blocks))]
            if cell in signs:
                codes = [float(column_sign(mask, signs[cell])) for mask in columns]
            else:
                codes = [0.0] * len(columns)
            curve = [float(cell not in signs)] if has_centre else []
            rows.append([*indicator, *codes, *curve])
            values.append(math.log(figure))
    if not rows:
        raise ValueError("no cell of the design has a figure")
    fit, disturbed = _fitted(np.array(rows), np.array(values))
    first = len(blocks)
    k = len(fraction.masks)
    critical = student_quantile(1 - (1 - confidence) / (2 * k), fit.df) if fit.df else math.inf
    terms = []
    for place, mask in enumerate(columns):
        pairs = () if place < k else fraction.chains[mask]
        factors = (place,) if place < k else ()
        terms.append(fit.term(first + place, 2.0, float(critical), factors, pairs))
    if has_centre:
        terms.append(fit.term(first + len(columns), 1.0, float(critical), (), ()))
    return Screen(tuple(terms), fit.scatter, fit.df, disturbed)


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    coefficients: Floats
    unscaled: Floats
    scatter: float
    df: int

    def term(
        self,
        column: int,
        factor: float,
        critical: float,
        factors: tuple[int, ...],
        pairs: tuple[Pair, ...],
    ) -> Term:
        effect = factor * float(self.coefficients[column])
        unit = factor * math.sqrt(max(float(self.unscaled[column, column]), 0.0))
        error = max(self.scatter, NO_SCATTER) * unit
        half = critical * error if math.isfinite(critical) else math.inf
        t = abs(effect) / error if error else 0.0
        p = 2 * student_tail(t, self.df) if self.df else 1.0
        squares = (effect / unit) ** 2 if unit else 0.0
        return Term(factors, pairs, effect, effect - half, effect + half, squares, p)


def _fitted(rows: Floats, values: Floats) -> tuple[_Fit, int]:
    """Huber's estimate by reweighted least squares, and the number of disturbed runs.

    Without degrees of freedom, or without scatter, it is that of least squares.
    """
    weights = np.ones(len(values))
    df = len(values) - int(np.linalg.matrix_rank(rows))
    inverse: Floats = np.asarray(np.linalg.pinv(rows.T @ rows), np.float64)
    coefficients = inverse @ rows.T @ values
    if df <= 0:
        return _Fit(coefficients, inverse, 0.0, 0), 0
    for _ in range(ITERATIONS):
        residuals = values - rows @ coefficients
        spread = _NORMAL * float(np.median(np.abs(residuals))) * math.sqrt(len(values) / df)
        if spread < NO_SCATTER:
            break
        weights = np.minimum(1.0, HUBER * spread / np.maximum(np.abs(residuals), NO_SCATTER))
        weighted = rows * weights[:, None]
        coefficients = np.linalg.pinv(rows.T @ weighted) @ weighted.T @ values
    residuals = values - rows @ coefficients
    share = float((weights == 1.0).mean())
    scatter = math.sqrt(float(((weights * residuals) ** 2).sum()) / df) / share
    lost = int((np.abs(residuals) > DISTURBED * spread).sum()) if spread >= NO_SCATTER else 0
    return _Fit(coefficients, inverse, scatter if scatter > NO_SCATTER else 0.0, df), lost
