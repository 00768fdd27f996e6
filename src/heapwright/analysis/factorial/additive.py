# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The additive blocked model: y = host + block + treatment + error.

Each treatment has a mean of its own here, so what is left over is pure error: what two runs of the
same thing differ by within their blocks. It is what every other step is judged against.

Hosts and blocks (the *nuisance*, W with q columns) are few, treatments may be thousands, so the
treatments are eliminated: M g = W'y - N D^-1 T'y with M = W'W - N D^-1 N', where N = W'T counts
runs and D has the runs of each treatment (Searle, Linear Models, chapter 7). Nothing of the size of
runs times parameters is ever made: memory is a few arrays of n numbers, time O(n + q^2 T).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from heapwright.analysis.factorial.observed import Floats, Ints, Observed

RANK_TOLERANCE = 1e-9
NO_SCATTER = 1e-12
"""Residuals below this, in units of the largest value, are rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """Which runs there are, whatever they say; q nuisance columns, T treatments.

    nuisance  (n, q)  sparse, one-hot for the hosts (if there are several) and for the blocks
    counts    (T,)    runs of each treatment
    together  (q, T)  runs of each nuisance column and treatment
    within    (q, q)  generalised inverse of M above
    across    (q, q)  generalised inverse of W'W
    df_nuisance       hosts and blocks by themselves, the mean not counted
    df_treatments     treatments, adjusted for hosts and blocks
    df_error          pure error
    """

    treatment: Ints
    nuisance: sparse.csr_array
    hosts: int
    counts: Floats
    together: sparse.csr_array
    within: Floats
    across: Floats
    df_hosts: int
    df_nuisance: int
    df_treatments: int
    df_error: int

    @property
    def runs(self) -> int:
        return len(self.treatment)

    def by_treatment(self, values: Floats) -> Floats:
        """Sums over the runs of each treatment; values (n,) or (n, r)."""
        return np.asarray(self._incidence().T @ values)

    def _incidence(self) -> sparse.csr_array:
        return _one_hot(self.treatment, len(self.counts))


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveFit:
    """The fitted model for r responses at once.

    effects    (T, r)  the treatments' means at the average host and block
    nuisance   (q, r)  what hosts and blocks add, zero on average over the blocks
    residuals  (n, r)
    error      (r,)    sum of squares of the residuals
    total      (r,)    sum of squares about the mean
    rounding   (r,)    a sum of squares below this is rounding
    """

    effects: Floats
    nuisance: Floats
    residuals: Floats
    error: Floats
    total: Floats
    rounding: Floats


def lay_out(observed: Observed) -> Layout:
    """What depends on the design alone."""
    parts = [_one_hot(observed.host, observed.hosts)] if observed.hosts > 1 else []
    parts.append(_one_hot(observed.block, observed.blocks))
    nuisance = sparse.csr_array(sparse.hstack(parts))
    counts = observed.counts.astype(np.float64)
    together = sparse.csr_array(nuisance.T @ _one_hot(observed.treatment, observed.treatments))
    crossed = np.asarray((nuisance.T @ nuisance).todense(), dtype=np.float64)
    shared = np.asarray((together * (1 / counts)[None, :] @ together.T).todense())
    within, rank_within = inverse(crossed - shared, crossed.diagonal())
    across, rank_across = inverse(crossed, crossed.diagonal())
    hosts = observed.hosts if observed.hosts > 1 else 0
    return Layout(
        treatment=observed.treatment,
        nuisance=nuisance,
        hosts=hosts,
        counts=counts,
        together=together,
        within=within,
        across=across,
        df_hosts=max(hosts - 1, 0),
        df_nuisance=rank_across - 1,
        df_treatments=observed.treatments + rank_within - rank_across,
        df_error=observed.runs - observed.treatments - rank_within,
    )


def inverse(matrix: Floats, size: Floats) -> tuple[Floats, int]:
    """Generalised inverse and rank of a positive semidefinite matrix.

    `size` (q,) is what its entries are made of: what is a billionth of that is rounding.
    """
    values, vectors = np.linalg.eigh(matrix)
    real = values > RANK_TOLERANCE * max(float(size.max(initial=0.0)), 1e-300)
    kept = vectors[:, real]
    return np.asarray((kept / values[real]) @ kept.T), int(real.sum())


def fit(layout: Layout, values: Floats) -> AdditiveFit:
    """Fit r responses, shape (n, r), by least squares."""
    centre = values.mean(axis=0)
    deviations = values - centre
    # twice, from what the first pass leaves: with little error beside large effects the first
    # alone would leave its rounding in the residuals
    effects, nuisance = _solve(layout, deviations)
    again = _solve(layout, deviations - _fitted(layout, effects, nuisance))
    effects, nuisance = effects + again[0], nuisance + again[1]
    residuals = deviations - _fitted(layout, effects, nuisance)
    average = _averages(layout, nuisance)
    return AdditiveFit(
        effects=effects + centre + average,
        nuisance=nuisance,
        residuals=residuals,
        error=(residuals**2).sum(axis=0),
        total=(deviations**2).sum(axis=0),
        rounding=layout.runs * (NO_SCATTER * np.abs(values).max(axis=0, initial=0.0)) ** 2,
    )


def nuisance_squares(layout: Layout, values: Floats) -> tuple[Floats, Floats]:
    """Sums of squares of hosts, and of blocks adjusted for hosts; each of shape (r,)."""
    deviations = values - values.mean(axis=0)
    sums = np.asarray(layout.nuisance.T @ deviations)
    both: Floats = (sums * (layout.across @ sums)).sum(axis=0)
    hosts = np.zeros_like(both)
    if layout.hosts:
        runs = np.asarray(layout.nuisance[:, : layout.hosts].sum(axis=0)).ravel()
        hosts = (sums[: layout.hosts] ** 2 / runs[:, None]).sum(axis=0)
    return hosts, both - hosts


def scattered(layout: Layout, found: AdditiveFit) -> NDArray[np.bool_]:
    """Whether the residuals are more than rounding; shape (r,)."""
    return np.asarray((layout.df_error > 0) & (found.error > found.rounding))


def _solve(layout: Layout, values: Floats) -> tuple[Floats, Floats]:
    sums = layout.by_treatment(values)
    means: Floats = sums / layout.counts[:, None]
    met = np.asarray(layout.nuisance.T @ values) - np.asarray(layout.together @ means)
    nuisance: Floats = layout.within @ met
    effects: Floats = means - np.asarray(layout.together.T @ nuisance) / layout.counts[:, None]
    return effects, nuisance


def _fitted(layout: Layout, effects: Floats, nuisance: Floats) -> Floats:
    return np.asarray(effects[layout.treatment] + np.asarray(layout.nuisance @ nuisance))


def _averages(layout: Layout, nuisance: Floats) -> Floats:
    """What the average host and the average block add; shape (r,)."""
    average = nuisance[layout.hosts :].mean(axis=0)
    if layout.hosts:
        average = average + nuisance[: layout.hosts].mean(axis=0)
    return np.asarray(average)


def _one_hot(codes: NDArray[np.int64], width: int) -> sparse.csr_array:
    n = len(codes)
    return sparse.csr_array(
        (np.ones(n), codes, np.arange(n + 1)), shape=(n, width), dtype=np.float64
    )
