# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Randomised complete blocks: complete, random, and the same again for the same seed."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heapwright.experiment.design import block_numbers, block_order, fresh_seed, is_warmup

KEYS = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.sampled_from(["", "X=1", "X=2"])),
    min_size=1,
    unique=True,
)


@given(KEYS, st.integers(0, 2**32), st.integers(-3, 40))
def test_a_block_runs_every_treatment_once(
    keys: list[tuple[str, str]], seed: int, block: int
) -> None:
    assert sorted(block_order(keys, seed=seed, block=block)) == sorted(keys)


@given(KEYS, st.integers(0, 2**32), st.integers(-3, 40), st.randoms())
def test_the_order_depends_on_the_set_and_not_on_how_it_is_listed(
    keys: list[tuple[str, str]], seed: int, block: int, chance: object
) -> None:
    listed = list(keys)
    chance.shuffle(listed)  # type: ignore[attr-defined]
    assert block_order(listed, seed=seed, block=block) == block_order(keys, seed=seed, block=block)


def test_an_order_stays_the_same_from_version_to_version() -> None:
    keys = [(name, "") for name in ("glibc", "jemalloc", "kingsley", "lea")]
    orders = [[name for name, _ in block_order(keys, seed=11, block=b)] for b in range(3)]
    assert orders == [
        ["glibc", "lea", "kingsley", "jemalloc"],
        ["kingsley", "lea", "glibc", "jemalloc"],
        ["kingsley", "jemalloc", "glibc", "lea"],
    ]


def test_every_order_is_about_equally_likely() -> None:
    keys = [("a", ""), ("b", ""), ("c", "")]
    seen = Counter(
        tuple(block_order(keys, seed=seed, block=block))
        for seed in range(60)
        for block in range(20)
    )
    assert len(seen) == 6
    # 200 expected of each; six standard deviations of a binomial count are 77.
    assert all(123 < count < 277 for count in seen.values())


def test_the_baseline_can_go_first() -> None:
    keys = [("a", ""), ("b", ""), ("c", "")]
    order = block_order(keys, seed=1, block=0, first=("c", ""))
    assert order[0] == ("c", "")
    assert sorted(order) == keys


def test_a_treatment_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="twice"):
        block_order([("a", ""), ("a", "")], seed=1, block=1)


def test_warm_ups_come_first_and_measured_blocks_count_from_one() -> None:
    numbers = list(block_numbers(2, 3))
    assert numbers == [-1, 0, 1, 2, 3]
    assert [is_warmup(number) for number in numbers] == [True, True, False, False, False]
    assert list(block_numbers(0, 1)) == [1]


def test_seeds_are_not_all_the_same() -> None:
    assert len({fresh_seed() for _ in range(10)}) > 1
