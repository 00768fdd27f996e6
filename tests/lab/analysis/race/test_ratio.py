# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Bounds of a ratio that hold at all blocks at once."""

import numpy as np

from heapwright.analysis.race.ratio import bounds


def test_few_blocks_give_no_bound() -> None:
    found = bounds(np.full(4, 0.2), np.full(4, 0.05), 0.95)
    assert found.low is None
    assert found.high is None


def test_no_block_gives_no_bound() -> None:
    assert bounds(np.empty(0), np.empty(0), 0.95).low is None


def test_bounds_enclose_the_centre_and_turn_with_the_sign() -> None:
    differences = 0.1 + 0.01 * np.array([-2, 1, 0, 2, -1, 0.5, -0.5, 1, -1, 0, 1.5, -1.5])
    scatters = np.full(len(differences), 0.01)
    found = bounds(differences, scatters, 0.95)
    turned = bounds(-differences, scatters, 0.95)
    assert found.low
    assert found.high
    assert turned.low
    assert turned.high
    assert 1 < found.low < np.exp(0.1) < found.high < 1.2
    assert np.isclose(found.low * turned.high, 1)
    assert np.isclose(found.high * turned.low, 1)


def test_the_bounds_hold_at_every_block_as_often_as_they_say() -> None:
    """Heavy tails (Cauchy) and a look after each block; 5 % may miss, 3 of 60 on average."""
    draws = np.random.default_rng(11)
    missed = 0
    for _ in range(60):
        differences = 0.3 + 0.05 * draws.standard_cauchy(40)
        looks = (bounds(differences[:n], np.full(n, 0.05), 0.95) for n in range(8, 41, 8))
        missed += any(
            (found.low or 0) > np.exp(0.3) or (found.high or np.inf) < np.exp(0.3)
            for found in looks
        )
    assert missed <= 6
