# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The blocked log-linear model: log y = block + treatment + error.

On the log scale a treatment's effect is a factor. An event that slows a whole block cancels in the
comparison. Failed runs leave holes, so the model is fitted by least squares on incomplete blocks.
Blocks are eliminated by centring within each. This leaves the reduced normal equations A t = c with
A = sum_i (diag(m_i) - m_i m_i' / n_i). Here m_i marks the treatments seen in block i, and n_i
counts them. The same A_i and c_i, weighted, serve the bootstrap in `intervals`.

The baseline's effect is fixed at zero, so an effect is the logarithm of a ratio to the baseline.

Source: Montgomery, Design and Analysis of Experiments, section 4.4; Searle, Linear Models, chapter
7.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from heapwright.analysis.numerics.distributions import fisher_tail
from heapwright.artefacts.comparison.document import Key, Response, Term
from heapwright.artefacts.run.measured import Outcome, Run

Floats = NDArray[np.float64]

NO_SCATTER = 1e-12
"""Residual deviations of a logarithm below this are rounding, not scatter."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """One response of all good measured runs, with a row for each block and a column for each
    treatment.

    `log_values` has shape (blocks, treatments) and is NaN where there is no good run. The baseline
    is column 0.
    """

    treatments: tuple[Key, ...]
    log_values: Floats

    @property
    def seen(self) -> NDArray[np.bool_]:
        """Where there is a value; shape (blocks, treatments)."""
        return np.isfinite(self.log_values)


@dataclass(frozen=True, slots=True, eq=False)
class BlockedFit:
    """The fitted model of one response; k treatments, the baseline first.

    effects    (k,)    log ratios to the baseline; the first is 0
    unscaled   (k, k)  their covariance divided by the residual variance; first row and column 0
    runs       (k,)    good runs used
    sigma      residual standard deviation; NaN without degrees of freedom, 0 without scatter
    residuals  (b, k)  NaN where there is no value
    """

    cells: Cells
    effects: Floats
    unscaled: Floats
    runs: NDArray[np.int_]
    df: int
    sigma: float
    residuals: Floats
    anova: tuple[Term, ...]

    @property
    def treatments(self) -> tuple[Key, ...]:
        return self.cells.treatments

    @property
    def blocks(self) -> int:
        return int(self.cells.log_values.shape[0])


def value_of(run: Run, response: Response) -> float | None:
    """The value of `response` in `run`; None if it was not measured or is below resolution."""
    value: float | None
    if response == "time":
        value = run.wall_s
    elif response == "memory":
        value = run.peak_rss_bytes
    elif response != "cpu":
        value = run.measures.get(response)
    else:
        known = run.user_s is not None and run.sys_s is not None
        value = (run.user_s or 0.0) + (run.sys_s or 0.0) if known else None
    return value if value is not None and value > 0 else None


def tabulate(runs: Iterable[Run], response: Response, treatments: Sequence[Key]) -> Cells:
    """Sort the good measured runs of `treatments` into cells.

    Warm-ups, runs that did not end well and runs of other treatments are left out; so are blocks
    without any value. Raises ValueError if a block has two good runs of one treatment.
    """
    column = {key: number for number, key in enumerate(treatments)}
    rows: dict[int, Floats] = {}
    for run in runs:
        where = column.get((run.allocator, run.level))
        value = value_of(run, response)
        if run.warmup or run.outcome is not Outcome.OK or where is None or value is None:
            continue
        row = rows.setdefault(run.block, np.full(len(treatments), np.nan))
        if np.isfinite(row[where]):
            raise ValueError(f"block {run.block} has two good runs of {run.allocator}")
        row[where] = np.log(value)
    values = [rows[block] for block in sorted(rows)]
    table = np.array(values) if values else np.empty((0, len(treatments)))
    return Cells(tuple(treatments), table)


def comparable(cells: Cells) -> Cells:
    """The part of `cells` that can be compared with the baseline.

    A treatment is kept if a chain of shared blocks leads from it to the baseline. A block is kept
    if it has at least two of these treatments. Without a value for the baseline, only its empty
    column remains.
    """
    seen = cells.seen
    linked = np.zeros(len(cells.treatments), dtype=bool)
    linked[0] = seen[:, 0].any()
    while True:
        in_blocks = seen[:, linked].any(axis=1)
        reached = linked | seen[in_blocks].any(axis=0)
        if (reached == linked).all():
            break
        linked = reached
    linked[0] = True
    columns = np.flatnonzero(linked)
    kept = cells.log_values[:, columns]
    enough = np.isfinite(kept).sum(axis=1) >= 2
    return Cells(tuple(cells.treatments[c] for c in columns), kept[enough])


def normal_equations(cells: Cells) -> tuple[Floats, Floats]:
    """Each block's share of the reduced normal equations.

    Returns A_i, shape (b, k, k), and c_i, shape (b, k), over all k treatments. Their sums over a
    multiset of blocks, without the row and column of the baseline, are the equations of the
    effects.
    """
    seen = cells.seen.astype(float)
    count = seen.sum(axis=1)
    values = np.where(cells.seen, cells.log_values, 0.0)
    outer = seen[:, :, None] * seen[:, None, :] / count[:, None, None]
    shares = np.eye(seen.shape[1]) * seen[:, :, None] - outer
    centred = seen * (values - (values.sum(axis=1) / count)[:, None])
    return shares, centred


def fit(cells: Cells) -> BlockedFit:
    """Fit the model to cells that `comparable` returned.

    With one block, or whenever the parameters use up all runs, `df` is 0 and `sigma` is NaN: there
    are point estimates only. Raises ValueError if some treatment is not linked to the baseline.
    """
    blocks, k = cells.log_values.shape
    effects = np.zeros(k)
    unscaled = np.zeros((k, k))
    shares, centred = normal_equations(cells)
    if k > 1:
        matrix = shares.sum(axis=0)[1:, 1:]
        if not cells.seen.all() and np.linalg.matrix_rank(matrix) < k - 1:
            raise ValueError("a treatment shares no block with the others")
        unscaled[1:, 1:] = np.linalg.inv(matrix)
        effects[1:] = unscaled[1:, 1:] @ centred.sum(axis=0)[1:]
    residuals = np.where(cells.seen, centred - shares @ effects, np.nan)
    df = max(int(cells.seen.sum()) - blocks - (k - 1), 0)
    sigma = float(np.sqrt(np.nansum(residuals**2) / df)) if df else float("nan")
    if sigma < NO_SCATTER:
        sigma = 0.0
    return BlockedFit(
        cells=cells,
        effects=effects,
        unscaled=unscaled,
        runs=cells.seen.sum(axis=0),
        df=df,
        sigma=sigma,
        residuals=residuals,
        anova=_anova(cells, centred, effects, sigma, df),
    )


def scatter_is_unequal(fit: BlockedFit) -> bool:
    """Whether the treatments clearly differ in scatter, which pooled intervals assume they do not.

    Brown and Forsythe's test (1974) on the residuals at 5 %; a warning sign, not a proof, because
    residuals within a block are dependent.
    """
    if not fit.df or not fit.sigma or fit.runs.min() < 3 or len(fit.treatments) < 3:
        return False
    columns = [column[np.isfinite(column)] for column in fit.residuals.T]
    return _brown_forsythe(columns) < 0.05


def _brown_forsythe(groups: Sequence[Floats]) -> float:
    """The chance of distances from the medians that differ as much among groups of one scatter."""
    distances = [np.abs(group - np.median(group)) for group in groups]
    everything = np.concatenate(distances)
    means = [each.mean() for each in distances]
    between = sum(
        len(each) * (mean - everything.mean()) ** 2
        for each, mean in zip(distances, means, strict=True)
    )
    within = sum(((each - mean) ** 2).sum() for each, mean in zip(distances, means, strict=True))
    first, second = len(groups) - 1, len(everything) - len(groups)
    if within == 0:
        return 1.0 if between == 0 else 0.0
    return fisher_tail(first, second, float(between / first / (within / second)))


def _anova(
    cells: Cells, centred: Floats, effects: Floats, sigma: float, df: int
) -> tuple[Term, ...]:
    """Sequential sums of squares: blocks first, treatments adjusted for them.

    eta squared is a term's share of the total sum of squares about the mean (Cohen 1973). Without
    degrees of freedom or without scatter there is no F.
    """
    values = cells.log_values[cells.seen]
    if not values.size:
        return ()
    blocks, k = cells.log_values.shape
    total = float(((values - values.mean()) ** 2).sum())
    within = float((centred**2).sum())
    treatment = float(effects @ centred.sum(axis=0))
    rounding = values.size * NO_SCATTER**2

    def term(name: Literal["block", "treatment", "residual"], squares: float, freedom: int) -> Term:
        tested = name != "residual" and freedom > 0 and df > 0 and sigma > 0
        f = squares / freedom / sigma**2 if tested else None
        return Term(
            term=name,
            sum_of_squares=max(squares, 0.0),
            df=freedom,
            f=f,
            p=fisher_tail(freedom, df, f) if f is not None else None,
            eta_squared=min(max(squares / total, 0.0), 1.0) if total > rounding else None,
        )

    return (
        term("block", total - within, blocks - 1),
        term("treatment", treatment, k - 1),
        term("residual", within - treatment, df),
    )
