# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether an answer about a program is right, given the truth. Pure.

An answer is right if it finds all that is true and nothing that is not. A setting that it advises
must be one that helps. A steady program is one in which there is nothing to find. `cannot tell` is
an answer that draws no conclusion, or that finds growth and says that it could not search for lost
blocks. It is right where the recorder cannot see the program's allocator. The culprit and the rate
of a right answer are judged besides.
"""

from dataclasses import dataclass
from enum import StrEnum

from .answer import Answer
from .cases import Case

LARGEST_FACTOR = 1.5
"""Between a rate and the true one."""


class Verdict(StrEnum):
    """What an answer is worth."""

    RIGHT = "right"
    WRONG = "wrong"
    CANNOT_TELL = "cannot tell"


@dataclass(frozen=True, slots=True)
class Judgement:
    """An answer, judged."""

    verdict: Verdict
    culprit: bool | None = None
    """Whether the places named are the true ones; None where there is none to name."""
    rate: bool | None = None
    """Whether the rates given are about the true ones; None where none is even or none is given."""
    why: str = ""


def judge(case: Case, answer: Answer) -> Judgement:
    """The verdict on an answer about a case."""
    if answer.kinds is None:
        verdict = Verdict.RIGHT if case.blind else Verdict.CANNOT_TELL
        return Judgement(verdict, why=answer.sentence)
    allowed = {kind for each in case.truth for kind in alternatives(each)} | case.also
    if _undecided(case, answer):
        return Judgement(Verdict.CANNOT_TELL, why="could not search for lost blocks")
    missed = [each for each in case.truth if not alternatives(each) & answer.kinds]
    invented = answer.kinds - allowed
    denied = "leak" in case.truth and "not lost" in answer.sentence
    reasons = [
        *(f"does not find the {each}" for each in sorted(missed)),
        *(f"finds a {each} that is none" for each in sorted(invented)),
        *(["denies the leak"] if denied else []),
        *_misadvised(case, answer),
    ]
    if reasons:
        return Judgement(Verdict.WRONG, why="; ".join(reasons))
    return Judgement(Verdict.RIGHT, _culprit(case, answer), _rate(case, answer))


def _misadvised(case: Case, answer: Answer) -> list[str]:
    """What is wrong with the advised setting."""
    if case.setting is None:
        return []
    words = [word.partition("=") for word in case.setting.split()]
    asked = {name: value or answer.settings.get(name) for name, _, value in words}
    if asked == dict(answer.settings):
        return []
    advised = [f"{name}={value}" for name, value in answer.settings.items()]
    return [f"advises {' '.join(advised) or 'no setting'}"]


def alternatives(truth: str) -> set[str]:
    """The kinds one of which is enough."""
    return set(truth.split(" or "))


def _undecided(case: Case, answer: Answer) -> bool:
    """Whether the answer found that memory rises, and left open whether it is lost."""
    growth = answer.kinds == frozenset({"growth"}) and not answer.searched
    return "leak" in case.truth and growth and "not lost" not in answer.sentence


def _culprit(case: Case, answer: Answer) -> bool | None:
    """The first place of each kind found, which the sentence has to name as well."""
    expected = {kind: case.culprit[kind] for kind in case.culprit if kind in (answer.kinds or ())}
    if not expected:
        return None
    return all(
        any(function in frame for frame in answer.places.get(kind, ()))
        and function in answer.sentence
        for kind, function in expected.items()
    )


def _rate(case: Case, answer: Answer) -> bool | None:
    given = {kind: answer.rates[kind] for kind in case.rate if kind in answer.rates}
    if not given:
        return None
    return all(
        case.rate[kind] / LARGEST_FACTOR <= rate <= case.rate[kind] * LARGEST_FACTOR
        for kind, rate in given.items()
    )
