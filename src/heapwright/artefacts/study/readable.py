# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The study of a document, and all that is wrong with it, also where some fields are wrong.

What one field alone cannot tell is checked of the fields that are right: those that are wrong are
left out first. A problem that may only be there because of what was left out is not reported.
"""

from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from typing import Any

from pydantic import ValidationError

from heapwright.artefacts.study.checks import check_study
from heapwright.artefacts.study.factor import Factor
from heapwright.artefacts.study.model import FORMAT, Study
from heapwright.base.problems import Keys, Problem
from heapwright.base.validation import problems_of

NEEDED = {
    "format": FORMAT,
    "name": "name",
    "title": "title",
    "factors": {"allocator": {"levels": ["glibc"]}},
    "responses": {"time": {"from": "wall"}},
}
"""Stands for what is missing, or wrong, and is needed."""
MOST_ROUNDS = 10
"""What is left out may make its table wrong, which is left out in the next round."""


def checked(document: Mapping[str, Any], whole: Study | None) -> tuple[Study, list[Problem]]:
    """The study, or of one with a wrong field the factors; and all that is wrong."""
    try:
        study = Study.model_validate(document)
    except ValidationError as error:
        problems = problems_of(error, document, Study)
        return only_factors(document), [*problems, *_of_the_rest(document, whole)]
    return study, list(check_study(study, whole))


def only_factors(document: Mapping[str, Any]) -> Study:
    """A study of the factors whose levels can be read; further checks of the levels need no more
    than that."""
    written = document.get("factors")
    factors: dict[str, Factor] = {}
    for name, table in written.items() if isinstance(written, dict) else ():
        if isinstance(table, dict):
            needed = {key: table[key] for key in ("levels", "role") if key in table}
            with suppress(ValidationError):
                factors[name] = Factor.model_validate(needed)
    return Study.model_construct(factors=factors)


def _of_the_rest(document: Mapping[str, Any], whole: Study | None) -> list[Problem]:
    """What is wrong with the fields that are right one by one."""
    if not all(isinstance(document.get(key), dict) for key in ("factors", "responses")):
        return []  # any name of a factor or a response would seem to be wrong
    rest = deepcopy(dict(document))
    left_out: set[Keys] = set()
    for _ in range(MOST_ROUNDS):
        try:
            study = Study.model_validate(rest)
        except ValidationError as error:
            found = {_leave_out(rest, each.keys) for each in problems_of(error, rest, Study)}
            if found <= left_out:
                return []
            left_out |= found
        else:
            problems = check_study(study, whole)
            return [each for each in problems if not _may_follow(each, left_out)]
    return []


def _leave_out(document: dict[str, Any], keys: Keys) -> Keys:
    """Take out what the keys lead to, or the table that lacks it; the keys of what was taken out.

    An item is taken out with its list, so that the other items keep their places.
    """
    steps = keys[: next((at for at, key in enumerate(keys) if isinstance(key, int)), len(keys))]
    if len(steps) == 1 and steps[0] in NEEDED:
        document[str(steps[0])] = NEEDED[str(steps[0])]
        return steps
    table: Any = document
    for at, key in enumerate(steps[:-1]):
        inner = table.get(key)
        if not isinstance(inner, dict) or (at == len(steps) - 2 and steps[-1] not in inner):
            table.pop(key, None)
            return steps[: at + 1]
        table = inner
    table.pop(steps[-1], None)
    return steps


def _may_follow(problem: Problem, left_out: set[Keys]) -> bool:
    """The problem is of a table that lacks something, or names what was left out."""
    return any(
        problem.keys[: len(keys)] == keys[: len(problem.keys)]
        or any(f"{key!r}" in problem.text for key in keys)
        for keys in left_out
    )
