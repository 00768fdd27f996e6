# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The classes with the least waste, beside every choice of classes in small cases."""

from itertools import combinations, pairwise

from hypothesis import given
from hypothesis import strategies as st

from heapwright.tailor.size_classes import (
    best_classes,
    block_of,
    blocks_of,
    waste_of,
    with_bounded_gaps,
)

BLOCKS = st.dictionaries(st.integers(1, 40).map(lambda units: 16 * units), st.integers(0, 50))


@given(BLOCKS.filter(lambda blocks: 1 <= len(blocks) <= 8), st.integers(1, 8))
def test_no_choice_of_as_many_classes_wastes_less(blocks: dict[int, int], most: int) -> None:
    found = best_classes(blocks, most)
    largest = max(blocks)
    for number, classes in enumerate(found, 1):
        assert len(classes) == len(set(classes)) <= number
        others = (
            waste_of((*chosen, largest), dict(sorted(blocks.items())))
            for below in range(number)
            for chosen in combinations(sorted(set(blocks) - {largest}), below)
        )
        assert waste_of(classes, blocks) == min(others)


@given(BLOCKS.filter(bool), st.integers(1, 12))
def test_further_classes_never_waste_more(blocks: dict[int, int], most: int) -> None:
    wastes = [waste_of(classes, blocks) for classes in best_classes(blocks, most)]
    assert wastes == sorted(wastes, reverse=True)


def test_two_sizes_and_one_class_waste_the_difference() -> None:
    blocks = {32: 10, 64: 1}
    assert best_classes(blocks, 4) == [(64,), (32, 64)]
    assert waste_of((64,), blocks) == 320


def test_without_sizes_there_are_no_classes() -> None:
    assert best_classes({}, 4) == []


def test_a_block_holds_the_size_and_the_tag() -> None:
    assert [block_of(size) for size in (0, 1, 8, 9, 24, 25)] == [16, 16, 16, 32, 32, 48]
    assert blocks_of({8: 1, 20: 2, 24: 3}) == {16: 1, 32: 5}


@given(st.sets(st.integers(1, 500).map(lambda units: 16 * units)), st.integers(512, 4096))
def test_gaps_are_at_most_a_doubling(classes: set[int], units: int) -> None:
    whole = with_bounded_gaps(sorted(classes), 16 * units)
    assert classes <= set(whole)
    assert whole[-1] == max({16 * units, *classes})
    assert all(high <= 2 * low + 16 for low, high in pairwise(whole))
