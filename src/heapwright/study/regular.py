# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A regular fraction, by defining words: `threads*size*pattern`.

A word names factors that all have the same prime number p of levels, each perhaps with a power
(`size^2`). Levels count from 0 in the order of the file. Each word gives each level's number a
power. Of the whole design those cells are kept in which the sum of the powered numbers is a
multiple of p, for every word. This is the principal fraction. Each word that does not follow from
the others divides the design by p. All levels, and all combinations of fewer levels than the
shortest word has factors, are equally often in it. See Montgomery, Design and Analysis of
Experiments, chapters 8 and 9.

The kept cells are worked out, not searched for: levels of some factors follow from the others.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from heapwright.artefacts.study.file import StudyFile
from heapwright.study.combinations import Combination

FACTOR = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:\s*\^\s*(?P<power>[0-9]{1,4}))?", re.ASCII)
MOST_WORDS = 20_000

Word = dict[str, int]
"""Factor → power."""


@dataclass(frozen=True, slots=True)
class Equation:
    """The level of `factor` is the sum of `others` (column, times) modulo `modulus`."""

    factor: int
    others: tuple[tuple[int, int], ...]
    modulus: int


@dataclass(frozen=True, slots=True)
class Regular:
    """A regular fraction of the combinations of this number of levels."""

    counts: tuple[int, ...]
    equations: tuple[Equation, ...]
    resolution: int | None
    """Factors in the shortest word that follows; None: there are too many words to tell."""
    divisor: int

    def cells(self) -> Iterator[Combination]:
        """The kept ones."""
        bound = {equation.factor for equation in self.equations}
        free = [range(1) if i in bound else range(n) for i, n in enumerate(self.counts)]
        for combination in itertools.product(*free):
            cell = list(combination)
            for equation in self.equations:
                total = sum(cell[column] * times for column, times in equation.others)
                cell[equation.factor] = total % equation.modulus
            yield tuple(cell)

    @property
    def words(self) -> str:
        """What the fraction cannot tell apart."""
        match self.resolution:
            case None:
                return "its resolution was not worked out"
            case 2:
                return "resolution II: some factors are confounded"
            case 3:
                return "resolution III: factors are confounded with interactions of two others"
            case 4:
                return "resolution IV: some interactions of two are confounded"
            case number:
                return f"resolution {_roman(number)}: factors and interactions of two are clear"


def read_words(file: StudyFile, counts: Mapping[str, int]) -> Regular:
    """The fraction that the study's defining words say; `counts`: factor → number of levels.

    Raises HeapwrightError at the word that is wrong.
    """
    names = list(counts)
    by_modulus: dict[int, list[list[int]]] = {}
    for place, text in enumerate(file.study.design.defining):
        word = _read_word(file, place, text, counts)
        modulus = _modulus(file, place, text, {name: counts[name] for name in word})
        rows = by_modulus.setdefault(modulus, [])
        rows.append([word.get(name, 0) % modulus for name in names])
        if len(_reduced(rows, modulus)) < len(rows):
            raise file.error(("design", "defining", place), f"{text!r} follows from those before")
    equations: list[Equation] = []
    divisor = 1
    for modulus, rows in by_modulus.items():
        for row in _reduced(rows, modulus):
            pivot = next(i for i, value in enumerate(row) if value)
            others = [(i, -value % modulus) for i, value in enumerate(row) if value and i != pivot]
            equations.append(Equation(pivot, tuple(others), modulus))
            divisor *= modulus
    if any(not equation.others for equation in equations):
        raise file.error(
            ("design", "defining"),
            "it follows from these words that a factor has one level only",
            "multiply the words with each other: every product must name two factors at least",
        )
    return Regular(tuple(counts.values()), tuple(equations), _resolution(by_modulus), divisor)


def _read_word(file: StudyFile, place: int, text: str, counts: Mapping[str, int]) -> Word:
    keys = ("design", "defining", place)
    word: Word = {}
    for piece in text.split("*"):
        match = FACTOR.fullmatch(piece.strip())
        if match is None:
            raise file.error(keys, f"{text!r} is no word: write one*two*three, or one*two^2")
        name = match["name"]
        if name not in counts:
            known = ", ".join(counts)
            why = "all of the allocators are always run" if name in file.study.factors else ""
            raise file.error(
                keys, f"{name!r} cannot be in a word: {why or 'no such factor'}", known
            )
        if name in word:
            raise file.error(keys, f"{name!r} is in {text!r} twice; write a power: {name}^2")
        word[name] = int(match["power"] or 1)
    if len(word) < 2:
        raise file.error(keys, f"{text!r} names one factor; a word names two at least")
    for name, power in word.items():
        if counts[name] > 1 and power % counts[name] == 0:
            raise file.error(keys, f"the power {power} of {name} is a multiple of {counts[name]}")
    return word


def _modulus(file: StudyFile, place: int, text: str, sizes: Mapping[str, int]) -> int:
    """The number of levels that all factors of a word have; it must be prime."""
    keys = ("design", "defining", place)
    said = ", ".join(f"{name} {count}" for name, count in sizes.items())
    if len(set(sizes.values())) > 1:
        raise file.error(keys, f"the factors of {text!r} have different numbers of levels: {said}")
    modulus = next(iter(sizes.values()))
    if not _is_prime(modulus):
        raise file.error(
            keys,
            f"the factors of {text!r} have {modulus} levels each, which is no prime number",
            "`share` takes a fraction of any design",
        )
    return modulus


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % each for each in range(2, int(number**0.5) + 1))


def _reduced(rows: Sequence[Sequence[int]], modulus: int) -> list[list[int]]:
    """The rows in reduced echelon form, without those that are nothing."""
    work = [[value % modulus for value in row] for row in rows]
    done: list[list[int]] = []
    for column in range(len(work[0])):
        row = next((each for each in work if each[column]), None)
        if row is None:
            continue
        work.remove(row)
        inverse = pow(row[column], -1, modulus)
        row = [value * inverse % modulus for value in row]
        work, done = (
            [
                [(a - each[column] * b) % modulus for a, b in zip(each, row, strict=True)]
                for each in group
            ]
            for group in (work, done)
        )
        done.append(row)
    return done


def _resolution(by_modulus: Mapping[int, Sequence[Sequence[int]]]) -> int | None:
    """Factors in the shortest product of words."""
    shortest = None
    for modulus, rows in by_modulus.items():
        if modulus ** len(rows) > MOST_WORDS:
            return None
        for powers in itertools.product(range(modulus), repeat=len(rows)):
            if any(powers):
                product = (
                    sum(p * value for p, value in zip(powers, column, strict=True)) % modulus
                    for column in zip(*rows, strict=True)
                )
                length = sum(value != 0 for value in product)
                shortest = length if shortest is None else min(shortest, length)
    return shortest


def _roman(number: int) -> str:
    tens, ones = divmod(number, 10)
    return "X" * tens + ["", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"][ones]
