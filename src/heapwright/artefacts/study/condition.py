# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Conditions between factors: `threads >= cpus and size.low in [16, 64]`.

Read with the language's own parser and evaluated by a walk over the tree. The walk knows
comparisons, and/or/not, `in`, the four arithmetic signs with // and %, values and names. There are
no calls, no subscripts and no powers. So a study file cannot make heapwright do anything but
compare. A name is a factor's, or a factor's with a key (see `artefacts.study.template`).
"""

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from heapwright.artefacts.study.factor import Level
from heapwright.artefacts.study.template import Place, TemplateError, value_of

LONGEST = 2000
CONSTANTS = {"true": True, "false": False}

COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
ALLOWED = (
    "comparisons, and, or, not, in, + - * / // %, numbers, texts in quotes, lists, and names of "
    "factors"
)


class ConditionError(ValueError):
    """What is wrong with a condition, as a sentence."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition with valid syntax. `names` lists its names, which may be unknown."""

    text: str
    tree: ast.expr
    names: tuple[Place, ...]

    @property
    def factors(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(place.factor for place in self.names))

    def holds(self, levels: Mapping[str, Level]) -> bool:
        """Raises ConditionError where it compares what cannot be compared."""
        try:
            answer = _value(self.tree, levels)
        except TypeError as error:
            said = ", ".join(f"{each} = {levels[each].name}" for each in self.factors)
            raise ConditionError(f"{self.text!r} cannot be decided for {said}: {error}") from error
        except (ZeroDivisionError, OverflowError, TemplateError) as error:
            raise ConditionError(f"{self.text!r} cannot be decided: {error}") from error
        if not isinstance(answer, bool):
            raise ConditionError(f"{self.text!r} is {answer!r}, neither true nor false")
        return answer


def parse_condition(text: str) -> Condition:
    """Read a condition. Raises ConditionError."""
    if len(text) > LONGEST:
        raise ConditionError(f"a condition has at most {LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval").body
        names = tuple(_names(tree))
    except SyntaxError as error:
        raise ConditionError(f"{text!r} cannot be read: {error.msg}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, ConditionError):
            raise
        raise ConditionError(f"the condition cannot be read: {error}") from error
    return Condition(text.strip(), tree, names)


def _names(node: ast.expr) -> list[Place]:
    """The names in a tree, which is found to have nothing in it that is not allowed."""
    match node:
        case ast.Constant(value=bool() | int() | float() | str()):
            return []
        case ast.Name(id=name):
            return [] if name in CONSTANTS else [Place(name, name)]
        case ast.Attribute(value=ast.Name(id=name), attr=key):
            return [Place(f"{name}.{key}", name, key)]
        case ast.BoolOp(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
            pass
        case ast.UnaryOp(op=ast.Not() | ast.USub(), operand=part):
            parts = [part]
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in ARITHMETIC:
            parts = [left, right]
        case ast.Compare(left=left, ops=signs, comparators=others) if all(
            type(sign) in COMPARISONS for sign in signs
        ):
            parts = [left, *others]
        case _:
            raise ConditionError(f"{ast.unparse(node)!r} is not understood; there are {ALLOWED}")
    return [name for part in parts for name in _names(part)]


def _value(node: ast.expr, levels: Mapping[str, Level]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return CONSTANTS[name] if name in CONSTANTS else _of(levels, name)
        case ast.Attribute(value=ast.Name(id=name), attr=key):
            return _of(levels, name, key)
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [_value(part, levels) for part in parts]
        case ast.BinOp(left=left, op=sign, right=right):
            return ARITHMETIC[type(sign)](_number(left, levels), _number(right, levels))
    return _judged(node, levels)


def _judged(node: ast.expr, levels: Mapping[str, Level]) -> bool | int | float:
    """What is true or false by its form; or has a sign before it."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=part):
            return -_number(part, levels)
        case ast.BoolOp(op=sign, values=parts):
            answers = (_truth(part, levels) for part in parts)
            return all(answers) if isinstance(sign, ast.And) else any(answers)
        case ast.UnaryOp(op=ast.Not(), operand=part):
            return not _truth(part, levels)
        case ast.Compare(left=left, ops=signs, comparators=others):
            values = [_value(each, levels) for each in (left, *others)]
            return all(
                _compared(sign, one, other)
                for sign, one, other in zip(signs, values, values[1:], strict=False)
            )
    raise AssertionError(f"{ast.dump(node)} has passed _names")


def _compared(sign: ast.cmpop, one: Any, other: Any) -> bool:
    """Only like with like: that "1" is not 1 would otherwise go unnoticed."""
    many = isinstance(sign, ast.In | ast.NotIn)
    if many and not isinstance(other, list):
        raise TypeError(f"{other!r} is no list")
    for each in other if many else [other]:
        if _kind(one) is not _kind(each):
            raise TypeError(f"{one!r} and {each!r} are not of a kind")
    return COMPARISONS[type(sign)](one, other)


def _kind(value: Any) -> type:
    return float if type(value) is int else type(value)


def _of(levels: Mapping[str, Level], factor: str, key: str = "") -> bool | int | float | str:
    return value_of(Place(factor, factor, key), levels)


def _truth(node: ast.expr, levels: Mapping[str, Level]) -> bool:
    value = _value(node, levels)
    if not isinstance(value, bool):
        raise TypeError(f"{ast.unparse(node)} is {value!r}, neither true nor false")
    return value


def _number(node: ast.expr, levels: Mapping[str, Level]) -> int | float:
    value = _value(node, levels)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{ast.unparse(node)} is {value!r}, no number")
    return value
