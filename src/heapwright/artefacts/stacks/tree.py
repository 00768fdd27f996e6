# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Builds the tree of calls from stacks, one after the other."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from heapwright.artefacts.profile.calls import Call, Calls, CodeObject, Function
from heapwright.artefacts.stacks.profile import Amount

ROOT = Function(name="all")
FIELDS = tuple(each for name in Call._fields for each in Amount if each == name)
"""The amounts in the order of `Call`."""
NO_FILE = -1


class Place(NamedTuple):
    """One call of a stack."""

    functions: tuple[Function, ...] = ()
    """Outermost first, those inlined into another behind it; empty: not named."""
    address: int = 0
    code: int = NO_FILE
    """The number of its object."""


class TreeBuilder:
    """Adds stacks; `calls` is the tree of all of them."""

    def __init__(self) -> None:
        self._objects: dict[CodeObject, int] = {}
        self._functions: dict[Function, int] = {ROOT: 0}
        self._places: list[tuple[int, Place]] = [(0, Place())]
        self._known: dict[tuple[int, Place], int] = {}
        self._amounts: list[list[int]] = [[0] * len(FIELDS)]

    def object(self, code: CodeObject) -> int:
        """The number of a file with code."""
        return self._objects.setdefault(code, len(self._objects))

    def child(self, parent: int, place: Place) -> int:
        """The number of the call `place` inside of another; 0 is the root."""
        key = parent, place
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = len(self._places)
            self._places.append(key)
            self._amounts.append([0] * len(FIELDS))
        return found

    def stack(self, outermost_first: Sequence[Place]) -> int:
        """The number of the innermost call of a stack."""
        found = 0
        for place in outermost_first:
            found = self.child(found, place)
        return found

    def add(self, number: int, amounts: Mapping[Amount, int]) -> None:
        """Add what the call requested itself."""
        mine = self._amounts[number]
        for place, amount in enumerate(FIELDS):
            mine[place] += amounts.get(amount, 0)

    def calls(self) -> Calls:
        """The tree. Calls without any amount are left out."""
        sums = [list(each) for each in self._amounts]
        for number in range(len(sums) - 1, 0, -1):
            outer = sums[self._places[number][0]]
            for field, amount in enumerate(sums[number]):
                outer[field] += amount
        kept = {0: 0}
        nodes = [Call(0, 0, 0, *sums[0])]
        frames: list[tuple[int, ...]] = [()]
        for number, (parent, place) in enumerate(self._places):
            if number == 0 or not any(sums[number]):
                continue
            kept[number] = len(nodes)
            code = len(self._objects) if place.code == NO_FILE else place.code
            nodes.append(Call(kept[parent], code, place.address, *sums[number]))
            frames.append(
                tuple(
                    self._functions.setdefault(function, len(self._functions))
                    for function in place.functions
                )
            )
        return Calls(
            objects=tuple(self._objects),
            nodes=tuple(nodes),
            functions=tuple(self._functions),
            frames=tuple(frames),
        )


def without_small(calls: Calls, part: int) -> Calls:
    """The calls with at least one in `part` of any amount. The sums of the others stay in their
    callers."""
    least = [total / part for total in calls.nodes[0][3:]]
    kept: dict[int, int] = {0: 0}
    nodes = [calls.nodes[0]]
    for number, node in enumerate(calls.nodes[1:], 1):
        is_large = any(
            amount and amount >= low for amount, low in zip(node[3:], least, strict=True)
        )
        if is_large and node.parent in kept:
            kept[number] = len(nodes)
            nodes.append(node._replace(parent=kept[node.parent]))
    frames = tuple(calls.frames[number] for number in kept)
    return calls.model_copy(update={"nodes": tuple(nodes), "frames": frames})
