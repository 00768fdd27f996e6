# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Means by a factor or a combination of factors, their intervals, and Tukey's groups among them.

A mean is over treatments. Each counts alike, with any number of good runs. If rows have different
combinations of the other factors (a constraint, a treatment that always failed), only the common
ones are averaged. Otherwise rows could not be compared.

The interval of a mean is t-based, with blocks removed. It uses the scatter of its own runs if that
has ten degrees of freedom, else that of all runs. Groups are by Tukey's honest significant
difference (Kramer's form) on the blocked model with its one variance. The covariance of two means
is exact, also with missing runs.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats  # noqa: TID251 - the extra `studies` has it

from heapwright.analysis import studentized_range
from heapwright.analysis.factorial.model import Model
from heapwright.analysis.factorial.observed import Floats, Ints, distinct
from heapwright.analysis.letters import compact_letters
from heapwright.artefacts.study_analysis.terms import Mean, MeanTable, Pair

OWN_SCATTER = 10
"""Degrees of freedom from which on a mean's interval uses the scatter of its own runs."""
MOST_GROUPED = 100
"""A table of more means than this is not divided into groups, because they would be unreadable."""
MOST_PAIRED = 40
"""With more levels than this, pairs are not compared one by one."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The rows of a table: m means of T treatments.

    levels   (m, F)  numbers of the levels
    row      (T,)    the row of each treatment; -1 for a treatment that is not averaged
    cells            treatments in each row
    apart            no combination is in all rows: they cannot be compared
    left_out         treatments that are not averaged
    """

    levels: Ints
    row: Ints
    cells: int
    apart: bool
    left_out: int


def rows_of(this: Model, columns: Sequence[int]) -> Rows:
    """Which treatments make up each row of the table by the factors in `columns`."""
    levels = this.observed.levels
    others = [column for column in range(levels.shape[1]) if column not in columns]
    named, row = distinct(levels[:, list(columns)])
    _, rest = distinct(levels[:, others])
    shared = np.bincount(rest) == len(named)
    if not shared.any():
        return Rows(named, row, 0, True, 0)
    kept = shared[rest]
    return Rows(named, np.where(kept, row, -1), int(shared.sum()), False, int((~kept).sum()))


def mean_table(this: Model, columns: Sequence[int], confidence: float) -> MeanTable:
    """The means by the factors in `columns`, the rows in the order of the levels."""
    rows = rows_of(this, columns)
    factors = [this.observed.factors[column] for column in columns]
    estimates, half = _intervals(this, rows, confidence)
    groups = _groups(this, rows, estimates, confidence)
    runs = _sums(rows, this.layout.counts)
    shown = this.observed.shown
    return MeanTable(
        factors=tuple(factor.name for factor in factors),
        rows=tuple(
            Mean(
                levels=tuple(
                    factor.levels[number] for factor, number in zip(factors, named, strict=True)
                ),
                mean=shown(estimates[place]),
                low=shown(estimates[place] - half[place]) if np.isfinite(half[place]) else None,
                high=shown(estimates[place] + half[place]) if np.isfinite(half[place]) else None,
                runs=int(runs[place]),
                treatments=int((rows.row == place).sum()),
                group=groups[place],
            )
            for place, named in enumerate(rows.levels)
        ),
        note=_note(rows),
    )


def pairs(this: Model, column: int, confidence: float) -> tuple[Pair, ...]:
    """All pairs of levels of one factor; none where levels cannot be compared, or are too many."""
    rows = rows_of(this, (column,))
    if rows.apart or not 1 < len(rows.levels) <= MOST_PAIRED or this.variance is None:
        return ()
    factor = this.observed.factors[column]
    estimates = _estimates(this, rows)
    error = np.sqrt(this.variance * _variances(this, rows) / 2)
    upper = np.triu_indices(len(estimates), 1)
    difference = (estimates[:, None] - estimates[None, :])[upper]
    chances = _chances(difference, error[upper], len(estimates), this.df)
    critical = studentized_range.quantile(confidence, len(estimates), this.df)
    shown = this.observed.shown
    return tuple(
        Pair(
            factor=factor.name,
            one=factor.levels[rows.levels[i, 0]],
            other=factor.levels[rows.levels[j, 0]],
            difference=shown(apart),
            low=shown(apart - critical * own),
            high=shown(apart + critical * own),
            p=chance,
        )
        for i, j, apart, own, chance in zip(*upper, difference, error[upper], chances, strict=True)
    )


def _chances(difference: Floats, error: Floats, k: int, df: int) -> list[float]:
    """Adjusted p values of differences; without scatter a difference is certain."""
    found = np.where(np.abs(difference) > 0, 0.0, 1.0)
    real = error > 0
    found[real] = studentized_range.survival(np.abs(difference[real]) / error[real], k, df)
    return [float(each) for each in found]


def _groups(this: Model, rows: Rows, estimates: Floats, confidence: float) -> list[str]:
    count = len(estimates)
    if rows.apart or this.variance is None or not 1 < count <= MOST_GROUPED:
        return [""] * count
    critical = studentized_range.quantile(confidence, count, this.df)
    half = critical * np.sqrt(this.variance * _variances(this, rows) / 2)
    rounding = 1e-12 * float(np.abs(estimates).max())
    differs = np.abs(estimates[:, None] - estimates[None, :]) > np.maximum(half, rounding)
    return compact_letters([float(each) for each in estimates], differs)


def _estimates(this: Model, rows: Rows) -> Floats:
    counted = np.bincount(rows.row[rows.row >= 0], minlength=len(rows.levels))
    return _sums(rows, this.effects) / counted


def _sums(rows: Rows, values: NDArray[np.float64]) -> Floats:
    """Of a figure per treatment, over the treatments of each row."""
    kept = rows.row >= 0
    return np.asarray(
        np.bincount(rows.row[kept], values[kept], minlength=len(rows.levels)), dtype=np.float64
    )


def _intervals(this: Model, rows: Rows, confidence: float) -> tuple[Floats, Floats]:
    """The means and the half-widths of their intervals; infinite if unknown."""
    estimates = _estimates(this, rows)
    half = np.full(len(estimates), np.inf)
    if this.variance is None or not this.df:
        return estimates, half
    counts = this.layout.counts
    counted = np.bincount(rows.row[rows.row >= 0], minlength=len(rows.levels))
    unscaled = _sums(rows, 1 / counts) / counted**2
    df = np.full(len(estimates), float(this.df))
    variance = np.full(len(estimates), this.variance)
    if not this.pooled:
        share = this.df / (this.observed.runs - this.observed.treatments)
        own = _sums(rows, (counts - 1) * share)
        squares = _sums(rows, np.asarray(this.layout.by_treatment @ this.residuals**2))
        enough = own >= OWN_SCATTER
        df[enough] = own[enough]
        variance[enough] = squares[enough] / own[enough]
    half = stats.t.ppf((1 + confidence) / 2, df) * np.sqrt(variance * unscaled)
    return estimates, np.asarray(half)


def _variances(this: Model, rows: Rows) -> Floats:
    """The variance of each difference of two means over that of the error, shape (m, m)."""
    kept = rows.row >= 0
    counted = np.bincount(rows.row[kept], minlength=len(rows.levels)).astype(np.float64)
    average = sparse.csr_array(
        (1 / counted[rows.row[kept]], (rows.row[kept], np.flatnonzero(kept))),
        shape=(len(rows.levels), len(rows.row)),
    )
    over = 1 / this.layout.counts
    own = np.asarray((average * average) @ over)
    met = (average @ sparse.diags_array(over) @ this.layout.together.T).toarray()
    covariance = np.diag(own) + met @ this.layout.within @ met.T
    variance = covariance.diagonal()
    found = variance[:, None] + variance[None, :] - 2 * covariance
    np.fill_diagonal(found, 0.0)
    return np.asarray(np.maximum(found, 0.0))


def _note(rows: Rows) -> str:
    if rows.apart:
        return "no combination of the other factors is in all rows: they cannot be compared"
    if rows.left_out:
        return (
            f"over the {rows.cells} combinations of the other factors that all rows have; "
            f"{rows.left_out} treatments are left out"
        )
    return ""
