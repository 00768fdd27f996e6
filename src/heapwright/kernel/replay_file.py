# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A kernel trace in the compact form that the replay in a kernel reads.

The form is defined in patches/linux-6.1/replay.patch: a head, the caches, and events of twelve
bytes. Each allocation has a place, a small number that is reused after its free. A free repeats
the kind of the allocation, so the kernel keeps one pointer for each place.

After the last event of the trace every live allocation is freed in the order of the places. A last
mark follows, which shows the memory that the allocator keeps. A trace that is invalid is refused
with the number of the line. docs/reference/kernel-models.md describes the text.
"""

import heapq
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NoReturn

from heapwright.base.errors import HeapwrightError

HEADING = "heapwright-kernel-trace"
FORMAT = "1"
MAGIC = b"HWREPLY1"
HEAD = struct.Struct("<8sIIIIII")
CACHE = struct.Struct("<III")
EVENT = struct.Struct("<IIBBBB")
ALL_CACHES = (1 << 32) - 1
MOBILITIES = "umr"
MOST_CPUS = 8
MOST_CACHES = 1024
MOST_OBJECT = 4 << 20
MOST_ORDER = 10
MOST_TIME = (1 << 64) - 1
MOST_PAGES = (1 << 32) - 1
MOST_MEMORY = 65536
PAGE = 4096
CONSTRUCTED, RECLAIMABLE = 1, 2
CACHE_WORDS = 6
FORMS = {
    "a": "a TIME CPU ID CACHE",
    "m": "m TIME CPU ID SIZE",
    "p": "p TIME CPU ID ORDER MOBILITY",
    "f": "f TIME CPU ID",
    "s": "s TIME CPU CACHE",
}
"""Of the requests, by their letter."""


class Verb(IntEnum):
    """As `enum replay_verb` of the patch. A free is `GIVES` behind its allocation."""

    TAKE = 0
    TAKE_GENERAL = 1
    TAKE_PAGES = 2
    GIVE = 3
    GIVE_GENERAL = 4
    GIVE_PAGES = 5
    SHRINK = 6
    MARK = 7


GIVES = Verb.GIVE - Verb.TAKE


@dataclass(frozen=True, slots=True)
class ReplayFile:
    """The bytes for the kernel, and what the host needs of the trace."""

    data: bytes
    cpus: int
    memory_mib: int
    prelude: int
    """Number of first events, which build the initial state."""
    timed: int
    """Number of the events after them."""
    marks: int


@dataclass(frozen=True, slots=True)
class _Live:
    place: int
    what: int
    verb: int
    order: int


@dataclass(slots=True)
class _Events:
    """Events so far, and the places of the live allocations."""

    data: bytearray = field(default_factory=bytearray)
    count: int = 0
    live: dict[int, _Live] = field(default_factory=dict)
    spare: list[int] = field(default_factory=list)
    dealt: int = 0
    cpu: int = 0

    def add(self, verb: int, place: int = 0, what: int = 0, order: int = 0, kind: int = 0) -> None:
        self.data += EVENT.pack(place, what, verb, self.cpu, order, kind)
        self.count += 1

    def take(self, identity: int, verb: int, what: int, order: int = 0, kind: int = 0) -> bool:
        """False if the identity is live already."""
        if identity in self.live:
            return False
        if self.spare:
            place = heapq.heappop(self.spare)
        else:
            place = self.dealt
            self.dealt += 1
        self.live[identity] = _Live(place, what, verb, order)
        self.add(verb, place, what, order, kind)
        return True

    def give(self, identity: int) -> bool:
        """False if the identity is not live."""
        live = self.live.pop(identity, None)
        if live is None:
            return False
        heapq.heappush(self.spare, live.place)
        self.add(live.verb + GIVES, live.place, live.what, live.order)
        return True


class _Reader:
    """The lines of a trace, with their numbers. Every method raises HeapwrightError."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self._line = 0
        self.words: list[str] = []

    def fail(self, what: str) -> NoReturn:
        raise HeapwrightError(
            f"line {self._line}: {what}", "heapwright kernel record writes kernel traces"
        )

    def next(self, missing: str) -> str:
        """The first word of the next line that is not empty."""
        text = ""
        for line in self._lines:
            self._line += 1
            text = line.rstrip("\n")
            if text and not text.startswith("#"):
                break
        else:
            self._line += 1
            self.fail(missing)
        self.words = text.split(" ")
        return self.words[0]

    def expect(self, form: str) -> None:
        """The next line has the first word of `form`, and at least as many words."""
        wanted = form.split()
        first = self.next(f"expected `{form}`")
        if first != wanted[0] or len(self.words) < len(wanted):
            self.fail(f"expected `{form}`")

    def need(self, form: str) -> None:
        """The present line has exactly as many words as `form`."""
        if len(self.words) != len(form.split()):
            self.fail(f"expected `{form}`")

    def number(self, word: int, what: str, least: int, most: int, base: int = 10) -> int:
        digits = self.words[word]
        try:
            value = int(digits, base) if digits.isascii() and digits.isalnum() else -1
        except ValueError:
            value = -1
        if not least <= value <= most:
            self.fail(f"{what} is a number from {least} to {most}, not {digits}")
        return value

    def rest(self) -> None:
        """Nothing follows."""
        for line in self._lines:
            self._line += 1
            if line.strip() and not line.startswith("#"):
                self.fail("nothing may follow `end`")


def compact(lines: Iterable[str]) -> ReplayFile:
    """The trace as a kernel reads it. Raises HeapwrightError with the number of a wrong line."""
    return _Compactor(lines).whole()


