# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Files of heaptrack, interpreted (`heaptrack_interpret`) or raw: all allocations of a program.

Each line has a letter and hexadecimal numbers. `s` defines a string, and `i` a place in the code
with its functions. `t` defines a call in its caller, and `a` a size with a stack. `+` is one block
more of such an `a`, and `-` one less. Tables count from 1, that of `a` from 0. Functions of a place
are innermost first. The first pass finds the peak, the second what was live then.

Source: `AccumulatedTraceData::read` of heaptrack, whose figures this gives.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import chain

from heapwright.artefacts.profile.calls import CodeObject, Function
from heapwright.artefacts.stacks import heaptrack_raw
from heapwright.artefacts.stacks.profile import Amount, Moment, StackProfile
from heapwright.artefacts.stacks.text import Lines
from heapwright.artefacts.stacks.tree import Place, TreeBuilder
from heapwright.base.errors import HeapwrightError

SOURCE = "heaptrack"
OPENING = b"v 1"
OLDEST = 0x010000
SIZED_STRINGS = 3
NEWEST_FILE = 3
MOMENTS = 1000
PLUS, MINUS = ord("+"), ord("-")
STRING = b"s"
IGNORED = b"#IRS\n"
"""Comments, facts about the system, resident memory and suppressed leaks."""
Open = Callable[[], AbstractContextManager[Lines]]


