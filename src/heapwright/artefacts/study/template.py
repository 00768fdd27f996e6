# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Templates of a study file: `--size {size.low}-{size.high}`.

`{factor}` is the level's value (or its name, where it has none). `{factor.key}` is a key of its
table, and `{factor.name}` its name. `{workload:NAME}` is the program of a named workload.
`{folder}` is the folder of the study file, `{native}` that of heapwright's compiled parts,
`{python}` the interpreter that heapwright runs on. `{block}` is the number of the block, and is
filled in when a run is made. Braces themselves are doubled. Nothing else is understood, and nothing
else is left standing: what cannot be filled in is an error.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from heapwright.artefacts.study.factor import Level, scalar_text

PLACE = re.compile(r"\{\{|\}\}|\{(?P<name>[^{}]*)\}|[{}]")
NAME = re.compile(r"(?P<factor>[A-Za-z_]\w*)(?:\.(?P<key>[A-Za-z_]\w*))?", re.ASCII)
WORKLOAD = "workload:"
FOLDER = "folder"
NATIVE = "native"
PYTHON = "python"
PLACES = (FOLDER, NATIVE, PYTHON)
"""The facts of this installation, the same for all studies."""
BLOCK = "block"
OF_RUN = {BLOCK: f"\0{BLOCK}\0"}
"""What a run fills in: marks in a treatment. No argument of a program can contain a NUL."""


class TemplateError(ValueError):
    """What is wrong with a template, as a sentence."""


@dataclass(frozen=True, slots=True)
class Place:
    """What stands between braces: a factor, with a key or without; or something else's name."""

    text: str
    factor: str = ""
    key: str = ""
    workload: str = ""


def places(template: str) -> Iterator[Place]:
    """What a template names. Raises TemplateError."""
    for match in PLACE.finditer(template):
        if match["name"] is not None:
            yield _place(match["name"], template)
        elif match[0] in "{}":
            raise TemplateError(f"a brace stands alone in {template!r}; write {match[0] * 2}")


def _place(text: str, template: str) -> Place:
    if text.startswith(WORKLOAD):
        return Place(text, workload=text.removeprefix(WORKLOAD).strip())
    match = NAME.fullmatch(text)
    if match is None:
        raise TemplateError(
            f"{{{text}}} in {template!r} is no name; write braces that are meant as such twice"
        )
    return Place(text, match["factor"], match["key"] or "")


def fill(
    template: str,
    levels: Mapping[str, Level],
    *,
    programs: Callable[[str], str],
    others: Mapping[str, str | Callable[[], str]] | None = None,
) -> str:
    """Fill in a template; `programs` gives a workload's path. Raises TemplateError.

    `others` are further names, such as `folder`, or what finds what they stand for.
    """
    extra = others or {}

    def replaced(match: re.Match[str]) -> str:
        if match["name"] is None:
            return match[0][0]
        place = _place(match["name"], template)
        if place.workload:
            return programs(place.workload)
        if not place.key and place.factor in extra:
            found = extra[place.factor]
            return found if isinstance(found, str) else found()
        return scalar_text(value_of(place, levels))

    for _ in places(template):  # a brace that stands alone is found before anything is replaced
        pass
    return PLACE.sub(replaced, template)


def value_of(place: Place, levels: Mapping[str, Level]) -> bool | int | float | str:
    """What a factor's name stands for at these levels. Raises TemplateError."""
    level = levels.get(place.factor)
    if level is None:
        raise TemplateError(f"there is no factor {place.factor!r}")
    if not place.key:
        return level.plain
    if place.key == "name":
        return level.name
    if place.key not in level.keys:
        raise TemplateError(f"level {level.name!r} of {place.factor!r} has no {place.key!r}")
    return level.keys[place.key]
