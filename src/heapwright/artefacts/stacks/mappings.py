# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The files of a process by address: the text of /proc/PID/maps, as profiles repeat it."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from heapwright.artefacts.profile.calls import CodeObject
from heapwright.artefacts.stacks.text import Lines
from heapwright.artefacts.stacks.tree import Place, TreeBuilder

HEADING = "MAPPED_LIBRARIES:"
LINE = re.compile(
    r"^\s*(?P<begin>[0-9a-f]+)-(?P<end>[0-9a-f]+) \S{4} (?P<offset>[0-9a-f]+) \S+ \d+\s*"
    r"(?P<path>.*)$"
)
ALLOCATORS = ("libjemalloc", "libtcmalloc")
"""Their own innermost calls are left out."""


class Mapping(NamedTuple):
    begin: int
    end: int
    offset: int
    path: str


class Mappings:
    """The mappings, by address."""

    def __init__(self, mappings: Sequence[Mapping]) -> None:
        self._sorted = sorted(mappings)
        self._begins = [each.begin for each in self._sorted]

    def at(self, address: int) -> Mapping | None:
        place = bisect_right(self._begins, address) - 1
        found = self._sorted[place] if place >= 0 else None
        return found if found and address < found.end and found.path.startswith("/") else None

    def stack(self, builder: TreeBuilder, addresses: Sequence[int]) -> list[Place]:
        """A stack of return addresses, innermost first, as places, outermost first.

        A return address is behind its call, so the address before it is taken.
        """
        found: list[Place] = []
        for each in addresses:
            address = max(each - 1, 0)
            mapping = self.at(address)
            if mapping is None:
                found.append(Place(address=address))
                continue
            name = mapping.path.rpartition("/")[2]
            if found or not name.startswith(ALLOCATORS):
                code = builder.object(CodeObject(path=mapping.path))
                found.append(Place(address=address - mapping.begin + mapping.offset, code=code))
        return found[::-1]


def read_mappings(lines: Lines) -> Mappings:
    """The rest of a file, below its heading."""
    found: list[Mapping] = []
    for line in lines:
        if not line.strip():
            continue
        match = LINE.match(line)
        if match is None:
            raise lines.fault("no mapping")
        path = match["path"].removesuffix(" (deleted)")
        found.append(
            Mapping(
                lines.address(match["begin"]),
                lines.address(match["end"]),
                lines.address(match["offset"]),
                path,
            )
        )
    return Mappings(found)
