# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A composition as a tree of heaps: an expression together with what the toolbox says of it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from heapwright.artefacts.composition.aliases import Scope
from heapwright.artefacts.composition.expression import Expression
from heapwright.artefacts.composition.layers import Layer, Toolbox
from heapwright.base.errors import HeapwrightError
from heapwright.base.spelling import nearest

Way = tuple[int, ...]
"""The way to an expression: which argument of which argument."""


@dataclass(frozen=True, slots=True)
class Place:
    """An expression in its tree."""

    path: Way
    expression: Expression
    layer: Layer | None
    """None for what the toolbox does not know: a number, a type of the user's own."""


def places(expression: Expression, toolbox: Toolbox, path: Way = ()) -> Iterator[Place]:
    """All expressions of the tree, each after what it is made of."""
    for index, argument in enumerate(expression.arguments):
        yield from places(argument, toolbox, (*path, index))
    yield Place(path, expression, toolbox.find(expression.name))


def at(expression: Expression, path: Way) -> Expression:
    for index in path:
        expression = expression.arguments[index]
    return expression


def put(expression: Expression, path: Way, new: Expression) -> Expression:
    """The tree with `new` at `path`."""
    if not path:
        return new
    arguments = list(expression.arguments)
    arguments[path[0]] = put(arguments[path[0]], path[1:], new)
    return replace(expression, arguments=tuple(arguments))


def spine(expression: Expression, toolbox: Toolbox) -> list[Expression]:
    """The heaps from the top to the source, at every branch the superheap."""
    found = [expression]
    while True:
        layer = toolbox.find(found[-1].name)
        if layer is None or not layer.heaps or len(found[-1].arguments) != len(layer.parameters):
            return found
        found.append(found[-1].arguments[layer.heaps[-1]])


def check_names(expression: Expression, toolbox: Toolbox, scope: Scope) -> None:
    """Refuse, before any compiler does, an unknown name and a wrong number of arguments.

    Raises HeapwrightError. What stands where a number may stand is left to the compiler.
    """
    for place in places(expression, toolbox):
        each, layer = place.expression, place.layer
        if layer is not None:
            _check_count(each, layer)
        elif each.is_named and "::" not in each.name and _must_be_known(place, expression, toolbox):
            raise HeapwrightError(
                f"there is no layer, policy or rung called {each.name!r}",
                nearest(each.name, [*toolbox.names, *scope.names]),
            )


def _check_count(expression: Expression, layer: Layer) -> None:
    count, wanted = len(expression.arguments), len(layer.parameters)
    if count == wanted or any("..." in each.kind for each in layer.parameters):
        return
    example = f"as in {layer.example}" if layer.example else ""
    raise HeapwrightError(
        f"{layer.name} takes {wanted} argument{'' if wanted == 1 else 's'}"
        f"{f', {layer.signature},' if wanted else ''} and is given {count}",
        example,
    )


def _must_be_known(place: Place, top: Expression, toolbox: Toolbox) -> bool:
    """Whether a heap or a type must stand there, rather than a number."""
    if not place.path or place.expression.arguments:
        return True
    parent = toolbox.find(at(top, place.path[:-1]).name)
    if parent is None or place.path[-1] >= len(parent.parameters):
        return False
    parameter = parent.parameters[place.path[-1]]
    return parameter.is_heap or bool(parameter.concept)
