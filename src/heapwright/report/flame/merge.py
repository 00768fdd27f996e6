# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A profile's calls as a flame graph shows them: functions within functions, by name.

In the profile a call is a place in the code. A function that is called from two lines of another
occurs twice there. Here it is one box. A place where functions were inlined is several boxes, one
within the other. Sums do not change: a box has all requests of its calls.
"""

from dataclasses import dataclass
from typing import NamedTuple

from heapwright.artefacts.profile.calls import Call, Calls
from heapwright.artefacts.profile.library_frames import is_library_frame
from heapwright.artefacts.stacks.profile import functions_at

ROOT = "all"
LIBRARIES = "standard libraries alone"


class Sums(NamedTuple):
    """The requests of the calls within."""

    bytes: int
    allocations: int
    never_freed_bytes: int
    never_freed: int
    at_peak_bytes: int = 0
    at_peak: int = 0
    temporary: int = 0

    @classmethod
    def of(cls, call: Call) -> "Sums":
        return cls(
            call.bytes,
            call.allocations,
            call.never_freed_bytes,
            call.never_freed,
            call.at_peak_bytes,
            call.at_peak,
            call.temporary,
        )

    def plus(self, other: "Sums") -> "Sums":
        return Sums(*map(sum, zip(self, other, strict=True)))

    def minus(self, other: "Sums") -> "Sums":
        return Sums(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))


NOTHING = Sums(0, 0, 0, 0)


@dataclass(slots=True)
class Box:
    """One function within another; `parent` is a smaller number, the root's own is 0."""

    parent: int
    name: str
    sums: Sums


@dataclass(frozen=True, slots=True)
class Tree:
    """Boxes, parents before what they call; the first is the root."""

    boxes: list[Box]
    places: list[int]
    """For each call its innermost box."""


def tree_of(calls: Calls) -> Tree:
    """The tree by names."""
    merged: list[Box] = []
    places: list[int] = []
    known: dict[tuple[int, str], int] = {}
    for number, call in enumerate(calls.nodes):
        sums = Sums.of(call)
        if number == 0:
            merged.append(Box(0, ROOT, sums))
            places.append(0)
            continue
        place = places[call.parent]
        for name in (function.name for function in functions_at(calls, number)):
            key = place, name
            if key in known:
                place = known[key]
                merged[place].sums = merged[place].sums.plus(sums)
            else:
                known[key] = len(merged)
                merged.append(Box(place, name, sums))
                place = known[key]
        places.append(place)
    return Tree(merged, places)


def own_tree(whole: Tree, calls: Calls) -> Tree:
    """The tree without the boxes of standard libraries; their callees take their place.

    Requests of libraries without the program on the stack are one box of their own.
    """
    libraries = _libraries(calls)
    merged = whole.boxes
    found = [Box(0, merged[0].name, merged[0].sums)]
    known: dict[tuple[int, str], int] = {}
    places = [0]
    for box in merged[1:]:
        above = places[box.parent]
        key = above, box.name
        if box.name in libraries or is_library_frame(box.name):
            places.append(above)
        elif key in known:
            places.append(known[key])
            found[known[key]].sums = found[known[key]].sums.plus(box.sums)
        else:
            known[key] = len(found)
            places.append(len(found))
            found.append(Box(above, box.name, box.sums))
    rest = found[0].sums
    for box in found[1:]:
        rest = rest.minus(box.sums) if box.parent == 0 else rest
    alone = 0
    if any(rest) and len(found) < len(merged):
        alone = len(found)
        found.append(Box(0, LIBRARIES, rest))
    return Tree(found, [places[place] or (alone if place else 0) for place in whole.places])


def _libraries(calls: Calls) -> set[str]:
    """Names that only functions of standard libraries have, according to their files."""
    own: set[str] = set()
    libraries: set[str] = set()
    for each in calls.functions:
        (libraries if is_library_frame(each.name, each.file) else own).add(each.name)
    return libraries - own


def by_function(merged: list[Box]) -> dict[str, Sums]:
    """The requests of each function itself, not of its callees."""
    own = [box.sums for box in merged]
    for box in merged[1:]:
        own[box.parent] = own[box.parent].minus(box.sums)
    found: dict[str, Sums] = {}
    for box, sums in zip(merged[1:], own[1:], strict=True):
        found[box.name] = found.get(box.name, NOTHING).plus(sums)
    return found
