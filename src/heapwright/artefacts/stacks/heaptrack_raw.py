# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Raw recordings of heaptrack (`--raw`) as the lines of interpreted ones, without functions.

A raw recording has the modules of the process (`m`), calls by address (`t`), and blocks by address
(`+` and `-`). A module has its load address, and address and size of each segment. `m 1 -` begins a
new list. Each address becomes a place `i` in its module, and each size with a stack an `a`. A free
of an unknown block is left out, as by heaptrack: the block is older than the recording.

Source: `heaptrack_interpret.cpp` of heaptrack.
"""

from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from heapwright.artefacts.stacks.text import Lines
from heapwright.base.errors import HeapwrightError

EXECUTABLE = b"x "
SIZED_STRINGS = 3
NEW_LIST = "-"
IN_EXECUTABLE = "x"


class _Segment(NamedTuple):
    begin: int
    end: int
    bias: int
    """The load address of its module."""
    module: int
    """The number of its string."""


class _Interpreter:
    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.executable = ""
        self.segments: list[_Segment] = []
        self.is_sorted = True
        self.strings: dict[str, int] = {}
        self.places: dict[tuple[int, int], int] = {}
        self.blocks: dict[tuple[int, int], int] = {}
        self.live: dict[int, int] = {}

    def line(self, line: bytes) -> Iterator[bytes]:
        """The lines of an interpreted file for one line."""
        letter = line[:1]
        if letter == b"+":
            size, stack, pointer = self._numbers(line, 3)
            block = self.blocks.get((size, stack))
            if block is None:
                block = self.blocks[size, stack] = len(self.blocks)
                yield b"a %x %x\n" % (size, stack)
            self.live[pointer] = block
            yield b"+ %x\n" % block
        elif letter == b"-":
            (pointer,) = self._numbers(line, 1)
            block = self.live.pop(pointer, None)
            if block is not None:
                yield b"- %x\n" % block
        elif letter == b"t":
            yield from self._call(*self._numbers(line, 2))
        elif letter == b"m":
            yield from self._module(line.decode("utf-8", "replace"))
        elif letter == b"x":
            self.executable = line.decode("utf-8", "replace").rstrip().split(" ", 2)[-1]
        else:
            yield line

    def _numbers(self, line: bytes, count: int) -> list[int]:
        try:
            found = [int(each, 16) for each in line[2:].split()]
        except ValueError:
            found = []
        if len(found) < count or min(found) < 0:
            raise self.lines.fault("numbers are missing")
        return found[:count]

    def _module(self, line: str) -> Iterator[bytes]:
        words = line.split(" ", 2)
        size = self.lines.count(words[1], 16) if len(words) == 3 else 0
        name, rest = words[-1][:size].strip(), words[-1][size:].split()
        if name == NEW_LIST:
            self.segments.clear()
            return
        if len(rest) % 2 == 0:
            raise self.lines.fault("a module has an address, and two numbers for each segment")
        path = self.executable if name == IN_EXECUTABLE else name
        if path not in self.strings:
            self.strings[path] = len(self.strings) + 1
            text = path.encode("utf-8", "replace")
            yield b"s %x %s\n" % (len(text), text)
        bias, *parts = map(self.lines.address, rest)
        self.segments += (
            _Segment(bias + begin, bias + begin + length, bias, self.strings[path])
            for begin, length in zip(parts[::2], parts[1::2], strict=True)
        )
        self.is_sorted = False

    def _call(self, address: int, caller: int) -> Iterator[bytes]:
        if not self.is_sorted:
            self.segments.sort()
            self.is_sorted = True
        at = bisect_right(self.segments, address, key=lambda each: each.begin) - 1
        found = self.segments[at] if at >= 0 and address < self.segments[at].end else None
        key = (address - found.bias, found.module) if found else (address, 0)
        if key not in self.places:
            self.places[key] = len(self.places) + 1
            yield b"i %x %x\n" % key
        yield b"t %x %x\n" % (self.places[key], caller)


def interpreted(lines: Lines, second: bytes) -> Iterator[bytes]:
    """The lines of a raw recording, from its second one, in the interpreted form."""
    interpreter = _Interpreter(lines)
    for line in chain((second,), lines.raw()):
        yield from interpreter.line(line)


def refuse_old(lines: Lines, first: bytes) -> None:
    """Refuse a raw recording whose names have no length."""
    words = first.split()
    if len(words) < 3 or lines.count(words[2].decode("ascii", "replace"), 16) < SIZED_STRINGS:
        raise HeapwrightError(
            f"{lines.name} is a raw recording of an old heaptrack",
            "pass its decompressed text through heaptrack_interpret, which heaptrack has in its "
            "libexec",
        )
