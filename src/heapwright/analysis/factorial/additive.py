# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The additive blocked model: y = block + treatment + error.

Each treatment has its own mean, so the residual is pure error: the difference of two runs of one
treatment within a block. Every other step is tested against it. Each block belongs to one host, so
differences between hosts are a part of those between blocks.

Blocks (W, b columns) are few, but there may be thousands of treatments. The treatments are
therefore eliminated: M g = W'y - N D^-1 T'y with M = W'W - N D^-1 N'. Here N = W'T counts runs, and
D has the runs of each treatment. No array has the size of runs times parameters.

Cost: memory is a few arrays of n numbers, time O(n + b^2 T). Source: Searle, Linear Models, chapter
7.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse  # noqa: TID251 - the extra `studies` has it

from heapwright.analysis.factorial.observed import Floats, Ints, Observed

RANK_TOLERANCE = 1e-9
NO_SCATTER = 1e-12
"""Residuals below this, in units of the largest value, are rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The runs without their values; b blocks, T treatments.

    treatment  (n,)    number of each run's treatment
    block      (n,)    number of each run's block
    host       (b,)    number of each block's host
    by_block   (b, n)  sparse: sums over the runs of each block
    by_treatment  (T, n)  sparse: sums over the runs of each treatment
    sizes      (b,)    runs of each block
    counts     (T,)    runs of each treatment
    together   (b, T)  runs of each block and treatment
    within     (b, b)  generalised inverse of M above
    df_hosts, df_blocks    hosts, and blocks within them; the mean is counted in neither
    df_treatments          treatments, adjusted for blocks
    df_error               pure error
    """

    treatment: Ints
    block: Ints
    host: Ints
    by_block: sparse.csr_array
    by_treatment: sparse.csr_array
    sizes: Floats
    counts: Floats
    together: sparse.csr_array
    within: Floats
    df_hosts: int
    df_blocks: int
    df_treatments: int
    df_error: int

    @property
    def runs(self) -> int:
        return len(self.treatment)


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveFit:
    """The fitted model for r responses at once.

    effects    (T, r)  the treatments' means at the average block
    residuals  (n, r)
    error      (r,)    sum of squares of the residuals
    total      (r,)    sum of squares about the mean
    rounding   (r,)    a sum of squares below this is rounding
    """

    effects: Floats
    residuals: Floats
    error: Floats
    total: Floats
    rounding: Floats


def lay_out(observed: Observed) -> Layout:
    """The parts that depend only on the design."""
    by_block = _sums(observed.block, observed.blocks)
    by_treatment = _sums(observed.treatment, observed.treatments)
    together = sparse.csr_array(by_block @ by_treatment.T)
    sizes = np.bincount(observed.block).astype(np.float64)
    counts = observed.counts.astype(np.float64)
    host = np.zeros(observed.blocks, dtype=np.int64)
    host[observed.block] = observed.host
    shared = (together @ sparse.diags_array(1 / counts) @ together.T).toarray()
    within, rank = _inverse(np.diag(sizes) - shared, float(sizes.max()))
    return Layout(
        treatment=observed.treatment,
        block=observed.block,
        host=host,
        by_block=by_block,
        by_treatment=by_treatment,
        sizes=sizes,
        counts=counts,
        together=together,
        within=within,
        df_hosts=observed.hosts - 1,
        df_blocks=observed.blocks - observed.hosts,
        df_treatments=observed.treatments + rank - observed.blocks,
        df_error=observed.runs - observed.treatments - rank,
    )


def fit(layout: Layout, values: Floats) -> AdditiveFit:
    """Fit r responses, shape (n, r), by least squares."""
    centre = values.mean(axis=0)
    deviations = values - centre
    # twice, from what the first pass leaves: with little error beside large effects the first
    # alone would leave its rounding in the residuals
    effects, blocks = _solve(layout, deviations)
    again = _solve(layout, deviations - effects[layout.treatment] - blocks[layout.block])
    effects, blocks = effects + again[0], blocks + again[1]
    residuals = deviations - effects[layout.treatment] - blocks[layout.block]
    return AdditiveFit(
        effects=effects + centre + blocks.mean(axis=0),
        residuals=residuals,
        error=(residuals**2).sum(axis=0),
        total=(deviations**2).sum(axis=0),
        rounding=layout.runs * (NO_SCATTER * np.abs(values).max(axis=0, initial=0.0)) ** 2,
    )


def block_squares(layout: Layout, values: Floats) -> tuple[Floats, Floats]:
    """Sums of squares of hosts, and of blocks within hosts; each of shape (r,)."""
    sums = np.asarray(layout.by_block @ (values - values.mean(axis=0)))
    both: Floats = (sums**2 / layout.sizes[:, None]).sum(axis=0)
    of_host = _sums(layout.host, layout.df_hosts + 1)
    hosts: Floats = ((of_host @ sums) ** 2 / (of_host @ layout.sizes)[:, None]).sum(axis=0)
    return hosts, both - hosts


def scattered(layout: Layout, found: AdditiveFit) -> NDArray[np.bool_]:
    """Whether the residuals are more than rounding; shape (r,)."""
    return np.asarray((layout.df_error > 0) & (found.error > found.rounding))


def _solve(layout: Layout, values: Floats) -> tuple[Floats, Floats]:
    """The effects of treatments and blocks, before they are centred."""
    means: Floats = np.asarray(layout.by_treatment @ values) / layout.counts[:, None]
    blocks: Floats = layout.within @ (
        np.asarray(layout.by_block @ values) - np.asarray(layout.together @ means)
    )
    shifts: Floats = np.asarray(layout.together.T @ blocks) / layout.counts[:, None]
    return means - shifts, blocks


def _inverse(matrix: Floats, size: float) -> tuple[Floats, int]:
    """Generalised inverse and rank of a positive semidefinite matrix.

    `size` is what its entries are made of: what is a billionth of that is rounding.
    """
    values, vectors = np.linalg.eigh(matrix)
    real = values > RANK_TOLERANCE * size
    kept = vectors[:, real]
    return np.asarray((kept / values[real]) @ kept.T), int(real.sum())


def _sums(codes: Ints, width: int) -> sparse.csr_array:
    """What adds up the figures of each code, shape (width, n)."""
    n = len(codes)
    return sparse.csr_array((np.ones(n), (codes, np.arange(n))), shape=(width, n))
