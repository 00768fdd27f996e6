# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Regular fractions: textbook designs, and what cannot be one."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import combinations, product

import pytest

from heapwright.artefacts.study.file import StudyError, StudyFile
from heapwright.study.regular import Regular, read_words

MakeStudy = Callable[..., StudyFile]


def fraction(make_study: MakeStudy, counts: dict[str, int], words: Sequence[str]) -> Regular:
    factors = {name: list(range(count)) for name, count in counts.items()}
    quoted = ", ".join(f'"{word}"' for word in words)
    file = make_study(factors, f'kind = "fraction"\ndefining = [{quoted}]')
    return read_words(file, counts)


def two_level(names: str) -> dict[str, int]:
    return dict.fromkeys(names, 2)


def test_the_half_of_two_to_the_third(make_study: MakeStudy) -> None:
    # Montgomery, section 8.2: I = ABC; of levels 0 and 1 the cells with an even sum.
    half = fraction(make_study, two_level("abc"), ["a*b*c"])
    assert sorted(half.cells()) == [(0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 0)]
    assert (half.resolution, half.divisor) == (3, 2)


@pytest.mark.parametrize(
    ("names", "words", "resolution", "size"),
    [
        ("abcd", ["a*b*c*d"], 4, 8),  # 2^(4-1), Montgomery, example 8.1
        ("abcde", ["a*b*c*d*e"], 5, 16),  # 2^(5-1), example 8.2
        ("abcdef", ["a*b*c*e", "b*c*d*f"], 4, 16),  # 2^(6-2), example 8.4
        ("abcdefg", ["a*b*d", "a*c*e", "b*c*f", "a*b*c*g"], 3, 8),  # 2^(7-4), example 8.7
    ],
)
def test_textbook_fractions_have_their_resolution(
    make_study: MakeStudy, names: str, words: list[str], resolution: int, size: int
) -> None:
    found = fraction(make_study, two_level(names), words)
    cells = list(found.cells())
    assert found.resolution == resolution
    assert len(set(cells)) == len(cells) == size
    # All combinations of fewer levels than the resolution are equally often in it.
    for columns in combinations(range(len(names)), resolution - 1):
        counts = Counter(tuple(cell[column] for column in columns) for cell in cells)
        assert len(counts) == 2 ** (resolution - 1)
        assert len(set(counts.values())) == 1


def test_three_levels_and_powers(make_study: MakeStudy) -> None:
    # A Latin square, and with a second word a Graeco-Latin one.
    counts = {"row": 3, "column": 3, "latin": 3, "greek": 3}
    square = fraction(make_study, counts, ["row*column*latin^2", "row*column^2*greek^2"])
    cells = list(square.cells())
    assert len(cells) == 9
    for one, other in combinations(range(4), 2):
        assert {(cell[one], cell[other]) for cell in cells} == set(product(range(3), repeat=2))


def test_defining_words_of_different_primes_leave_other_factors_whole(
    make_study: MakeStudy,
) -> None:
    counts = {"a": 2, "b": 2, "x": 3, "y": 3, "other": 4}
    found = fraction(make_study, counts, ["a*b", "x*y"])
    assert found.divisor == 6
    assert len(list(found.cells())) == 2 * 2 * 3 * 3 * 4 // 6
    assert "resolution II:" in found.words


@pytest.mark.parametrize(
    ("counts", "words", "why"),
    [
        ({"a": 2, "b": 2}, ["a*c"], "'c' cannot be in a word: no such factor"),
        ({"a": 2, "b": 3}, ["a*b"], "different numbers of levels: a 2, b 3"),
        ({"a": 4, "b": 4}, ["a*b"], "4 levels each, which is no prime"),
        ({"a": 1, "b": 1}, ["a*b"], "1 levels each, which is no prime"),
        ({"a": 2, "b": 2}, ["a"], "a word names two at least"),
        ({"a": 2, "b": 2}, ["a*a"], "is in 'a\\*a' twice"),
        ({"a": 2, "b": 2}, ["a*b^2"], "the power 2 of b is a multiple of 2"),
        ({"a": 2, "b": 2}, ["a+b"], "is no word"),
        ({"a": 2, "b": 2}, ["a*"], "is no word"),
        ({"a": 2, "b": 2, "c": 2}, ["a*b", "b*c", "a*c"], "'a\\*c' follows from those before"),
        ({"a": 3, "b": 3}, ["a*b", "a*b^2"], "a factor has one level only"),
    ],
)
def test_an_invalid_fraction_is_refused_with_the_defining_word(
    make_study: MakeStudy, counts: dict[str, int], words: list[str], why: str
) -> None:
    with pytest.raises(StudyError, match=why) as caught:
        fraction(make_study, counts, words)
    assert "design.defining" in caught.value.message


def test_a_defining_word_with_allocators_is_refused(make_study: MakeStudy) -> None:
    file = make_study(
        {"allocator": ["a", "b"], "n": [0, 1]}, 'kind = "fraction"\ndefining = ["allocator*n"]'
    )
    with pytest.raises(StudyError, match="all of the allocators are always run"):
        read_words(file, {"n": 2})
