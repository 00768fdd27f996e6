# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The rank-based analysis of variance: aligned ranks.

Ranks ask for neither normal errors nor a fitting scale, but ranking the values themselves gives
interactions where there are none. So each term has ranks of its own: of the residuals plus that
term's effect alone, everything else taken out (Higgins and Tashtoush 1994, Nonlinear World 1;
Wobbrock and others 2011, CHI). The analysis of variance of these ranks is read at that term only.
"""

from dataclasses import dataclass

import numpy as np
from scipy import special, stats

from heapwright.analysis.factorial import terms
from heapwright.analysis.factorial.additive import fit, scattered
from heapwright.analysis.factorial.model import Model
from heapwright.analysis.factorial.observed import Floats

DIGITS = 10
"""Of the aligned values, in units of the largest: what differs less is equal."""
_AT_ONCE = 8


@dataclass(frozen=True, slots=True)
class Ranked:
    """The test of one term; None where nothing can be tested."""

    f: float | None
    p: float | None


UNTESTED = Ranked(None, None)


def aligned_ranks(this: Model) -> list[Ranked]:
    """One test a term of the model. Cost: a sort of the runs and a fit for each."""
    if this.pooled or not this.variance:
        return [UNTESTED] * len(this.equations.terms)
    weights = terms.coefficients(this.equations, this.right)
    count = len(this.equations.terms)
    found: list[Ranked] = []
    for begin in range(0, count, _AT_ONCE):
        numbers = range(begin, min(begin + _AT_ONCE, count))
        ranks = np.column_stack([_ranks(this, weights, number) for number in numbers])
        found += _tested(this, ranks, numbers)
    return found


def _tested(this: Model, ranks: Floats, numbers: range) -> list[Ranked]:
    """The tests of some of the terms, whose ranks are fitted at once."""
    layout, these = this.layout, this.equations
    right = terms.right_side(these, layout, ranks)
    ranked = fit(layout, ranks)
    real = scattered(layout, ranked)
    found: list[Ranked] = []
    if these.orthogonal:
        squares = [terms.sequential(these, right)[number] for number in numbers]
    else:
        squares = [terms.type_2(these, right, number) for number in numbers]
    for column, each in enumerate(squares):
        if not each.df or not real[column]:
            found.append(UNTESTED)
            continue
        error = float(ranked.error[column]) / layout.df_error
        f = float(each.sums[column]) / each.df / error
        found.append(Ranked(f, float(special.fdtrc(each.df, layout.df_error, f))))
    return found


def _ranks(this: Model, weights: Floats, number: int) -> Floats:
    """The ranks of the residuals plus one term's effect, shape (n,); equal values share theirs."""
    effect = terms.effect(this.equations, weights, number)[:, 0]
    aligned = this.residuals + effect[this.observed.treatment]
    largest = float(np.abs(aligned).max(initial=0.0))
    rounded = np.round(aligned / (largest or 1.0), DIGITS)
    return np.asarray(stats.rankdata(rounded), dtype=np.float64)
