# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How small a difference can be seen: against a power calculation by simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from heapwright.analysis.gate.welch import Sample
from heapwright.analysis.noise import POWER, noise_of, smallest_difference

EXPERIMENTS = 1500


def test_a_difference_of_that_size_is_found_as_often_as_promised() -> None:
    blocks, scatter = 12, 0.05
    shown = smallest_difference(Sample(0.0, scatter, 50, 50), blocks)
    assert shown is not None
    draws = np.random.default_rng(2).normal(math.log1p(shown), scatter, (EXPERIMENTS, blocks))
    found = stats.ttest_1samp(draws, 0, axis=1).pvalue < 0.05
    assert found.mean() == pytest.approx(POWER, abs=0.04)


def test_more_blocks_show_more_and_one_shows_nothing() -> None:
    ratios = Sample(0.0, 0.05, 50, 50)
    few, many = smallest_difference(ratios, 10), smallest_difference(ratios, 1000)
    assert few is not None
    assert many is not None
    assert many < few / 8
    assert smallest_difference(ratios, 1) is None
    assert smallest_difference(Sample(0.0, 0.0, 50, 50), 10) == 0


def test_noise_of_runs() -> None:
    walls = [1.0, 1.1] * 6 + [3.0]
    found = noise_of(("x",), [(wall, wall) for wall in walls], budget_s=60)
    assert found.runs == 13
    assert found.run_s == 1.1
    assert found.pair_scatter == 0
    assert found.scatter > 0.05
    assert found.cpu_scatter == pytest.approx(found.scatter)
    assert found.slowest == pytest.approx(3 / 1.1)
    assert found.drift > 1.1
    assert [each.run_s for each in found.visible] == [1.1, 1.0, 10.0]
    assert [each.blocks for each in found.visible] == [27, 30, 3]


def test_processor_time_below_the_clock_is_left_out() -> None:
    found = noise_of(("x",), [(0.1, 0.0), (0.11, 0.01)] * 3, budget_s=60)
    assert found.cpu_scatter is None
    for_all = noise_of(("x",), [(0.1, None)] * 6, budget_s=60, own_length_first=False)
    assert for_all.cpu_scatter is None
    assert for_all.visible[-1].run_s == 0.1


def test_pairs_take_out_what_drifts_slowly() -> None:
    draws = np.random.default_rng(4)
    slow = np.exp(np.linspace(0, 1, 200) + draws.normal(0, 0.01, 200))
    found = noise_of(("x",), [(wall, None) for wall in slow.tolist()], budget_s=60)
    assert found.scatter > 0.2
    assert found.pair_scatter == pytest.approx(0.01 * math.sqrt(2), rel=0.25)


def test_too_few_runs() -> None:
    with pytest.raises(ValueError, match="6 runs"):
        noise_of(("x",), [(1.0, None)] * 5, budget_s=60)
