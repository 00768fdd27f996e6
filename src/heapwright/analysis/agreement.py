# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The agreement of two rankings of the same allocators, with an interval from the blocks.

A ranking is that of the geometric means over blocks. Agreement is Kendall's tau-b (Kendall 1945).
Its interval is the percentile one of blocks drawn again with replacement, separately for each load
(Efron 1979). A program's agreement *with itself* is that of two such draws of its own blocks. It is
far below 1 if allocators differ by less than the scatter of runs. It is the upper limit for any
load. All functions are pure; `seed` makes their draws.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from heapwright.analysis.numerics.distributions import student_quantile
from heapwright.artefacts.agreement.document import Tau

DRAWS = 2_000
Floats = NDArray[np.float64]
Blocks = Sequence[Sequence[float]]
"""The figures of each allocator in its good blocks: at least one, all above zero."""


def tau_b(one: Floats, other: Floats) -> Floats:
    """Kendall's tau-b of rows: arrays of shape (draws, allocators); NaN where one is all tied."""
    first, second = np.triu_indices(one.shape[1], k=1)
    a = np.sign(one[:, first] - one[:, second])
    b = np.sign(other[:, first] - other[:, second])
    scale = np.sqrt(np.abs(a).sum(axis=1) * np.abs(b).sum(axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        taus: Floats = np.where(scale > 0, (a * b).sum(axis=1) / scale, np.nan)
    return taus


def means(blocks: Blocks) -> Floats:
    """Logarithms of the geometric means: shape (1, allocators)."""
    return np.array([[float(np.mean(np.log(each))) for each in blocks]])


def drawn_means(blocks: Blocks, generator: np.random.Generator) -> Floats:
    """The same of blocks drawn again: shape (DRAWS, allocators)."""
    columns = []
    for each in blocks:
        logs = np.log(np.asarray(each, dtype=float))
        columns.append(logs[generator.integers(0, len(logs), (DRAWS, len(logs)))].mean(axis=1))
    return np.stack(columns, axis=1)


def agreement(program: Blocks, load: Blocks, confidence: float, seed: int) -> Tau:
    """Tau of the load with the program."""
    generator = np.random.default_rng(seed)
    draws = tau_b(drawn_means(program, generator), drawn_means(load, generator))
    return interval(float(tau_b(means(program), means(load))[0]), draws, confidence)


def with_itself(program: Blocks, confidence: float, seed: int) -> Tau:
    """The tau of two draws of the program: the mean over pairs of draws."""
    generator = np.random.default_rng(seed)
    draws = tau_b(drawn_means(program, generator), drawn_means(program, generator))
    finite = draws[np.isfinite(draws)]
    return interval(float(np.mean(finite)) if len(finite) else np.nan, draws, confidence)


def over_programs(taus: Sequence[float], confidence: float) -> Tau:
    """The mean over programs with Student's interval, because they are a sample of programs. One
    program has no interval. The interval is cut at 1 and -1, the bounds of tau."""
    if not taus:
        return Tau()
    mean = float(np.mean(taus))
    if len(taus) < 2:
        return Tau(tau=mean)
    error = float(np.std(taus, ddof=1)) / len(taus) ** 0.5
    half = student_quantile((1 + confidence) / 2, len(taus) - 1) * error
    return Tau(tau=mean, low=max(-1.0, mean - half), high=min(1.0, mean + half))


def same_best(program: Blocks, load: Blocks) -> bool:
    """Whether the allocator with the least mean is the same."""
    return bool(np.argmin(means(program)[0]) == np.argmin(means(load)[0]))


def interval(tau: float, draws: Floats, confidence: float) -> Tau:
    """Percentiles of the draws that have a tau; without a tau there is nothing."""
    finite = draws[np.isfinite(draws)]
    if not np.isfinite(tau) or not len(finite):
        return Tau()
    low, high = np.quantile(finite, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Tau(tau=tau, low=float(low), high=float(high))
