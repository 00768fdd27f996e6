# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Distances, ranks and survival, against what is known by hand."""

import numpy as np
import pytest

from heapwright.artefacts.profile.document import Profile
from heapwright.synth.distances import distances, total_variation
from heapwright.synth.ranks import kendall_tau, same_first
from heapwright.synth.survival import ended_by, live_at


def test_the_distance_of_a_profile_to_itself_is_zero(model: Profile) -> None:
    assert [each.distance for each in distances(model, model)] == [0.0] * 6


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ({1: 1.0}, {1: 5.0}, 0.0),
        ({1: 1.0}, {2: 1.0}, 1.0),
        ({1: 1.0, 2: 1.0}, {1: 1.0}, 0.5),
        ({}, {}, 0.0),
        ({}, {1: 1.0}, None),
    ],
)
def test_total_variation(
    one: dict[int, float], other: dict[int, float], apart: float | None
) -> None:
    assert total_variation(dict(one), dict(other)) == apart
    assert total_variation(dict(other), dict(one)) == apart


@pytest.mark.parametrize(
    ("pairs", "tau"),
    [
        ([(1, 1), (2, 2), (3, 3)], 1.0),
        ([(1, 3), (2, 2), (3, 1)], -1.0),
        ([(1, 1), (2, 3), (3, 2)], 1 / 3),
        ([(1, 1), (None, 2), (3, 3)], 1.0),
        ([(1, 1), (1, 2), (2, 3)], 2 / 6**0.5),
        ([(1, 1)], None),
        ([(1, 1), (1, 2)], None),
    ],
)
def test_kendall(pairs: list[tuple[float | None, float | None]], tau: float | None) -> None:
    assert kendall_tau(pairs) == (None if tau is None else pytest.approx(tau))


def test_the_fastest_of_both() -> None:
    assert same_first([(1, 1), (2, 2)]) is True
    assert same_first([(1, 2), (2, 1)]) is False
    assert same_first([(1, None), (2, 1)]) is None


def test_survival_agrees_with_a_simulation() -> None:
    random = np.random.default_rng(1)
    begins, ends = np.array([0.0, 100.0]), np.array([100.0, 300.0])
    low, high = np.array([1.0, 50.0, np.inf]), np.array([1.0, 220.0, np.inf])
    moments = np.array([60.0, 100.0, 180.0, 300.0])
    ended = ended_by(moments, begins, ends, low, high)
    live = live_at(moments, begins, ends, low, high)
    for phase in range(2):
        births = random.uniform(begins[phase], ends[phase], 200_000)
        for kind in range(2):
            lives = random.uniform(low[kind] - 0.5, high[kind] + 0.5, births.size)
            over = (births + lives)[:, None] <= moments
            assert ended[kind, phase] == pytest.approx(over.mean(axis=0), abs=0.006)
            there = (births[:, None] <= moments) & ~over
            assert live[kind, phase] == pytest.approx(there.mean(axis=0), abs=0.006)
    assert (ended[2] == 0).all()
