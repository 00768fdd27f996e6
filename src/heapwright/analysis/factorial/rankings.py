# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Rankings of the allocators: overall, at each level of each factor, at each pair, in each cell.

A ranking averages over combinations of levels in its scope. Only combinations in which all of its
allocators have runs count, so all are judged by the same work. Its table of blocks and allocators
is analysed as a comparison is: Tukey's groups on the blocked model, and simultaneous intervals of
the ratios to the baseline, by bootstrap over blocks from ten blocks on, t-based below. Each ranking
stands for itself: the confidence is not shared among the scopes.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np

from heapwright.analysis import block_bootstrap
from heapwright.analysis.blocked import BlockedFit, Cells, fit
from heapwright.analysis.factorial.grid import Grid, Table, table, within
from heapwright.analysis.factorial.model import Model
from heapwright.analysis.factorial.observed import Floats, Ints, Observed, distinct
from heapwright.analysis.intervals import FEWEST_BOOTSTRAP_BLOCKS, Intervals, dunnett
from heapwright.analysis.letters import compact_letters
from heapwright.analysis.tukey import all_pairs
from heapwright.artefacts.study_analysis.document import Better, Ranking, RankingEntry

ROUNDING = 1e-12
MOST_CELLS = 2000
"""More combinations of levels than this are not ranked one by one."""

Method = Literal["dunnett-t", "dunnett-bootstrap", "none"]
Scope = tuple[tuple[int, int], ...]
"""Columns and numbers of levels; empty: overall."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """The question of a ranking: the level that ratios refer to, and the better direction."""

    baseline: str
    better: Better
    confidence: float
    resamples: int
    seed: int
    failed: Ints
    """Runs that did not end well, by combination and allocator as in the grid."""


def scopes(this: Model, box: Grid) -> list[Scope]:
    """Overall first, then by one factor, by two, and each combination of all."""
    observed = this.observed
    columns = [column for column in observed.varied() if column != box.column]
    found: list[Scope] = [()]
    for size in (1, 2):
        for chosen in combinations(columns, size):
            named, _ = distinct(box.combos[:, chosen])
            if len(named) <= MOST_CELLS:
                found += [tuple(zip(chosen, map(int, row), strict=True)) for row in named]
    if len(columns) > 2 and len(box.combos) <= MOST_CELLS:
        found += [tuple((column, int(row[column])) for column in columns) for row in box.combos]
    return found


def rank(this: Model, box: Grid, scope: Scope, question: Question) -> Ranking | None:
    """The ranking of one scope; None if no allocator has runs there."""
    averaged = table(box, within(box, scope))
    if averaged is None:
        return None
    factor = this.observed.factors[box.column]
    names = [factor.levels[box.levels[place]] for place in averaged.levels]
    model = _fitted(this.observed, averaged, names, question.baseline)
    estimates = averaged.values.mean(axis=0)
    if this.observed.scale == "linear":
        # What is zero in every run must not come out as what sums leave over. A tie between two
        # shown numbers must not depend on the order in which a processor adds.
        largest = np.abs(averaged.values).max()
        if largest > 0:
            estimates = np.round(estimates, -math.ceil(math.log10(ROUNDING * largest))) + 0.0
    sign = -1.0 if question.better == "higher" else 1.0
    low, high, method = _ratios(this.observed, averaged, model, names, question)
    groups = _letters(model, names, sign * estimates, question.confidence)
    means = [this.observed.shown(float(each)) for each in estimates]
    order = sorted(range(len(names)), key=lambda place: (sign * estimates[place], place))
    best = means[order[0]]
    base = names.index(question.baseline) if question.baseline in names else None
    log = this.observed.scale == "log"
    return Ranking(
        scope=_words(this.observed, scope),
        cells=len(averaged.combos),
        left_out=averaged.left_out,
        absent=tuple(factor.levels[box.levels[place]] for place in averaged.absent),
        blocks=len(averaged.values),
        df=model.df if model is not None else 0,
        method=method,
        entries=tuple(
            RankingEntry(
                allocator=names[place],
                place=number,
                mean=means[place],
                percent_over_best=_over(means[place], best, question.better),
                group=groups[place],
                ratio=means[place] / means[base] if log and base is not None else None,
                low=low[place],
                high=high[place],
                runs=int(box.runs[averaged.combos, averaged.levels[place]].sum()),
                failed=int(question.failed[averaged.combos, averaged.levels[place]].sum()),
            )
            for number, place in enumerate(order, 1)
        ),
    )


def _fitted(
    observed: Observed, averaged: Table, names: Sequence[str], baseline: str
) -> BlockedFit | None:
    """The blocked model of the table, the baseline first if it is there.

    It knows logarithms, whose rounding is always the same; other values are brought to their size.
    """
    if len(names) < 2 or not len(averaged.values):
        return None
    order = sorted(range(len(names)), key=lambda place: names[place] != baseline)
    values = averaged.values[:, order]
    if observed.scale == "linear":
        values = values / (np.abs(values).max() or 1.0)
    model = fit(Cells(tuple((names[place], "") for place in order), values))
    df = max(model.df - averaged.filled, 0)
    if df == model.df:
        return model
    # filled-in values do not scatter, so a mean has fewer runs by their number
    sigma = model.sigma * np.sqrt(model.df / df / averaged.share) if df else float("nan")
    return replace(model, df=df, sigma=float(sigma))


def _letters(
    model: BlockedFit | None, names: Sequence[str], estimates: Floats, confidence: float
) -> list[str]:
    """Tukey's groups, in the order of `names`; `estimates` has the best smallest."""
    if model is None or not model.df:
        return [""] * len(names)
    place = {key[0]: number for number, key in enumerate(model.treatments)}
    order = [place[name] for name in names]
    differs = all_pairs(model).differs(confidence)[np.ix_(order, order)]
    return compact_letters([float(each) for each in estimates], differs)


