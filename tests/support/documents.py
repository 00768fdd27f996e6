# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Documents for tests: a test names the fields it is about, and the others are neutral."""

from enum import Enum
from types import UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel

Model = TypeVar("Model", bound=BaseModel)


def neutral(kind: Any) -> Any:
    """Zero, nothing, the first of an enumeration, or a document whose every field is neutral."""
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in {Annotated, Literal}:
        return arguments[0] if origin is Literal else neutral(arguments[0])
    if origin in {Union, UnionType}:
        return None if type(None) in arguments else neutral(arguments[0])
    if origin is tuple and Ellipsis not in arguments:
        return tuple(map(neutral, arguments))
    if isinstance(kind, type) and issubclass(kind, Enum | BaseModel):
        return made(kind) if issubclass(kind, BaseModel) else next(iter(kind))
    return (dict if "Mapping" in str(origin) else origin or kind)()


def made(model: type[Model], /, **given: Any) -> Model:
    """A document with these fields; what else it must have is neutral."""
    fields = {field.alias or name: field for name, field in model.model_fields.items()}
    missing = {
        name: neutral(field.annotation)
        for name, field in fields.items()
        if field.is_required() and name not in given
    }
    return model.model_validate({**missing, **given})
