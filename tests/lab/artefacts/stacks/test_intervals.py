# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The estimates of sampled amounts, in simulated runs."""

import numpy as np
import pytest

from heapwright.artefacts.stacks.intervals import Estimate, Z, estimate, interval

MEAN = 512 << 10
RUNS = 1000
SITES = {
    "small blocks": {100: 60_000},
    "few samples": {64: 8 * MEAN // 64},
    "many samples": {1024: 400 * MEAN // 1024},
    "sizes near the mean": {MEAN // 2: 12, MEAN: 10, 2 * MEAN: 9},
    "mixed sizes": {48: 40_000, 4096: 900, 65_536: 50, 1 << 20: 6},
}
"""The number of blocks of each size."""


def simulated(site: dict[int, int], seed: int) -> list[Estimate]:
    """Estimates of RUNS runs in which each block is a sample by its own chance."""
    random = np.random.default_rng(seed)
    sizes = np.array(list(site))
    chances = -np.expm1(-sizes / MEAN)
    samples = random.binomial(list(site.values()), chances, (RUNS, len(sizes)))
    return [estimate(zip(sizes.tolist(), row, strict=True), MEAN) for row in samples.tolist()]


@pytest.mark.parametrize("name", SITES)
def test_the_interval_contains_the_truth_in_95_of_100_runs(name: str) -> None:
    site = SITES[name]
    truth = sum(size * count for size, count in site.items())
    bounds = [interval(each.bytes, each.variance) for each in simulated(site, seed=4)]
    share = sum(low <= truth <= high for low, high in bounds) / RUNS
    assert 0.93 <= share <= 0.97


@pytest.mark.parametrize("name", SITES)
def test_the_estimate_and_its_variance_are_unbiased(name: str) -> None:
    site = SITES[name]
    found = np.array(simulated(site, seed=5))
    truth = sum(size * count for size, count in site.items())
    error = found[:, 0].std() / RUNS**0.5
    assert found[:, 0].mean() == pytest.approx(truth, abs=4 * error)
    assert found[:, 2].mean() == pytest.approx(found[:, 0].var(), rel=0.2)
    blocks = found[:, 1].std() / RUNS**0.5
    assert found[:, 1].mean() == pytest.approx(sum(site.values()), abs=4 * blocks)


def test_a_block_far_larger_than_the_mean_is_certain() -> None:
    found = estimate([(100 * MEAN, 3)], MEAN)
    low, high = interval(found.bytes, found.variance)
    assert low == pytest.approx(300 * MEAN)
    assert high == pytest.approx(300 * MEAN)


def test_without_samples_nothing_is_estimated() -> None:
    assert interval(*estimate([(100, 0)], MEAN)[::2]) == (0, 0)


def test_the_interval_of_equal_small_blocks_is_wilsons() -> None:
    """Of a Poisson count k: k + z^2 / 2 - and + z sqrt(k + z^2 / 4), times the mean."""
    found = estimate([(1, 25)], 1e9)
    low, high = interval(found.bytes, found.variance)
    half = Z * (25 + Z * Z / 4) ** 0.5
    assert low == pytest.approx(1e9 * (25 + Z * Z / 2 - half), rel=1e-6)
    assert high == pytest.approx(1e9 * (25 + Z * Z / 2 + half), rel=1e-6)