def _ratios(
    observed: Observed,
    averaged: Table,
    model: BlockedFit | None,
    names: Sequence[str],
    question: Question,
) -> tuple[list[float | None], list[float | None], Method]:
    """Bounds of the ratios to the baseline in the order of `names`, and where they are from."""
    none: list[float | None] = [None] * len(names)
    if observed.scale != "log" or model is None or question.baseline not in names:
        return none, none, "none"
    found = intervals(averaged, model, question)
    if found.critical is None:
        return none, none, "none"
    place = {key[0]: number for number, key in enumerate(model.treatments)}
    bounds = [(found.low[place[name]], found.high[place[name]]) for name in names]
    return (
        [float(np.exp(low)) for low, _ in bounds],
        [float(np.exp(high)) for _, high in bounds],
        found.method,
    )


def intervals(averaged: Table, model: BlockedFit, question: Question) -> Intervals:
    """Simultaneous intervals of the effects of a table's model."""
    blocks = len(averaged.values)
    if blocks < FEWEST_BOOTSTRAP_BLOCKS:
        return dunnett(model, question.confidence)
    logs = model.cells.log_values
    weights = block_bootstrap.draws(blocks, question.resamples, question.seed)
    critical, errors = block_bootstrap.simultaneous(
        logs[:, 1:] - logs[:, :1], weights, question.confidence
    )
    half = np.concatenate([[0.0], critical * errors / averaged.share])
    return Intervals("dunnett-bootstrap", critical, model.effects - half, model.effects + half)


def _over(mean: float, best: float, better: Better) -> float | None:
    """How much worse than the best, in per cent; None where the scale has no zero."""
    if mean <= 0 or best <= 0:
        return None
    return 100 * (1 - mean / best) if better == "higher" else 100 * (mean / best - 1)


def _words(observed: Observed, scope: Scope) -> dict[str, str]:
    return {
        observed.factors[column].name: observed.factors[column].levels[number]
        for column, number in scope
    }
