# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The test against drift: how often it errs, and what it finds."""

from collections.abc import Callable

import numpy as np
import pytest

from heapwright.analysis.drift import FEWEST_BLOCKS, drift
from support.recorded_noise import Noise, recorded

ERROR = 0.01
LEAST = 0.1
COMPARISONS = 300
Draw = Callable[[np.random.Generator, int], "np.typing.NDArray[np.float64]"]
NOISES: dict[str, Draw] = {
    "normal": lambda draws, n: draws.normal(0, 0.2, n),
    "heavy": lambda draws, n: 0.2 * draws.standard_t(2, n),
    "disturbed": lambda draws, n: (
        draws.normal(0, 0.1, n) + (draws.random(n) < 0.2) * draws.exponential(2, n)
    ),
}


def is_alarm(values: "np.typing.NDArray[np.float64]") -> bool:
    change = drift(range(len(values)), values.tolist(), ERROR)
    return change is not None and abs(change) >= LEAST


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("blocks", [6, 12, 40])
def test_noise_alone_is_hardly_ever_a_drift(noise: str, blocks: int) -> None:
    draws = np.random.default_rng(7)
    alarms = sum(is_alarm(NOISES[noise](draws, blocks)) for _ in range(COMPARISONS))
    assert alarms <= 0.025 * COMPARISONS


def test_recorded_noise_is_a_drift_in_one_of_twenty_comparisons_at_most() -> None:
    draws = np.random.default_rng(8)
    alarms = total = 0
    for column in recorded():
        for blocks in (6, 12, 30):
            for _ in range(60):
                noise = Noise(column, draws)
                alarms += is_alarm(np.array([noise.take(4)[0] for _ in range(blocks)]))
                total += 1
    assert alarms <= 0.05 * total


def test_a_steady_growth_is_found_and_measured() -> None:
    draws = np.random.default_rng(9)
    for _ in range(20):
        change = drift(
            range(30), (0.01 * np.arange(30) + draws.normal(0, 0.02, 30)).tolist(), ERROR
        )
        assert change is not None
        assert 0.25 < change < 0.45


def test_a_cache_that_warms_is_found() -> None:
    change = drift(range(1, 13), [float(-0.05 * block) for block in range(12)], ERROR)
    assert change == pytest.approx(np.exp(-0.55) - 1)


def test_few_or_constant_values_show_no_drift() -> None:
    assert drift(range(FEWEST_BLOCKS - 1), [0.0, 1.0, 2.0, 3.0, 4.0], ERROR) is None
    assert drift(range(9), [1.0] * 9, ERROR) is None
