# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Compact letters: the display says exactly what the matrix says, with as few letters as can be."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from heapwright.analysis.letters import compact_letters


def matrix(k: int, *pairs: tuple[int, int]) -> NDArray[np.bool_]:
    differs = np.zeros((k, k), dtype=bool)
    for one, other in pairs:
        differs[one, other] = differs[other, one] = True
    return differs


@st.composite
def significance(draw: st.DrawFn) -> tuple[list[float], NDArray[np.bool_]]:
    k = draw(st.integers(1, 8))
    estimates = draw(st.lists(st.floats(-1, 1), min_size=k, max_size=k))
    every = [(i, j) for i in range(k) for j in range(i + 1, k)]
    chosen = draw(st.lists(st.sampled_from(every), unique=True)) if every else []
    return estimates, matrix(k, *chosen)


def test_no_difference_is_one_letter() -> None:
    assert compact_letters([3, 1, 2], matrix(3)) == ["a", "a", "a"]


def test_all_different_are_ordered_from_the_best() -> None:
    assert compact_letters([3, 1, 2], matrix(3, (0, 1), (0, 2), (1, 2))) == ["c", "a", "b"]


def test_a_chain_shares_its_middle() -> None:
    assert compact_letters([1, 2, 3], matrix(3, (0, 2))) == ["a", "ab", "b"]


def test_a_ring_needs_two_letters_each() -> None:
    """Neighbours in a ring of four are equal; no letters over runs of ranks can say that."""
    found = compact_letters([1, 2, 3, 4], matrix(4, (0, 2), (1, 3)))
    assert found == ["ab", "ac", "cd", "bd"]


def test_nothing_and_one() -> None:
    assert compact_letters([], matrix(0)) == []
    assert compact_letters([5], matrix(1)) == ["a"]


@given(significance())
def test_sharing_a_letter_means_no_difference(data: tuple[list[float], NDArray[np.bool_]]) -> None:
    estimates, differs = data
    letters = [set(text) for text in compact_letters(estimates, differs)]
    for i in range(len(letters)):
        assert letters[i]
        for j in range(i + 1, len(letters)):
            assert bool(letters[i] & letters[j]) != differs[i, j]


@given(significance())
def test_the_best_bears_a_and_no_letter_is_idle(
    data: tuple[list[float], NDArray[np.bool_]],
) -> None:
    estimates, differs = data
    letters = compact_letters(estimates, differs)
    assert "a" in letters[int(np.argmin(estimates))]
    bearers = {
        letter: frozenset(i for i, text in enumerate(letters) if letter in text)
        for letter in set("".join(letters))
    }
    assert not any(a < b for a in bearers.values() for b in bearers.values())
    assert len(set(bearers.values())) == len(bearers)
