# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A profile's calls as a flame graph shows them: functions within functions, by name.

In the profile a call is a place in the code, so that one function called from two lines of another
is there twice; here it is one box. A place where functions were inlined is several boxes, one
within the other. Sums stay what they were: a box holds all that its calls asked for.
"""

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import NamedTuple

from heapwright.artefacts.profile.calls import Call, Calls

ROOT = "all"
LEFT_OUT = "outer calls left out"


class Sums(NamedTuple):
    """What the calls within asked for."""

    bytes: int
    allocations: int
    never_freed_bytes: int
    never_freed: int

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


def boxes(calls: Calls) -> list[Box]:
    """The tree by names, parents before what they call; the first is the root."""
    merged: list[Box] = []
    places: list[int] = []
    known: dict[tuple[int, str], int] = {}
    for number, call in enumerate(calls.nodes):
        sums = Sums(call.bytes, call.allocations, call.never_freed_bytes, call.never_freed)
        if number == 0:
            merged.append(Box(0, ROOT, sums))
            places.append(0)
            continue
        place = places[call.parent]
        for name in names_of(calls, number, call):
            key = place, name
            if key in known:
                place = known[key]
                merged[place].sums = merged[place].sums.plus(sums)
            else:
                known[key] = len(merged)
                merged.append(Box(place, name, sums))
                place = known[key]
        places.append(place)
    return merged


def names_of(calls: Calls, number: int, call: Call) -> list[str]:
    """The functions of a call, outermost first; an address where nothing is named."""
    if number < len(calls.frames) and calls.frames[number]:
        return [calls.functions[function].name for function in calls.frames[number]]
    if call.code == len(calls.objects) + 1:
        return [LEFT_OUT]
    if call.code == len(calls.objects):
        return [f"0x{call.address:x}"]
    return [f"{PurePosixPath(calls.objects[call.code].path).name}+0x{call.address:x}"]


def by_function(merged: list[Box]) -> dict[str, Sums]:
    """What each function asked for by itself, not through others."""
    own = [box.sums for box in merged]
    for box in merged[1:]:
        own[box.parent] = own[box.parent].minus(box.sums)
    found: dict[str, Sums] = {}
    for box, sums in zip(merged[1:], own[1:], strict=True):
        found[box.name] = found.get(box.name, NOTHING).plus(sums)
    return found
