# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The rule that reads blowup from curves, on curves whose law is known."""

from collections.abc import Callable

import numpy as np
import pytest

from heapwright.analysis.taxonomy.blowup import (
    OverThreads,
    OverTime,
    Peak,
    Series,
    classify,
    over_threads,
    over_time,
)

MIB = 2.0**20
RUN = 256 * MIB
"""Bytes allocated in a whole run."""


def series(
    law: Callable[[np.ndarray], np.ndarray], noise: float = 0.0, seed: int = 0, points: int = 300
) -> Series:
    """Memory that follows `law`, with steps of pages and a noise that hangs together."""
    x = np.linspace(0, RUN, points)
    draws = np.random.default_rng(seed).normal(0, noise, points + 5)
    wander = np.convolve(draws, np.ones(5) / np.sqrt(5), mode="valid")[:points]
    return Series(x, np.round((law(x) + wander) / 4096) * 4096)


def thrice(law: Callable[[np.ndarray], np.ndarray], noise: float = 0.0) -> OverTime:
    return over_time([series(law, noise, seed) for seed in range(3)])


def peaks(law: Callable[[float], float], noise: float = 0.0, most: int = 16) -> list[Peak]:
    draw = np.random.default_rng(1)
    counts = [2**power for power in range(most.bit_length())]
    return [
        Peak(block, count, 32 * MIB * (law(count) + draw.normal(0, noise)), 32 * MIB)
        for block in range(3)
        for count in counts
    ]


@pytest.mark.parametrize("noise", [0, 0.1 * MIB, MIB])
@pytest.mark.parametrize(
    "law",
    [
        lambda x: np.full_like(x, 2 * MIB),
        lambda x: 2 * MIB + 8 * MIB * (1 - np.exp(-x / (8 * MIB))),
        lambda x: np.minimum(x, 16 * MIB),
        lambda x: 4 * MIB + 4 * MIB * ((x / MIB) % 7 < 3),
    ],
    ids=["constant", "saturating", "filling a cache", "sawtooth"],
)
def test_memory_without_growth_is_bounded(
    law: Callable[[np.ndarray], np.ndarray], noise: float
) -> None:
    assert thrice(law, noise).grows is False


@pytest.mark.parametrize("noise", [0, 0.1 * MIB, MIB])
@pytest.mark.parametrize("rate", [0.05, 0.3, 1.0])
def test_memory_that_grows_until_the_end_is_unbounded(rate: float, noise: float) -> None:
    found = thrice(lambda x: 2 * MIB + rate * x, noise)
    assert found.grows is True
    assert found.slope is not None
    assert found.slope.value == pytest.approx(rate, rel=0.1)


def test_steps_that_go_on_are_growth() -> None:
    assert thrice(lambda x: 8 * MIB * np.floor(x / (8 * MIB))).grows is True


def test_a_series_that_levels_off_is_not_judged() -> None:
    found = thrice(lambda x: 100 * MIB * (1 - np.exp(-x / (64 * MIB))))
    assert found.grows is None
    assert "slowly" in found.why


def test_borderline_growth_is_not_judged_under_noise() -> None:
    runs = [
        series(lambda x, r=rate: 2 * MIB + r * x, 0.2 * MIB, seed)  # type: ignore[misc]
        for seed, rate in enumerate((0.01, 0.02, 0.03))
    ]
    found = over_time(runs)
    assert found.grows is None
    assert found.why


def test_one_run_is_judged_by_its_own_scatter() -> None:
    assert over_time([series(lambda x: x, 0.1 * MIB)]).grows is True
    assert over_time([series(lambda x: 0 * x + MIB, 0.1 * MIB)]).grows is False


@pytest.mark.parametrize("points", [0, 1, 5])
def test_too_short_a_series_says_nothing(points: int) -> None:
    found = over_time([series(lambda x: x, points=points)])
    assert found.grows is None
    assert found.slope is None


def test_wrong_judgements_are_rare_near_the_limit() -> None:
    """200 experiments on either side of it: less than one in twenty says the wrong thing."""
    wrong = 0
    for seed in range(200):
        for rate, truth in ((0.016, False), (0.024, True)):
            runs = [
                series(lambda x, r=rate: r * x, 2 * MIB, 3 * seed + each, 60)  # type: ignore[misc]
                for each in range(3)
            ]
            wrong += over_time(runs).grows is (not truth)
    assert wrong < 20


@pytest.mark.parametrize("noise", [0, 0.05])
@pytest.mark.parametrize(
    "law",
    [lambda _: 1.0, lambda p: 1.2 + 0.03 * p, lambda p: 1.5 if p > 1 else 1.0],
    ids=["constant", "a little each", "one step"],
)
def test_memory_that_does_not_grow_with_threads_is_no_growth(
    law: Callable[[float], float], noise: float
) -> None:
    assert over_threads(peaks(law, noise)).grows is False


@pytest.mark.parametrize("noise", [0, 0.1])
@pytest.mark.parametrize("rate", [0.5, 1.0, 1.3])
def test_memory_for_each_thread_is_linear(rate: float, noise: float) -> None:
    found = over_threads(peaks(lambda p: 1 + rate * (p - 1), noise))
    assert found.grows is True
    assert found.saturates_at is None
    assert found.slope is not None
    assert found.slope.value == pytest.approx(rate, abs=0.1)


def test_a_limited_number_of_heaps_is_linear_up_to_there() -> None:
    found = over_threads(peaks(lambda p: min(p, 16), 0.02, most=64))
    assert found.grows is True
    assert found.saturates_at == 16
    assert found.slope is not None
    assert found.slope.value == pytest.approx(1, abs=0.05)


def test_borderline_threads_are_not_judged() -> None:
    found = over_threads(peaks(lambda p: 1 + 0.25 * p, 0.3))
    assert found.grows is None
    assert found.why


def test_one_repetition_of_threads_is_enough_where_it_is_clear() -> None:
    linear = [peak for peak in peaks(float, 0.02) if peak.block == 0]
    flat = [peak for peak in peaks(lambda _: 1.0, 0.02) if peak.block == 0]
    assert over_threads(linear).grows is True
    assert over_threads(flat).grows is False


def test_a_repetition_with_holes_is_left_out() -> None:
    holed = [peak for peak in peaks(float) if (peak.block, peak.threads) != (1, 4)]
    found = over_threads(holed)
    assert found.grows is True
    assert found.slope is not None
    assert found.slope.runs == 2


def test_few_numbers_of_threads_say_nothing() -> None:
    assert over_threads(peaks(float, most=2)).grows is None
    assert over_threads([]).grows is None


@pytest.mark.parametrize(
    ("time", "threads", "blowup"),
    [
        (True, None, "unbounded"),
        (True, True, "unbounded"),
        (False, True, "linear"),
        (False, False, "none"),
        (None, True, None),
        (False, None, None),
    ],
)
def test_both_curves_together(time: bool | None, threads: bool | None, blowup: str | None) -> None:
    found = classify(OverTime(time, None, why="t"), OverThreads(threads, None, why="p"))
    assert found[0] == blowup
    assert bool(found[1]) is (blowup is None)
