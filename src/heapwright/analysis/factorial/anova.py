# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The table of the analysis of variance: hosts, blocks, the terms, what remains, the residual.

Terms are tested against pure error, the differences between runs of one treatment within blocks.
Differences between treatments beyond the requested terms (interactions of three factors and more)
are a separate line. They are not part of the error, so neither can hide the other. With one run of
each treatment there is no pure error. Then this line is the error, as is usual for such designs,
and a note states it (Montgomery, Design and Analysis of Experiments, section 6.5).

eta squared is a term's share of the total sum of squares (Cohen 1973), partial eta squared its
share of itself and the residual. Of type 2 the shares need not add up.
"""

from typing import Literal

import numpy as np
from scipy import special  # noqa: TID251 - the extra `studies` has it

from heapwright.analysis.factorial import terms
from heapwright.analysis.factorial.additive import block_squares
from heapwright.analysis.factorial.aligned import UNTESTED, Ranked, aligned_ranks
from heapwright.analysis.factorial.model import Model, between, beyond
from heapwright.analysis.factorial.terms import Squares
from heapwright.artefacts.study_analysis.terms import AnovaTerm

Kind = Literal["host", "block", "factors", "remaining", "residual"]


def anova(this: Model) -> tuple[AnovaTerm, ...]:
    """All lines of the table; empty if there is but one run."""
    if this.observed.runs < 2:
        return ()
    layout = this.layout
    hosts, blocks = block_squares(layout, this.observed.value[:, None])
    rows = []
    if layout.df_hosts:
        rows.append(_line(this, "host", "host", Squares(layout.df_hosts, 0, hosts)))
    if layout.df_blocks:
        rows.append(_line(this, "block", "block", Squares(layout.df_blocks, 0, blocks)))
    squares = terms.sums_of_squares(this.equations, this.right)
    ranked = aligned_ranks(this)
    for term, each, rank in zip(this.equations.terms, squares, ranked, strict=True):
        name = ":".join(this.observed.factors[column].name for column in term)
        rows.append(_line(this, name, "factors", each, rank))
    rows += _last(this)
    return tuple(rows)


def _last(this: Model) -> list[AnovaTerm]:
    """What remains of the treatments, and the residual."""
    rows = []
    squares, df = beyond(this.equations, this.layout, this.right, between(this))
    if df and not this.pooled:
        rows.append(_line(this, "remaining", "remaining", Squares(df, 0, np.array([squares]))))
    if this.df:
        rows.append(
            _line(this, "residual", "residual", Squares(this.df, 0, np.array([_error(this)])))
        )
    return rows


def _line(this: Model, name: str, kind: Kind, found: Squares, rank: Ranked = UNTESTED) -> AnovaTerm:
    squares = max(float(found.sums[0]), 0.0)
    f = None
    if kind != "residual" and found.df > 0 and this.variance:
        f = squares / found.df / this.variance
    total = float(this.found.total[0])
    return AnovaTerm(
        term=name,
        kind=kind,
        df=found.df,
        df_lost=found.lost,
        sum_sq=squares,
        mean_sq=squares / found.df if found.df else None,
        f=f,
        p=None if f is None else float(special.fdtrc(found.df, this.df, f)),
        eta_sq=min(squares / total, 1.0) if total > float(this.found.rounding[0]) else None,
        partial_eta_sq=None if f is None else squares / (squares + _error(this)),
        rank_f=rank.f,
        rank_p=rank.p,
    )


def _error(this: Model) -> float:
    return (this.variance or 0.0) * this.df