class _Reader:
    """The first pass over one file."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        self.file_version = 0
        self.command: tuple[str, ...] = ()
        self.strings = [""]
        self.places: list[Place] = [Place()]
        self.calls: list[int] = [0]
        self.sizes: list[int] = []
        self.stacks: list[int] = []
        self.made: list[int] = []
        self.live: list[int] = []
        self.leaked = 0
        self.most = 0
        self.peak = 0
        self.peak_line = 0
        self.peak_ms = 0
        self.now_ms = 0
        self.moments = [Moment(0, 0)]
        """The most live bytes since the moment before."""
        self.attached = False
        self.is_raw = False
        self.builder = TreeBuilder()
        self.readers: Mapping[bytes, Callable[[str], None]] = {
            STRING: self.strings.append,
            b"i": self._place,
            b"t": self._call,
            b"a": self._size,
            b"c": self._time,
            b"X": self._command,
            b"A": self._attach,
            b"v": self._version,
        }

    def read(self) -> None:
        """The whole file. The two letters of blocks make nearly all of its lines."""
        lines, sizes, live, made = self.lines, self.sizes, self.live, self.made
        feed, self.is_raw = _lines_of(lines)
        for line in feed:
            letter = line[0]
            if letter == PLUS:
                block = self._block(line)
                made[block] += 1
                live[block] += 1
                self.leaked += sizes[block]
                if self.leaked > self.most:
                    self.most = self.leaked
                    if self.most > self.peak:
                        self.peak, self.peak_line = self.most, lines.number
                        self.peak_ms = self.now_ms
            elif letter == MINUS:
                block = self._block(line)
                live[block] -= 1
                self.leaked -= sizes[block]
                if live[block] < 0:
                    raise lines.fault("it frees a block that is not live")
            elif line[:1] not in IGNORED:
                self._define(line.rstrip(b"\r\n"))
        if not self.sizes:
            raise lines.cut("without any allocation")

    def _define(self, line: bytes) -> None:
        """Read a line of another letter."""
        read = self.readers.get(line[:1])
        if read is None or line[1:2] not in (b"", b" "):
            raise self.lines.fault("an unknown kind of line")
        text = self._string(line[2:]) if line[:1] == STRING else line[2:]
        read(text.decode("utf-8", "replace"))

    def _block(self, line: bytes) -> int:
        """The number of a size with a stack."""
        try:
            found = int(line[2:].split(None, 1)[0], 16)
        except (ValueError, IndexError):
            raise self.lines.fault("it has no number") from None
        if not 0 <= found < len(self.sizes):
            raise self.lines.fault("it names an allocation that is not defined")
        return found

    def _numbers(self, text: str, least: int) -> list[int]:
        found = [self.lines.address(each) for each in text.split()]
        if len(found) < least:
            raise self.lines.fault("numbers are missing")
        return found

    def _version(self, text: str) -> None:
        version, *file_version = self._numbers(text, 1)
        self.file_version = file_version[0] if file_version else 1
        if version < OLDEST or self.file_version > NEWEST_FILE:
            raise HeapwrightError(
                f"{self.lines.name} is of a version of heaptrack that cannot be read ({text})",
                "versions 1.0 to 1.5 can",
            )

    def _string(self, text: bytes) -> bytes:
        """A string without its length in bytes."""
        if self.file_version < SIZED_STRINGS:
            return text
        size, _, text = text.partition(b" ")
        if len(text) != self.lines.count(size.decode("ascii", "replace"), 16):
            raise self.lines.fault("the string has another length")
        return text

    def _text(self, number: int) -> str:
        if number >= len(self.strings):
            raise self.lines.fault("it names a string that is not defined")
        return self.strings[number]

    def _place(self, text: str) -> None:
        address, *rest = self._numbers(text, 2)
        module, rest = rest[0], rest[1:]
        if len(rest) == 1:
            rest.append(0)
        path = self._text(module)
        unknown = path.rpartition("/")[2] or f"{address:#x}"
        functions: list[Function] = []
        while rest:
            name, file, line = (*rest[:3], 0, 0)[:3]
            rest = rest[3:]
            functions.append(
                Function(name=self._text(name) or unknown, file=self._text(file), line=line)
            )
        if self.is_raw and path:
            code = self.builder.object(CodeObject(path=path))
            self.places.append(Place(address=address, code=code))
        else:
            functions = functions or [Function(name=unknown)]
            self.places.append(Place(tuple(reversed(functions)), address))

    def _call(self, text: str) -> None:
        place, caller = self._numbers(text, 2)[:2]
        if place >= len(self.places) or caller >= len(self.calls):
            raise self.lines.fault("it names a call that is not defined")
        self.calls.append(self.builder.child(self.calls[caller], self.places[place]))

    def _size(self, text: str) -> None:
        size, stack = self._numbers(text, 2)[:2]
        if stack >= len(self.calls):
            raise self.lines.fault("it names a stack that is not defined")
        self.sizes.append(self.lines.count(f"{size:x}", 16))
        self.stacks.append(self.calls[stack])
        self.made.append(0)
        self.live.append(0)

    def _time(self, text: str) -> None:
        self.now_ms = self.lines.count(text.strip(), 16)
        self.moments.append(Moment(self.now_ms / 1000, self.most))
        self.most = self.leaked

    def _command(self, text: str) -> None:
        self.command = tuple(text.split())

    def _attach(self, _: str) -> None:
        self.attached = True
        self.leaked = self.most = self.peak = 0


def _lines_of(lines: Lines) -> tuple[Iterator[bytes], bool]:
    """The lines of an interpreted file, and whether they are made of a raw one."""
    feed = lines.raw()
    first, second = next(feed, b"#\n"), next(feed, b"#\n")
    if not second.startswith(heaptrack_raw.EXECUTABLE):
        return chain((first, second), feed), False
    heaptrack_raw.refuse_old(lines, first)
    return chain((first,), heaptrack_raw.interpreted(lines, second)), True


def _live_at(lines: Lines, until: int, sizes: int) -> list[int]:
    """The live blocks of each size with a stack after the line `until`."""
    live = [0] * sizes
    feed, _ = _lines_of(lines)
    for line in feed:
        if lines.number > until:
            break
        if line[0] == PLUS:
            live[int(line[2:].split(None, 1)[0], 16)] += 1
        elif line[0] == MINUS:
            live[int(line[2:].split(None, 1)[0], 16)] -= 1
    return live


def _thinned(moments: Sequence[Moment]) -> Iterator[Moment]:
    """At most `MOMENTS`, each the largest of its stretch."""
    step = -(-len(moments) // MOMENTS) or 1
    for at in range(0, len(moments), step):
        yield max(moments[at : at + step], key=lambda each: each.live_bytes)


def read_heaptrack(open_lines: Open) -> StackProfile:
    """All allocations, the peak and what was not freed. The file is read twice. Raises
    HeapwrightError."""
    with open_lines() as lines:
        reader = _Reader(lines)
        reader.read()
    with open_lines() as lines:
        at_peak = _live_at(lines, reader.peak_line, len(reader.sizes))
    for size, stack, made, peak, kept in zip(
        reader.sizes, reader.stacks, reader.made, at_peak, reader.live, strict=True
    ):
        reader.builder.add(
            stack,
            {
                Amount.BYTES: size * made,
                Amount.ALLOCATIONS: made,
                Amount.AT_PEAK_BYTES: size * peak,
                Amount.AT_PEAK: peak,
                Amount.KEPT_BYTES: size * kept,
                Amount.KEPT: kept,
            },
        )
    end = Moment(reader.now_ms / 1000, reader.most)
    notes = (
        ("heaptrack was attached to a running program: earlier blocks are missing",)
        if reader.attached
        else ()
    )
    return StackProfile(
        source=SOURCE,
        calls=reader.builder.calls(),
        known=frozenset(Amount),
        command=reader.command,
        duration_s=reader.now_ms / 1000,
        peak_s=reader.peak_ms / 1000,
        timeline=tuple(_thinned([*reader.moments, end])),
        notes=notes,
        has_offsets=False,
    )
