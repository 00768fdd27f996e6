# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The designs of a screening have the resolution and the aliases that they state."""

import itertools

import numpy as np
import pytest

from heapwright.analysis.tuning.design import MOST_FACTORS, fraction_for, screening_cells

from .simulated import SPACE


@pytest.mark.parametrize("factors", range(1, MOST_FACTORS + 1))
def test_a_fraction_separates_settings_from_each_other_and_from_pairs(factors: int) -> None:
    signs = np.array(fraction_for(factors).signs)
    pairs = [signs[:, a] * signs[:, b] for a, b in itertools.combinations(range(factors), 2)]
    assert (signs.sum(axis=0) == 0).all()
    assert (signs.T @ signs == len(signs) * np.eye(factors)).all()
    assert all((signs.T @ pair == 0).all() for pair in pairs)


@pytest.mark.parametrize(
    ("factors", "runs", "resolution"),
    [(1, 2, None), (3, 8, None), (4, 8, 4), (5, 16, 5), (7, 16, 4), (8, 16, 4), (9, 32, 4)],
)
def test_fractions_are_those_of_the_textbooks(
    factors: int, runs: int, resolution: int | None
) -> None:
    fraction = fraction_for(factors)
    assert (fraction.runs, fraction.resolution) == (runs, resolution)


def test_pairs_of_one_chain_have_the_same_column() -> None:
    fraction = fraction_for(7)
    signs = np.array(fraction.signs)
    assert sum(len(pairs) for pairs in fraction.chains.values()) == 21
    for pairs in fraction.chains.values():
        columns = {tuple(signs[:, a] * signs[:, b]) for a, b in pairs}
        assert len(columns) == 1


@pytest.mark.parametrize("factors", [0, MOST_FACTORS + 1])
def test_other_numbers_of_factors_are_refused(factors: int) -> None:
    with pytest.raises(ValueError, match="factors"):
        fraction_for(factors)


def test_cells_have_the_low_or_the_high_level() -> None:
    cells = screening_cells(SPACE, fraction_for(len(SPACE.factors)))
    assert len(set(cells)) == 16
    for factor, levels in zip(SPACE.factors, zip(*cells, strict=True), strict=True):
        assert sorted(levels) == [factor.low] * 8 + [factor.high] * 8
