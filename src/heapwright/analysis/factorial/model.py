# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The factorial model of one response: the additive fit and its terms, held together.

Later steps (tables, means, diagnostics) read this and do not fit again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from heapwright.analysis.factorial import terms
from heapwright.analysis.factorial.additive import (
    AdditiveFit,
    Layout,
    block_squares,
    fit,
    lay_out,
    scattered,
)
from heapwright.analysis.factorial.observed import Floats, Observed
from heapwright.analysis.factorial.terms import Equations


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """One response of one set of runs.

    df, variance   of the error that terms are tested against; the variance is None where it is
                   unknown, and 0 where the runs of a treatment do not differ
    pooled         the error is what the treatments differ in beyond the terms, because there is
                   but one run of each
    """

    observed: Observed
    layout: Layout
    found: AdditiveFit
    equations: Equations
    right: Floats
    df: int
    variance: float | None
    pooled: bool

    @property
    def effects(self) -> Floats:
        """The treatments' means at the average block, shape (T,)."""
        return self.found.effects[:, 0]

    @property
    def residuals(self) -> Floats:
        return self.found.residuals[:, 0]

    @property
    def balanced(self) -> bool:
        """Whether every treatment is in every block exactly once."""
        cells = self.observed.treatments * self.observed.blocks
        return self.observed.runs == cells and bool((self.layout.together.data == 1).all())


def model(observed: Observed, named: Sequence[Sequence[str]] = ()) -> Model:
    """Fit the additive model and set up its terms. Needs one run at least."""
    layout = lay_out(observed)
    values = observed.value[:, None]
    found = fit(layout, values)
    these = terms.equations(observed, layout, terms.terms_of(observed, named))
    right = terms.right_side(these, layout, values)
    df, variance, pooled = layout.df_error, None, False
    if df > 0:
        variance = float(found.error[0]) / df if scattered(layout, found)[0] else 0.0
    elif observed.treatments > 1:
        squares, df = beyond(these, layout, right, _between(layout, found, values))
        pooled = df > 0
        variance = squares / df if df > 0 else None
    return Model(observed, layout, found, these, right, max(df, 0), variance, pooled)


def beyond(these: Equations, layout: Layout, right: Floats, between: float) -> tuple[float, int]:
    """Differences of treatments beyond all terms: sum of squares and degrees of freedom."""
    told = terms.sequential(these, right)
    squares = between - sum(float(each.sums[0]) for each in told)
    df = layout.df_treatments - sum(each.df for each in told)
    return max(squares, 0.0), df


def between(this: Model) -> float:
    """The sum of squares of the treatments, adjusted for blocks."""
    return _between(this.layout, this.found, this.observed.value[:, None])


def _between(layout: Layout, found: AdditiveFit, values: Floats) -> float:
    hosts, blocks = block_squares(layout, values)
    return max(float((found.total - found.error - hosts - blocks)[0]), 0.0)
