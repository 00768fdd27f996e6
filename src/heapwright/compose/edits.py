# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Edits of a composition, made on its tree.

- *Below* a layer is its superheap. Below a heap over nothing (a list over `NullHeap`) is the heap
  that serves when the list is empty. That is the superheap of the layer that the list belongs to.
- A layer that carves takes the place of the carving below it and of that carving's representation
  of objects. One carving layer over another is of no use.
- A layer may need what it does not find below it. Then the rungs between it and the source in its
  own example are added (`repairs`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from heapwright.artefacts.composition.expression import Expression, parse_expression
from heapwright.artefacts.composition.layers import Toolbox
from heapwright.base.errors import HeapwrightError
from heapwright.base.spelling import nearest
from heapwright.compose.stack import Way, at, places, put

NOTHING = "NullHeap"
CARVING = ("carve", "object")


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit: `what` (a layer, with policies where a new one is put in) and `where`."""

    kind: Literal["insert", "remove", "replace"]
    what: str
    where: str = ""
    above: bool = False


def parse_edits(options: Sequence[tuple[str, str]]) -> list[Edit]:
    """Read the options of a command line in their order: (`--insert`, text), (`--below`, text) …

    Raises HeapwrightError.
    """
    edits: list[Edit] = []
    pending: tuple[str, str] | None = None
    partners: dict[str, tuple[str, ...]] = {
        "--insert": ("--below", "--above"),
        "--replace": ("--with",),
    }
    for option, value in options:
        if option in ("--below", "--above", "--with"):
            if pending is None or option not in partners[pending[0]]:
                owner = "--replace" if option == "--with" else "--insert"
                raise HeapwrightError(f"{option} {value} belongs behind {owner} LAYER")
            if option == "--with":
                edits.append(Edit("replace", value, pending[1]))
            else:
                edits.append(Edit("insert", pending[1], value, option == "--above"))
            pending = None
            continue
        _refuse_half(pending)
        pending = (option, value) if option in partners else None
        if option == "--remove":
            edits.append(Edit("remove", value))
    _refuse_half(pending)
    return edits


def described(edit: Edit) -> str:
    """An edit in words that can follow the name of an allocator."""
    if edit.kind == "insert":
        return f"{edit.what} {'above' if edit.above else 'below'} its {edit.where}"
    if edit.kind == "remove":
        return f"no {edit.what}"
    return f"{edit.what} for its {edit.where}"


def _refuse_half(pending: tuple[str, str] | None) -> None:
    if pending is not None:
        option, value = pending
        rest = "--with LAYER" if option == "--replace" else "--below LAYER or --above LAYER"
        raise HeapwrightError(f"{option} {value} needs {rest} behind it")


def apply(edit: Edit, top: Expression, toolbox: Toolbox) -> Expression:
    """The tree after an edit, whether it can be compiled or not. Raises HeapwrightError."""
    if edit.kind == "insert":
        return _insert(edit, top, toolbox)
    path = find(edit.where or edit.what, top, toolbox)
    old = at(top, path)
    layer = toolbox.find(old.name)
    if edit.kind == "remove":
        if layer is None or not layer.heaps:
            raise HeapwrightError(
                f"{old.name} stands on nothing and cannot be taken out",
                "--replace it with something else",
            )
        return put(top, path, old.arguments[layer.heaps[-1]])
    superheap = old.arguments[layer.heaps[-1]] if layer is not None and layer.heaps else None
    return put(top, path, _made(edit.what, toolbox, superheap))


def find(name: str, top: Expression, toolbox: Toolbox) -> Way:
    """The way to what is called `name`: a rung by its own name, or a layer or policy by its.

    Raises HeapwrightError unless there is exactly one.
    """
    found: dict[Way, Expression] = {}
    for place in places(top, toolbox):
        plain = name.rpartition("::")[2]
        if place.expression.rung == plain or place.expression.name == name:
            found[place.path] = place.expression
    if len(found) == 1:
        return next(iter(found))
    if not found:
        there = [each.name for each in top.walk() if toolbox.find(each.name)]
        rungs = [each.rung for each in top.walk() if each.rung]
        near = nearest(name, list(dict.fromkeys([*there, *rungs])))
        raise HeapwrightError(
            f"there is no {name} in it, only {', '.join(dict.fromkeys(there))}", near
        )
    named = [each.rung for each in found.values() if each.rung]
    hint = f"name one by its rung: {' or '.join(named)}" if named else "write the type: --type"
    raise HeapwrightError(f"{name} is in it {len(found)} times", hint)


def _insert(edit: Edit, top: Expression, toolbox: Toolbox) -> Expression:
    path = find(edit.where, top, toolbox)
    if not edit.above:
        path = below(path, top, toolbox)
    layer = toolbox.layer(parse_expression(edit.what).name)
    there = at(top, path)
    if layer.category == "carve":
        there = without_carving(there, toolbox)
    return put(top, path, _made(edit.what, toolbox, there))


def below(path: Way, top: Expression, toolbox: Toolbox) -> Way:
    """The way to what a heap turns to when it has nothing itself. Raises HeapwrightError."""
    while True:
        heap = at(top, path)
        layer = toolbox.find(heap.name)
        if layer is None or not layer.heaps:
            raise HeapwrightError(f"there is nothing below {heap.name}", "say --above it")
        superheap = (*path, layer.heaps[-1])
        if at(top, superheap).name != NOTHING or not path:
            return superheap
        path = path[:-1]


def without_carving(heap: Expression, toolbox: Toolbox) -> Expression:
    """What is left of a stack without the carving at its top and the objects that belong to it."""
    rest, carved = heap, None
    while (layer := toolbox.find(rest.name)) and layer.heaps and layer.category in CARVING:
        rest = rest.arguments[layer.heaps[-1]]
        if layer.category == "carve":
            carved = rest
    if carved is None:
        return heap
    while (layer := toolbox.find(carved.name)) and layer.heaps and layer.category in CARVING:
        carved = carved.arguments[layer.heaps[-1]]
    return carved


def _made(text: str, toolbox: Toolbox, superheap: Expression | None) -> Expression:
    """A layer or policy as it was written, with the superheap in its place.

    Without arguments it has those of its example. Raises HeapwrightError.
    """
    written = parse_expression(text)
    layer = toolbox.layer(written.name)
    count, given = len(layer.parameters), written.arguments
    policies = [i for i in range(count) if i not in layer.heaps]
    if not layer.heaps or superheap is None:
        if not given and count and layer.example is not None:
            given = layer.example.arguments
        return replace(written, arguments=given)
    defaults = layer.example.arguments if layer.example is not None else ()
    if len(given) in (0, len(policies)) and (defaults or count == len(given) + 1):
        arguments = list(defaults) or [*given, superheap]
        for index, policy in zip(policies, given, strict=False):
            arguments[index] = policy
        arguments[layer.heaps[-1]] = superheap
    elif len(given) == count - 1:
        arguments = [*given, superheap]
    else:
        raise HeapwrightError(
            f"{text} does not say what {layer.name} needs",
            f"write {layer.name}<{', '.join(p.name for p in layer.parameters[:-1])}>; "
            f"the {layer.parameters[-1].name} is what it is put on",
        )
    return Expression(layer.name, tuple(arguments))


def chain_of(example: Expression, toolbox: Toolbox) -> list[Expression]:
    """The rungs of an example from its top to the one above its source."""
    chain = []
    while (layer := toolbox.find(example.name)) and layer.heaps:
        chain.append(example)
        example = example.arguments[layer.heaps[-1]]
    return chain


def rebased(chain: Sequence[Expression], heap: Expression, toolbox: Toolbox) -> Expression:
    """A chain of rungs over another heap."""
    for rung in reversed(chain):
        layer = toolbox.layer(rung.name)
        heap = put(replace(rung, rung="", note=""), (layer.heaps[-1],), heap)
    return heap