class _Compactor:
    def __init__(self, lines: Iterable[str]) -> None:
        self._reader = _Reader(lines)
        self._events = _Events()
        self._marks = 0
        self._time = 0
        self._prelude: int | None = None
        self._cpus = 1
        self._caches: list[tuple[int, int, int]] = []

    def whole(self) -> ReplayFile:
        memory = self._head()
        while self._event():
            pass
        self._reader.rest()
        events = self._events
        if not events.count:
            self._reader.fail("the trace is empty: there is no event in it")
        prelude = events.count if self._prelude is None else self._prelude
        end = events.count
        for identity in sorted(events.live, key=lambda each: events.live[each].place):
            events.give(identity)
        events.add(Verb.MARK)
        return ReplayFile(
            data=_packed(self._caches, events, prelude, end, self._marks + 1),
            cpus=self._cpus,
            memory_mib=memory,
            prelude=prelude,
            timed=end - prelude,
            marks=self._marks,
        )

    def _head(self) -> int:
        reader = self._reader
        if reader.next("the trace is empty") != HEADING:
            reader.fail(f"this is no kernel trace: it does not begin with {HEADING}")
        if reader.words[1:] != [FORMAT]:
            reader.fail(f"this heapwright reads kernel traces of format {FORMAT}")
        reader.expect("kernel VERSION")
        reader.expect("cpus N")
        reader.need("cpus N")
        self._cpus = reader.number(1, "the number of processors", 1, MOST_CPUS)
        reader.expect("memory MIB")
        memory = reader.number(1, "the memory", 16, MOST_MEMORY)
        expected = "expected `cache …` or `events`"
        while reader.next(expected) == "cache":
            self._cache()
        if reader.words != ["events"]:
            reader.fail(expected)
        return memory

    def _cache(self) -> None:
        reader = self._reader
        if len(reader.words) < CACHE_WORDS:
            reader.fail("expected `cache NUMBER SIZE ALIGN FLAGS NAME`")
        if len(self._caches) == MOST_CACHES:
            reader.fail(f"there are more than {MOST_CACHES} caches")
        known = len(self._caches)
        reader.number(1, "the number of the cache", known, known)
        size = reader.number(2, "the size", 1, MOST_OBJECT)
        align = reader.number(3, "the alignment", 1, PAGE)
        flags = reader.words[4]
        if align & (align - 1):
            reader.fail("the alignment is a power of two")
        if len(flags) != len("cr") or flags[0] not in "c-" or flags[1] not in "r-":
            reader.fail("flags are c or -, and r or -")
        bits = CONSTRUCTED * (flags[0] == "c") | RECLAIMABLE * (flags[1] == "r")
        self._caches.append((size, align, bits))

    def _event(self) -> bool:
        reader = self._reader
        verb = reader.next(
            "the trace is cut off: its last line is not `end` and the number of events"
        )
        if verb == "end":
            reader.need("end COUNT")
            count = self._events.count
            if reader.number(1, "the number of events", 0, MOST_PAGES) != count:
                reader.fail(f"there are {count} events, not {reader.words[1]}: some are missing")
            return False
        if verb == "k":
            self._mark()
        elif verb in FORMS:
            self._request(verb)
        else:
            reader.fail(f"there is no event {verb}")
        return True

    def _when(self) -> None:
        reader = self._reader
        time = reader.number(1, "the time", 0, MOST_TIME)
        if time < self._time:
            reader.fail(f"the time decreases, from {self._time} to {time}")
        self._time = time
        if time and self._prelude is None:
            self._prelude = self._events.count

    def _mark(self) -> None:
        self._reader.need("k TIME SLAB_PAGES EVENTS")
        self._when()
        self._reader.number(2, "the number of pages", 0, MOST_PAGES)
        self._marks += 1
        self._events.add(Verb.MARK)

    def _request(self, verb: str) -> None:
        reader, events = self._reader, self._events
        reader.need(FORMS[verb])
        self._when()
        events.cpu = reader.number(2, "the processor", 0, self._cpus - 1)
        if verb == "s":
            whole = reader.words[3] == "*"
            events.add(Verb.SHRINK, what=ALL_CACHES if whole else self._known_cache(3))
            return
        identity = reader.number(3, "the identity", 0, MOST_TIME, base=16)
        if verb == "f":
            if not events.give(identity):
                reader.fail(f"{reader.words[3]} is freed, and is not live")
            return
        if verb == "a":
            new = events.take(identity, Verb.TAKE, self._known_cache(4))
        elif verb == "m":
            size = reader.number(4, "the size", 0, MOST_OBJECT)
            new = events.take(identity, Verb.TAKE_GENERAL, size)
        else:
            order = reader.number(4, "the order", 0, MOST_ORDER)
            kind = MOBILITIES.find(reader.words[5]) if len(reader.words[5]) == 1 else -1
            if kind < 0:
                reader.fail(f"the mobility is u, m or r, not {reader.words[5]}")
            new = events.take(identity, Verb.TAKE_PAGES, 0, order, kind)
        if not new:
            reader.fail(f"{reader.words[3]} is live already")

    def _known_cache(self, word: int) -> int:
        if not self._caches:
            self._reader.fail("no cache is declared")
        return self._reader.number(word, "the cache", 0, len(self._caches) - 1)


def _packed(
    caches: Sequence[tuple[int, int, int]], events: _Events, begin: int, end: int, marks: int
) -> bytes:
    head = HEAD.pack(MAGIC, len(caches), events.dealt, events.count, begin, end, marks)
    return b"".join([head, *(CACHE.pack(*each) for each in caches), bytes(events.data)])
