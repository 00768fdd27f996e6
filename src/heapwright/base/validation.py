# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Says in plain words what a model refuses in a file, and to which key of the file it belongs.

The validating library names the branch of a union that it tried. Such steps are not in the file,
and are left out of the path. What all branches of a union refuse is said once.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from heapwright.base.problems import Keys, Problem, unknown_name

WORDS = {
    "string_type": "must be a text",
    "string_pattern_mismatch": "must be small letters, digits and -, beginning with a letter or "
    "digit",
    "string_too_long": "is too long",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "model_attributes_type": "must be a table",
    "too_short": "must not be empty",
    "finite_number": "must be a finite number",
}
UNION = "must be a number, a text, true or false, or a table"


def problems_of(
    error: ValidationError, document: Mapping[str, Any], model: type[BaseModel]
) -> list[Problem]:
    """What is wrong with `document`, each thing once; `model` is what refuses it."""
    schema = model.model_json_schema(by_alias=True)
    groups: dict[Keys, list[ErrorDetails]] = {}
    tables: set[Keys] = set()
    for each in error.errors(include_url=False):
        keys, value = _in_document(each["loc"], document)
        if each["type"] == "missing":
            keys = (*keys, str(each["loc"][-1]))
        elif isinstance(value, dict) and each["type"] != "extra_forbidden":
            tables.add(keys)
        groups.setdefault(keys, []).append(each)
    for keys in tables:  # written as a table: why it is none of the other things is no help
        if any(other[: len(keys)] == keys and other != keys for other in groups):
            del groups[keys]
    return [_problem(keys, found, schema) for keys, found in groups.items()]


def _in_document(loc: tuple[str | int, ...], document: Any) -> tuple[Keys, Any]:
    """The steps of `loc` that are in the document, and what they lead to."""
    keys: Keys = ()
    for step in loc:
        inside = (isinstance(document, dict) and step in document) or (
            isinstance(document, list) and isinstance(step, int) and step < len(document)
        )
        if inside:
            document = document[step]
            keys = (*keys, step)
    return keys, document


def _problem(keys: Keys, found: list[ErrorDetails], schema: dict[str, Any]) -> Problem:
    first = found[0]
    if first["type"] == "missing":
        return Problem(keys, "is missing")
    if first["type"] == "extra_forbidden":
        known = sorted(set(_known_keys(schema, keys[:-1])))
        return unknown_name(keys, "there is no such key", str(keys[-1]), known)
    if len({each["loc"] for each in found}) > 1:
        kinds = [WORDS.get(each["type"], "").removeprefix("must be ") for each in found]
        kinds = list(dict.fromkeys(kind for kind in kinds if kind))
        return Problem(keys, f"must be {_listed(kinds)}" if kinds else UNION)
    return _worded(keys, first)


def _listed(words: list[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _worded(keys: Keys, error: ErrorDetails) -> Problem:
    context = error.get("ctx", {})
    match error["type"]:
        case "literal_error":
            expected = str(context.get("expected", ""))
            known = [each.strip(" '") for each in expected.replace(" or ", ",").split(",")]
            return unknown_name(keys, f"cannot be {error['input']!r}", str(error["input"]), known)
        case "greater_than" | "greater_than_equal" | "less_than" | "less_than_equal" as kind:
            limit = next(iter(context.values()))
            words = kind.replace("_", " ").removesuffix(" equal")
            equal = " or equal to" if kind.endswith("equal") else ""
            return Problem(keys, f"must be {words}{equal} {limit}".replace("to than", "than"))
        case kind:
            text = error["msg"].removeprefix("Value error, ")
            return Problem(keys, WORDS.get(kind, text[:1].lower() + text[1:]))


def _known_keys(schema: dict[str, Any], keys: Keys) -> Iterator[str]:
    """The keys that may be in the table to which `keys` lead."""
    for node in _nodes(schema, schema, keys):
        yield from node.get("properties", {})


def _nodes(root: dict[str, Any], node: dict[str, Any], keys: Keys) -> Iterator[dict[str, Any]]:
    """The schemas of what `keys` lead to, all branches of unions."""
    if "$ref" in node:
        yield from _nodes(root, root["$defs"][node["$ref"].rpartition("/")[2]], keys)
    for branch in (*node.get("anyOf", ()), *node.get("oneOf", ()), *node.get("allOf", ())):
        yield from _nodes(root, branch, keys)
    if not keys:
        yield node
        return
    inner = node.get("properties", {}).get(keys[0])
    if inner is None:
        inner = node.get("items") if isinstance(keys[0], int) else node.get("additionalProperties")
    if isinstance(inner, dict):
        yield from _nodes(root, inner, keys[1:])
