# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A section of the analysis: the model of one response, over all allocators or for one of them.

What is unusual about its data is said in notes, in plain words.
"""

from itertools import combinations

import numpy as np

from heapwright.analysis.factorial.anova import anova
from heapwright.analysis.factorial.diagnostics import diagnose
from heapwright.analysis.factorial.means import mean_table, pairs
from heapwright.analysis.factorial.model import Model
from heapwright.artefacts.study_analysis.document import Settings
from heapwright.artefacts.study_analysis.terms import AnovaTerm, MeanTable, Section


def section(this: Model, settings: Settings, allocator: str | None = None) -> Section:
    """Everything that is said of one model."""
    observed = this.observed
    table = anova(this)
    varied = observed.varied()
    return Section(
        allocator=allocator,
        runs=observed.runs,
        treatments=observed.treatments,
        blocks=observed.blocks,
        hosts=observed.hosts,
        balanced=this.balanced,
        sums="sequential" if this.equations.orthogonal else "type-2",
        df=this.df,
        residual_sd=None if this.variance is None else float(np.sqrt(this.variance)),
        total_sum_sq=float(this.found.total[0]),
        anova=table,
        diagnostics=diagnose(this),
        means=_means(this, settings),
        pairs=tuple(pair for column in varied for pair in pairs(this, column, settings.confidence)),
        notes=(*_about_runs(this), *_about_error(this), *_about_terms(table)),
    )


def _means(this: Model, settings: Settings) -> tuple[MeanTable, ...]:
    """By each factor, by each two, and by the three that are named."""
    varied = this.observed.varied()
    named = [term for term in this.equations.terms if len(term) > 2]
    chosen = [*((column,) for column in varied), *combinations(varied, 2), *named]
    return tuple(mean_table(this, columns, settings.confidence) for columns in chosen)


def _about_runs(this: Model) -> list[str]:
    observed = this.observed
    cells = observed.treatments * observed.blocks
    said = []
    if observed.runs < cells:
        said.append(
            f"{cells - observed.runs:,} of {cells:,} runs are missing or did not end well, so the "
            "blocks are not balanced. Effects are estimated by least squares on the good runs"
        )
    if observed.hosts > 1:
        said.append(f"the runs are from {observed.hosts} hosts; what these differ in is taken out")
    if not this.equations.orthogonal:
        said.append(
            "the terms are not orthogonal. Each sum of squares is of type 2, adjusted for all "
            "terms that do not contain the term. The shares need not add up to one"
        )
    return said


def _about_error(this: Model) -> list[str]:
    observed = this.observed
    if this.pooled:
        return [
            "there is one run of each treatment, so there is no pure error: the interactions that "
            "have no term serve as the error"
        ]
    if this.variance is None:
        few = "one block" if observed.blocks == 1 else "too few runs"
        return [f"there is {few}: nothing can be tested, and there are no intervals"]
    if not this.variance:
        return [
            "runs of the same treatment do not differ at all: every difference is real, and there "
            "is nothing to test it against"
        ]
    return []


def _about_terms(table: tuple[AnovaTerm, ...]) -> list[str]:
    lost = [f"{each.term} {each.df_lost}" for each in table if each.df_lost]
    if not lost:
        return []
    return [
        "the combinations that have runs do not tell all interactions from other terms; degrees of "
        f"freedom lost: {', '.join(lost)}"
    ]
