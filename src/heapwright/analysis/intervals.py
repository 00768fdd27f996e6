# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Simultaneous intervals for all ratios to the baseline at once.

All intervals of a response hold together with the stated confidence, for any number of treatments
(Dunnett 1955). Below ten blocks they are t-based. The quantile of the largest |t| comes from the
multivariate t distribution over the true correlation of the contrasts, also with missing runs. From
ten blocks on they do not assume equal or normal scatter. Whole blocks are drawn repeatedly. The
quantile is that of the resampled largest |t|, each t studentised by its own resample. A standard
error is the block-wise sandwich. For complete blocks this is the standard error of the mean of the
blocks' log ratios.

One departure: a resample's standard error is at least half the sample's. A resample without the
only outlier would otherwise have almost no error and a huge t. Peak memory that is equal in all
blocks but one is an example. docs/explanation/methods.md gives the coverage with this floor.

Source: Hothorn, Bretz and Westfall 2008, section 3; Romano and Wolf 2005; Davison and Hinkley 1997,
section 5.2.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from heapwright.analysis import block_bootstrap, many_to_one
from heapwright.analysis.blocked import NO_SCATTER, BlockedFit, Floats, normal_equations
from heapwright.analysis.numerics import multivariate_t
from heapwright.analysis.numerics.distributions import student_quantile
from heapwright.analysis.numerics.roots import root

FEWEST_BOOTSTRAP_BLOCKS = 10
RESAMPLES = 9999
_CHUNK = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Simultaneous intervals on the log scale, shape (k,), the baseline's at 0.

    They are infinite if the runs give no bound. `critical` is the half-width in standard errors;
    None where there is none.
    """

    method: Literal["dunnett-t", "dunnett-bootstrap", "none"]
    critical: float | None
    low: Floats
    high: Floats


def simultaneous(fit: BlockedFit, level: float, seed: int) -> Intervals:
    """The intervals at confidence `level`, by the method that the number of blocks calls for.

    The bootstrap needs ten blocks in which every treatment was seen together with others; `seed`
    makes its draws repeatable.
    """
    if not 0 < level < 1:
        raise ValueError(f"a confidence level lies between 0 and 1, not at {level}")
    if len(fit.treatments) > 1 and fit.runs.min() >= FEWEST_BOOTSTRAP_BLOCKS:
        return bootstrap(fit, level, seed)
    return dunnett(fit, level)


def dunnett(fit: BlockedFit, level: float) -> Intervals:
    """t-based intervals with pooled residual variance.

    Without degrees of freedom they are unbounded; without scatter they have no width.
    """
    errors = fit.sigma * np.sqrt(np.diag(fit.unscaled))
    if len(fit.treatments) < 2:
        return Intervals("none", None, np.zeros(1), np.zeros(1))
    if fit.df == 0:
        unbounded = np.where(np.arange(len(errors)) > 0, np.inf, 0.0)
        return Intervals("none", None, -unbounded, unbounded)
    critical = max_t_quantile(_correlation(fit.unscaled[1:, 1:]), fit.df, level)
    half = critical * errors
    return Intervals("dunnett-t", critical, fit.effects - half, fit.effects + half)


def max_t_quantile(correlation: Floats, df: int, level: float) -> float:
    """The c for which |T_j| <= c holds for all j at once with probability `level`.

    T is multivariate t with the given correlation, shape (p, p), and degrees of freedom. It lies
    between the quantile of one t and Bonferroni's. With runs missing the error is below
    1e-3 (`numerics.multivariate_t`). The responses of one experiment share design and holes, so the
    last answers are kept.
    """
    entries = np.round(correlation, 12).ravel()
    return _max_t_quantile(tuple(entries.tolist()), df, level)


@lru_cache(maxsize=64)
def _max_t_quantile(entries: tuple[float, ...], df: int, level: float) -> float:
    p = math.isqrt(len(entries))
    correlation = np.array(entries).reshape(p, p)
    alone = student_quantile((1 + level) / 2, df)
    if p == 1:
        return alone
    if np.allclose(correlation - np.eye(p) / 2, 0.5, rtol=0, atol=1e-9):
        return many_to_one.quantile(level, p, df)
    bonferroni = student_quantile(1 - (1 - level) / (2 * p), df)

    def excess(c: float) -> float:
        return multivariate_t.chance_within(c, correlation, df) - level

    if excess(alone) >= 0:
        return alone
    if excess(bonferroni) <= 0:
        return bonferroni
    return root(excess, alone, bonferroni, tolerance=1e-5)


def bootstrap(fit: BlockedFit, level: float, seed: int, resamples: int = RESAMPLES) -> Intervals:
    """Intervals from the studentised largest |t| of resampled blocks.

    A contrast without scatter over the blocks gets an interval without width and does not influence
    the quantile. Resamples in which some treatment is not linked to the baseline are left out.
    Cost: O(resamples * blocks * k^2) time, a thousandth of it in memory at a time.
    """
    if fit.cells.seen.all():
        values = fit.cells.log_values
        weights = block_bootstrap.draws(fit.blocks, resamples, seed)
        critical, errors = block_bootstrap.simultaneous(
            values[:, 1:] - values[:, :1], weights, level
        )
    else:
        critical, errors = _with_holes(
            fit, level, block_bootstrap.draws(fit.blocks, resamples, seed)
        )
    half = np.zeros(len(fit.treatments))
    half[1:] = critical * errors
    return Intervals("dunnett-bootstrap", critical, fit.effects - half, fit.effects + half)


def _with_holes(fit: BlockedFit, level: float, weights: Floats) -> tuple[float, Floats]:
    """The quantile of the largest |t| and the standard errors, where some runs are missing."""
    shares, centred = normal_equations(fit.cells)
    shares, centred = shares[:, 1:, 1:], centred[:, 1:]
    errors = _sandwich(shares, centred, np.ones((1, fit.blocks)))[1][0]
    scattered = errors > NO_SCATTER
    if not scattered.any():
        return 0.0, np.zeros_like(errors)
    largest: list[Floats] = []
    for begin in range(0, len(weights), _CHUNK):
        part = weights[begin : begin + _CHUNK]
        effects, own = _sandwich(shares, centred, part[_solvable(shares, part)])
        own = np.maximum(own, block_bootstrap.ERROR_FLOOR * errors)[:, scattered]
        largest.append(
            (np.abs(effects - fit.effects[1:])[:, scattered] / own).max(axis=1, initial=0.0)
        )
    return block_bootstrap.quantile(np.concatenate(largest), level), errors


def _sandwich(shares: Floats, centred: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Effects and their block-wise standard errors for each row of block weights.

    shares (b, p, p), centred (b, p), weights (r, b); both results have shape (r, p).
    """
    inverse = np.linalg.inv(np.tensordot(weights, shares, axes=1))
    effects = (inverse @ (weights @ centred)[:, :, None])[:, :, 0]
    scores = centred - np.tensordot(effects, shares, axes=(1, 2))
    influence = scores @ inverse
    return effects, np.sqrt((weights[:, None, :] @ influence**2)[:, 0, :])


def _solvable(shares: Floats, weights: Floats) -> NDArray[np.bool_]:
    """Which rows of block weights leave every treatment linked to the baseline; shape (r,)."""
    smallest = np.linalg.eigvalsh(np.tensordot(weights, shares, axes=1))[:, 0]
    return np.asarray(smallest > 1e-9)


def _correlation(covariance: Floats) -> Floats:
    scale: Floats = np.sqrt(np.diag(covariance))
    return covariance / (scale[:, None] * scale[None, :])
