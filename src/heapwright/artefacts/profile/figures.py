# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Single figures of a profile by their path, such as `totals.allocations`, for files that name
them.

A path leads through the document as its schema describes it, to a number. `PATH=WORD` asks
of a word whether it is this one: 1 or 0. What a profile does not have is None, never zero.
"""

import types
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

from heapwright.artefacts.profile.document import Profile

IS = "="
NUMBERS = (int, float)


def figure_of(profile: Profile, figure: str) -> float | None:
    """The figure of a profile; the path is one that `why_not` has nothing against."""
    path, asked, word = figure.partition(IS)
    value: object = profile
    for name in path.split("."):
        if value is None:
            return None
        value = getattr(value, _field(type(value), name))
    if asked:
        return None if value is None else float(value == word)
    return float(value) if isinstance(value, NUMBERS) else None


def why_not(figure: str) -> str:
    """What is wrong with a path; empty if every profile has it."""
    path, asked, word = figure.partition(IS)
    here: Any = Profile
    for name in path.split("."):
        model = _model(here)
        if model is None:
            return f"{name!r} leads on from what is no table in a profile"
        known = {field.alias or each: each for each, field in model.model_fields.items()}
        if name not in known:
            return f"a profile has no {name!r} there; it has {', '.join(known)}"
        here = model.model_fields[known[name]].annotation
    leaves = _leaves(here)
    words = {each for each in leaves if isinstance(each, str)}
    if asked:
        return "" if word in words else f"{path} is none of {', '.join(sorted(words)) or 'words'}"
    is_number = any(isinstance(each, type) and issubclass(each, NUMBERS) for each in leaves)
    return "" if is_number else f"{path} is no number; PATH=WORD asks whether a word is there"


def _field(model: type, name: str) -> str:
    """The attribute that a name of the document stands for."""
    assert issubclass(model, BaseModel)
    return next(
        (each for each, field in model.model_fields.items() if (field.alias or each) == name), name
    )


def _model(annotation: Any) -> type[BaseModel] | None:
    found = [each for each in _leaves(annotation) if isinstance(each, type)]
    return next((each for each in found if issubclass(each, BaseModel)), None)


def _leaves(annotation: Any) -> tuple[Any, ...]:
    """The types and words that a field can hold, without what surrounds them."""
    origin = get_origin(annotation)
    if origin is Literal:
        return get_args(annotation)
    if origin in (Union, types.UnionType):
        return tuple(leaf for each in get_args(annotation) for leaf in _leaves(each))
    if origin is not None and hasattr(annotation, "__metadata__"):
        return _leaves(get_args(annotation)[0])
    return () if origin is not None else (annotation,)
