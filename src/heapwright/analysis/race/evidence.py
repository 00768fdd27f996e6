# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""E-values from the random order within one block.

A block draws the order of its runs at random. A disturbance of any size at one position of the
block hits each candidate with the same chance. This is the only assumption about noise: it may
drift from block to block and may have any distribution.

Let v be the logarithms of the figures of one block, and m the logarithm of 1 + margin. S is a set
of rivals that was chosen before the block. For every slope a > 0

    (|S| + 1) exp(a (v_j - m)) / (exp(a (v_j - m)) + sum over i in S of exp(a v_i))

has an expectation of at most 1 if j is at most m slower than each rival. To see this, replace the
true effect of each rival by the least value that the hypothesis allows, which is that of j less m.
The fraction can only grow, because it falls with each v_i. All |S| + 1 values are then
exchangeable, and the fractions of all of them add up to |S| + 1. So each has the expectation 1.

A bet keeps a part of its wealth, so that one disturbed run cannot ruin it. The factor is 1 - k + k
times the fraction, for 0 < k < 1. Products of such factors over blocks stay below 1 / e for ever
with probability 1 - e (Ville 1939). So does their mean over several pairs (a, k).

Sources: Duan, Ramdas and Wasserman (2022) have bets on randomised ranks. Vovk and Wang (2021) have
e-values and their means. Fisher (1935) has randomisation as the only assumption.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Bet:
    """One of the bets that share the wealth equally at the start."""

    slope: float
    """In units of 1 / scatter of one run."""
    stake: float
    """Part of the wealth that is bet in each block."""


BETS = (Bet(0.5, 0.6), Bet(0.5, 0.95), Bet(2.0, 0.6), Bet(2.0, 0.95))
"""Gentle and steep slopes for gaussian and for heavy-tailed noise, careful and bold stakes."""

_SLOPES: Floats = np.array([bet.slope for bet in BETS])
_STAKES: Floats = np.array([bet.stake for bet in BETS])


def log_factors_of_rank(own: float, rivals: Floats, scatter: float) -> Floats:
    """Logarithms of the factors of all bets that `own` is larger than the rivals; shape (bets,).

    `own` is v_j - m, `rivals` the v_i, shape (n,). `scatter` must be known before the block.
    """
    above = (rivals[:, None] - own) * (_SLOPES / scatter)
    zeros = np.zeros((1, len(BETS)))
    log_fraction = np.log(len(rivals) + 1) - np.logaddexp.reduce(np.vstack((zeros, above)), axis=0)
    return _staked(log_fraction)


def log_factors_of_pairs(differences: Floats, scatter: Floats | float) -> Floats:
    """Logarithms of the factors of all bets that each difference is centred above 0.

    This is the case of one rival. The shape gains a last axis for the bets; a missing difference
    (NaN) changes nothing. `scatter` broadcasts against `differences`.
    """
    known = np.isfinite(differences)[..., None]
    slope = _SLOPES / np.asarray(scatter)[..., None]
    steps = np.nan_to_num(differences)[..., None] * slope
    return np.where(known, _staked(np.log(2) - np.logaddexp(0, -steps)), 0.0)


def log_wealth(log_factors: Floats) -> Floats:
    """Logarithm of the mean wealth over the bets, which are the last axis."""
    return np.asarray(np.logaddexp.reduce(log_factors, axis=-1) - np.log(len(BETS)))


def _staked(log_fraction: Floats) -> Floats:
    return np.asarray(np.logaddexp(np.log1p(-_STAKES), np.log(_STAKES) + log_fraction))
