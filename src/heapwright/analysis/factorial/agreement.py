# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How far two rankings of the same items agree: Kendall's tau-b (1945), with an interval.

tau is 1 for the same order, -1 for the opposite one; pairs that are tied in either ranking count
for neither. The interval states how certain the order of the *means* is. Whole blocks are drawn
again, and both rankings are computed from the same draw. The interval is the middle part of the
resulting taus (percentiles). With few items tau has few values, and the interval is coarse.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats  # noqa: TID251 - the extra `studies` has it

from heapwright.analysis.blocked import NO_SCATTER, Floats

FEWEST_BLOCKS = 5
"""With fewer there are too few different draws for an interval."""
FEWEST_ITEMS = 3


@dataclass(frozen=True, slots=True)
class Tau:
    """p is the chance of a |tau| so large were the orders unrelated; None where it is not one."""

    tau: float
    low: float | None
    high: float | None
    p: float | None


def tau_b(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Kendall's tau-b of two lists of the same items; None if all are tied in one of them."""
    found = _taus(np.array([one], dtype=np.float64), np.array([other], dtype=np.float64))[0]
    return float(found) if np.isfinite(found) else None


def agreement(one: Floats, other: Floats, confidence: float, weights: Floats) -> Tau | None:
    """tau of the means over blocks of two tables, shape (b, k) each, the same blocks and items.

    A ranking that is given and was not measured has shape (1, k). `weights` is
    `resampling.draws(b, …)`. None with fewer than three items, or if all are tied.
    """
    if one.shape[1] < FEWEST_ITEMS:
        return None
    means = one.mean(axis=0), other.mean(axis=0)
    tau = tau_b(means[0].tolist(), means[1].tolist())
    if tau is None:
        return None
    p = float(stats.kendalltau(*means).pvalue)
    low = high = None
    if max(len(one), len(other)) >= FEWEST_BLOCKS:
        taus = _taus(_resampled(one, weights), _resampled(other, weights))
        taus = taus[np.isfinite(taus)]
        if len(taus):
            tail = (1 - confidence) / 2
            low, high = (float(each) for each in np.quantile(taus, [tail, 1 - tail]))
            low, high = min(low, tau), max(high, tau)
    return Tau(tau, low, high, p if np.isfinite(p) else None)


def _resampled(values: Floats, weights: Floats) -> Floats:
    """The means of each resample, shape (resamples, k)."""
    if len(values) == 1:
        return np.repeat(values, len(weights), axis=0)
    return np.asarray(weights @ values / weights.sum(axis=1, keepdims=True))


def _taus(one: Floats, other: Floats) -> Floats:
    """tau-b of each row; NaN where a row is all ties."""
    first, second = np.triu_indices(one.shape[1], 1)
    signs = _signs(one[:, first] - one[:, second])
    others = _signs(other[:, first] - other[:, second])
    untied = np.sqrt(np.abs(signs).sum(axis=1) * np.abs(others).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray((signs * others).sum(axis=1) / untied)


def _signs(differences: Floats) -> Floats:
    return np.asarray(np.where(np.abs(differences) > NO_SCATTER, np.sign(differences), 0.0))
