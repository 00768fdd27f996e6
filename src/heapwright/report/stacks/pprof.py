# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A profile as a file of pprof: a compressed protocol buffer with samples of call stacks.

A sample is a call of the tree that requested memory by itself. It has six values: objects and bytes
of all allocations, of those at the peak, and of those never freed. Each object file has addresses
of its own, far from those of the others, because a profile can join several processes. Functions
are named, so pprof needs none of these files.

Source: the message `Profile` of the pprof project, whose field numbers are below.
"""

import gzip
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import PurePosixPath

from heapwright.artefacts.profile.calls import Call, Calls, CodeObject
from heapwright.artefacts.profile.document import Profile
from heapwright.report.flame.merge import LEFT_OUT, Sums, names_of
from heapwright.report.stacks.folded import NO_STACK

VALUES = (
    ("alloc_objects", "count"),
    ("alloc_space", "bytes"),
    ("peak_objects", "count"),
    ("peak_space", "bytes"),
    ("inuse_objects", "count"),
    ("inuse_space", "bytes"),
)
"""The types of the values. In use is what was never freed, as in profiles at the end of a run."""
DEFAULT = "peak_space"
OBJECT_BITS = 44
"""The addresses of an object file begin at a multiple of two to this power."""


class Message:
    """The bytes of a protocol buffer message."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def integer(self, field: int, value: int) -> None:
        """A field of an integer type; 0 is left out."""
        if value:
            self._parts += (_varint(field << 3), _varint(value))

    def packed(self, field: int, values: Iterable[int]) -> None:
        """A repeated field of an integer type."""
        self.whole(field, b"".join(map(_varint, values)))

    def whole(self, field: int, content: bytes) -> None:
        """A field of a message or a string."""
        self._parts += (_varint(field << 3 | 2), _varint(len(content)), content)

    def content(self) -> bytes:
        return b"".join(self._parts)


def _varint(value: int) -> bytes:
    """Seven bits in each byte, the lowest first; `value` is not negative."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


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

    def __init__(self, profile: Profile, calls: Calls) -> None:
        self.profile = profile
        self.calls = calls
        self.strings = _Strings()
        self.out = Message()
        self.functions: dict[tuple[str, str], int] = {}
        self.locations: dict[tuple[object, ...], int] = {}

    def file(self) -> bytes:
        for kind in VALUES:
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
        origin = self.profile.provenance
        self.out.integer(9, _nanoseconds(origin.began))
        self.out.integer(10, round(origin.duration_s * 1e9))
        self.out.whole(11, self._value_type(("space", "bytes")))
        self.out.integer(12, 1)
        if origin.command:
            self.out.packed(13, [self.strings[" ".join(origin.command)]])
        self.out.integer(14, self.strings[DEFAULT])
        for text in list(self.strings):
            self.out.whole(6, text.encode("utf-8", "surrogateescape"))
        return self.out.content()

    def _objects(self) -> list[tuple[int, CodeObject]]:
        """The object files with their numbers. pprof names a profile by the first."""
        command = self.profile.provenance.command
        main = PurePosixPath(command[0]).name if command else ""
        found = enumerate(self.calls.objects, 1)
        return sorted(found, key=lambda each: PurePosixPath(each[1].path).name != main)

    def _value_type(self, kind: tuple[str, str]) -> bytes:
        message = Message()
        message.integer(1, self.strings[kind[0]])
        message.integer(2, self.strings[kind[1]])
        return message.content()

    def _samples(self) -> None:
        nodes = self.calls.nodes
        own = [Sums.of(node) for node in nodes]
        for node in nodes[1:]:
            own[node.parent] = own[node.parent].minus(Sums.of(node))
        chains: list[tuple[int, ...]] = [()]
        for number, node in enumerate(nodes[1:], 1):
            chains.append((self._location(number, node), *chains[node.parent]))
        for chain, sums in zip(chains, own, strict=True):
            if not any(sums):
                continue
            sample = Message()
            sample.packed(1, chain or (self._unknown(),))
            sample.packed(
                2,
                (
                    sums.allocations,
                    sums.bytes,
                    sums.at_peak,
                    sums.at_peak_bytes,
                    sums.never_freed,
                    sums.never_freed_bytes,
                ),
            )
            self.out.whole(2, sample.content())

    def _location(self, number: int, call: Call) -> int:
        """The place of a call; functions that are inlined there come first."""
        named = self.calls.frames[number] if number < len(self.calls.frames) else ()
        if named:
            lines = [
                (self._function(found.name, found.file), found.line)
                for found in (self.calls.functions[each] for each in reversed(named))
            ]
        else:
            lines = [(self._function(names_of(self.calls, number, call)[0], ""), 0)]
        in_object = call.code < len(self.calls.objects)
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


def pprof_of(profile: Profile, calls: Calls) -> bytes:
    """The file. The same profile gives the same bytes."""
    return gzip.compress(_Writer(profile, calls).file(), mtime=0)
