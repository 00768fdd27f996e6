# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Fractions by their size: balanced, of the asked size, the same for the same seed."""

import random
from collections import Counter
from collections.abc import Callable
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heapwright.artefacts.study.file import StudyFile, parse_study
from heapwright.study.combinations import Cells
from heapwright.study.share import choose_share

MakeStudy = Callable[..., StudyFile]
COSTA = {"a": [1, 2, 3], "b": [1, 2, 3], "c": list(range(6)), "d": list(range(6)), "e": [0, 1]}


def cells_of(file: StudyFile, beside: str | None = None) -> Cells:
    return Cells(file, {name: each.items for name, each in file.study.factors.items()}, beside)


def test_levels_and_pairs_of_a_large_design_are_even(make_study: MakeStudy) -> None:
    share = choose_share(cells_of(make_study(COSTA)), 162, seed=1)
    assert len(set(share.cells)) == 162
    for factor, levels in enumerate(COSTA.values()):
        count = Counter(cell[factor] for cell in share.cells)
        assert set(count.values()) == {162 // len(levels)}
    assert share.levels_off == 0
    assert (share.pairs_off or 0) <= 2
    for one, other in combinations(range(5), 2):
        pairs = Counter((cell[one], cell[other]) for cell in share.cells)
        assert max(pairs.values()) - min(pairs.values()) <= 3


def test_pairs_are_more_even_than_by_chance_alone(make_study: MakeStudy) -> None:
    cells = cells_of(make_study(COSTA))
    every = list(cells.all())

    def off_by_chance(seed: int) -> float:
        drawn = random.Random(seed).sample(every, 60)
        return max(
            abs(Counter((cell[f], cell[g]) for cell in drawn)[a, b] - 60 / (m * n))
            for (f, m), (g, n) in combinations(enumerate(cells.counts), 2)
            for a in range(m)
            for b in range(n)
        )

    chosen = [choose_share(cells, 60, seed).pairs_off or 0 for seed in range(2)]
    assert max(chosen) < min(map(off_by_chance, range(5))) / 1.5


@pytest.mark.parametrize("seed", range(4))
def test_half_of_two_to_the_fourth_keeps_main_effects_clear(
    make_study: MakeStudy, seed: int
) -> None:
    cells = cells_of(make_study({name: [0, 1] for name in "abcd"}))
    share = choose_share(cells, 8, seed)
    # Three factors are there in all their combinations: the textbook's half of resolution IV.
    assert (share.levels_off, share.pairs_off, share.threes_off) == (0, 0, 0)
    assert len({sum(cell) % 2 for cell in share.cells}) == 1


def test_threes_are_counted_where_there_are_three_factors(make_study: MakeStudy) -> None:
    two = choose_share(cells_of(make_study({"a": [0, 1], "b": [0, 1, 2]})), 4, 1)
    assert (two.threes_off, len(two.cells)) == (None, 4)
    one = choose_share(cells_of(make_study({"a": list(range(9))})), 5, 1)
    assert (one.pairs_off, one.threes_off) == (None, None)
    many = {name: list(range(2000)) for name in "abc"}
    three = choose_share(cells_of(make_study(many)), 2000, 1)
    assert (three.levels_off, three.pairs_off, three.threes_off) == (0, None, None)


def test_the_seed_decides(make_study: MakeStudy) -> None:
    cells = cells_of(make_study({"a": list(range(5)), "b": list(range(5))}))
    assert choose_share(cells, 10, 1) == choose_share(cells, 10, 1)
    assert choose_share(cells, 10, 1).cells != choose_share(cells, 10, 2).cells


def test_under_constraints_levels_are_as_often_as_in_what_is_allowed(make_study: MakeStudy) -> None:
    file = make_study({"a": list(range(6)), "b": list(range(6)), "c": [0, 1]}, require=["a >= b"])
    share = choose_share(cells_of(file), 21, seed=3)
    assert len(share.cells) == 21
    assert all(cell[0] >= cell[1] for cell in share.cells)
    count = Counter(cell[0] for cell in share.cells)
    assert [count[level] for level in range(6)] == pytest.approx([1, 2, 3, 4, 5, 6], abs=1)


def test_a_cell_is_allowed_if_some_allocator_is(make_study: MakeStudy) -> None:
    rules = ["allocator == 'a' or n < 2", "allocator == 'b' or n > 0"]
    file = make_study({"n": [0, 1, 2], "allocator": ["a", "b"], "m": [0, 1]}, require=rules)
    cells = cells_of(file, "allocator")
    # n = 0 goes with b alone, n = 2 with a alone; both must hold under the same one.
    assert cells.count == 6
    assert list(cells.all()) == [(n, m) for n in range(3) for m in range(2)]
    contradiction = ["allocator == 'a' or n > 0", "allocator == 'b' or n > 0"]
    none = make_study({"n": [0, 1], "allocator": ["a", "b"]}, require=contradiction)
    assert list(cells_of(none, "allocator").all()) == [(1,)]
    assert list(cells.whole((2, 1))) == [(2, 0, 1), (2, 1, 1)]


@settings(max_examples=20)
@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=4),
    st.floats(0.05, 0.95),
    st.integers(0, 99),
)
def test_any_full_design_gives_balanced_shares(counts: list[int], share: float, seed: int) -> None:
    factors = "\n".join(
        f"[factors.f{place}]\nlevels = {list(range(count))}" for place, count in enumerate(counts)
    )
    words = ", ".join(f'"{{f{place}}}"' for place in range(len(counts)))
    file = parse_study(
        f'format = 1\nname = "x"\ntitle = "x"\ncommand = [{words}]\n'
        f'[responses.time]\nfrom = "wall"\n{factors}\n'
    )
    cells = cells_of(file)
    wanted = max(1, round(share * cells.total))
    chosen = choose_share(cells, wanted, seed)
    assert len(set(chosen.cells)) == wanted
    assert all(cells.allowed(cell) for cell in chosen.cells)
    assert all(
        0 <= level < count
        for cell in chosen.cells
        for level, count in zip(cell, counts, strict=True)
    )
    assert chosen.levels_off <= 1
