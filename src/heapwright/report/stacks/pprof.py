# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Call stacks as a file of pprof: a compressed protocol buffer with samples.

A sample is a call of the tree that requested memory by itself. It has a value for each known
amount. These are objects and bytes of all allocations, at the peak, and never freed or in use. Each
object file has addresses of its own, far from those of the others, because a profile can join
several processes. Functions are named, so pprof needs none of these files.

Source: the message `Profile` of the pprof project, whose field numbers are below.
"""

import gzip
from collections.abc import Iterator
from datetime import datetime
from pathlib import PurePosixPath

from heapwright.artefacts.profile.calls import Call, CodeObject
from heapwright.artefacts.stacks.profile import (
    LEFT_OUT,
    NO_STACK,
    Amount,
    StackProfile,
    chains,
    functions_at,
)
from heapwright.base.protobuf import Message

VALUES = {
    Amount.ALLOCATIONS: ("alloc_objects", "count"),
    Amount.BYTES: ("alloc_space", "bytes"),
    Amount.AT_PEAK: ("peak_objects", "count"),
    Amount.AT_PEAK_BYTES: ("peak_space", "bytes"),
    Amount.KEPT: ("inuse_objects", "count"),
    Amount.KEPT_BYTES: ("inuse_space", "bytes"),
}
"""The types of the values. In use is what was never freed, as in profiles at the end of a run."""
OBJECT_BITS = 44
"""The addresses of an object file begin at a multiple of two to this power."""


class _Strings:
    """The table of strings; the first is empty."""

    def __init__(self) -> None:
        self._known = {"": 0}

    def __getitem__(self, text: str) -> int:
        return self._known.setdefault(text, len(self._known))

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)


class _Writer:
    """The parts of one file."""

    def __init__(self, profile: StackProfile) -> None:
        self.profile = profile
        self.calls = profile.calls
        self.strings = _Strings()
        self.out = Message()
        self.functions: dict[tuple[str, str], int] = {}
        self.locations: dict[tuple[object, ...], int] = {}

    def file(self) -> bytes:
        for kind in self._known().values():
            self.out.whole(1, self._value_type(kind))
        self._samples()
        for number, item in self._objects():
            mapping = Message()
            mapping.integer(1, number)
            mapping.integer(2, number << OBJECT_BITS)
            mapping.integer(3, (number + 1) << OBJECT_BITS)
            mapping.integer(5, self.strings[item.path])
            mapping.integer(6, self.strings[item.build_id])
            for known in (7, 8, 9, 10):
                mapping.integer(known, 1)
            self.out.whole(3, mapping.content())
        origin = self.profile
        self.out.integer(9, _nanoseconds(origin.began))
        self.out.integer(10, round(origin.duration_s * 1e9))
        self.out.whole(11, self._value_type(("space", "bytes")))
        self.out.integer(12, 1)
        if origin.command:
            self.out.packed(13, [self.strings[" ".join(origin.command)]])
        self.out.integer(14, self.strings[VALUES[origin.main][0]])
        for text in list(self.strings):
            self.out.whole(6, text.encode("utf-8", "surrogateescape"))
        return self.out.content()

    def _objects(self) -> list[tuple[int, CodeObject]]:
        """The object files with their numbers. pprof names a profile by the first."""
        command = self.profile.command
        main = PurePosixPath(command[0]).name if command else ""
        numbered = enumerate(self.calls.objects, 1)
        found = (each for each in numbered if not each[1].function)
        return sorted(found, key=lambda each: PurePosixPath(each[1].path).name != main)

    def _value_type(self, kind: tuple[str, str]) -> bytes:
        message = Message()
        message.integer(1, self.strings[kind[0]])
        message.integer(2, self.strings[kind[1]])
        return message.content()

    def _known(self) -> dict[Amount, tuple[str, str]]:
        return {each: kind for each, kind in VALUES.items() if each in self.profile.known}

    def _samples(self) -> None:
        locations: list[tuple[int, ...]] = [()]
        for number, node in enumerate(self.calls.nodes[1:], 1):
            locations.append((self._location(number, node), *locations[node.parent]))
        for chain in chains(self.calls):
            sample = Message()
            sample.packed(1, locations[chain.place] or (self._unknown(),))
            sample.packed(2, [amount.of(chain.own) for amount in self._known()])
            self.out.whole(2, sample.content())

    def _location(self, number: int, call: Call) -> int:
        """The place of a call; functions that are inlined there come first."""
        lines = [
            (self._function(found.name, found.file), found.line)
            for found in reversed(functions_at(self.calls, number))
        ]
        objects = self.calls.objects
        in_object = call.code < len(objects) and not objects[call.code].function
        mapping = call.code + 1 if in_object else 0
        address = call.address + (mapping << OBJECT_BITS if in_object else 0)
        return self._place((mapping, address, *lines), mapping, address, lines)

    def _unknown(self) -> int:
        lines = [(self._function(NO_STACK, ""), 0)]
        return self._place((LEFT_OUT, *lines), 0, 0, lines)

    def _place(
        self, key: tuple[object, ...], mapping: int, address: int, lines: list[tuple[int, int]]
    ) -> int:
        if key in self.locations:
            return self.locations[key]
        number = self.locations[key] = len(self.locations) + 1
        message = Message()
        message.integer(1, number)
        message.integer(2, mapping)
        message.integer(3, address)
        for function, line in lines:
            inner = Message()
            inner.integer(1, function)
            inner.integer(2, line)
            message.whole(4, inner.content())
        self.out.whole(4, message.content())
        return number

    def _function(self, name: str, file: str) -> int:
        key = name, file
        if key in self.functions:
            return self.functions[key]
        number = self.functions[key] = len(self.functions) + 1
        message = Message()
        message.integer(1, number)
        message.integer(2, self.strings[name])
        message.integer(3, self.strings[name])
        message.integer(4, self.strings[file])
        self.out.whole(5, message.content())
        return number


def _nanoseconds(began: str) -> int:
    """A time of the provenance since 1970; 0 if it is not known."""
    try:
        return int(datetime.fromisoformat(began).timestamp()) * 10**9
    except ValueError:
        return 0


def pprof_of(profile: StackProfile) -> bytes:
    """The file. The same profile gives the same bytes."""
    return gzip.compress(_Writer(profile).file(), mtime=0)
