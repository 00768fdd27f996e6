# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Finds all errors of a study document, also if some of its fields are invalid.

Some checks compare fields: for example, a bar must name a response that exists. They need a valid
study, so they check a copy. In the copy, required fields that are invalid are replaced, and other
invalid fields are removed. An error that a removal may have caused is not reported.
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
"""Valid values of the required fields. They replace missing and invalid ones."""
MOST_ROUNDS = 10
"""Limit of the rounds. A removed field may make its table invalid, for the next round to remove."""


def checked(document: Mapping[str, Any], whole: Study | None) -> tuple[Study, list[Problem]]:
    """The study and its errors. If a field is invalid, the study has its factors only."""
    try:
        study = Study.model_validate(document)
    except ValidationError as error:
        problems = problems_of(error, document, Study)
        return only_factors(document), [*problems, *_errors_between_fields(document, whole)]
    return study, list(check_study(study, whole))


def only_factors(document: Mapping[str, Any]) -> Study:
    """A study of the factors with valid levels, which is enough for further checks of levels."""
    written = document.get("factors")
    factors: dict[str, Factor] = {}
    for name, table in written.items() if isinstance(written, dict) else ():
        if isinstance(table, dict):
            needed = {key: table[key] for key in ("levels", "role") if key in table}
            with suppress(ValidationError):
                factors[name] = Factor.model_validate(needed)
    return Study.model_construct(factors=factors)


def _errors_between_fields(document: Mapping[str, Any], whole: Study | None) -> list[Problem]:
    """The errors that remain when the invalid fields are removed."""
    if not all(isinstance(document.get(key), dict) for key in ("factors", "responses")):
        return []  # the checks would call every name of a factor or response unknown
    rest = deepcopy(dict(document))
    removed: set[Keys] = set()
    for _ in range(MOST_ROUNDS):
        try:
            study = Study.model_validate(rest)
        except ValidationError as error:
            found = {_remove(rest, each.keys) for each in problems_of(error, rest, Study)}
            if found <= removed:
                return []
            removed |= found
        else:
            problems = check_study(study, whole)
            return [each for each in problems if not _may_follow(each, removed)]
    return []


def _remove(document: dict[str, Any], keys: Keys) -> Keys:
    """Remove the value at `keys`, or the table that lacks it. Returns the keys of what was removed.

    An invalid item removes its whole list, so that no other item changes its index.
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


def _may_follow(problem: Problem, removed: set[Keys]) -> bool:
    """Whether the removal may have caused the problem: it is at a removed key, or names one."""
    return any(
        problem.keys[: len(keys)] == keys[: len(problem.keys)]
        or any(f"{key!r}" in problem.text for key in keys)
        for keys in removed
    )
