# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A kernel's allocation events, from what a guest sent: pages of its ring buffers and their format.

The guest's records `field` state the place of each field. So a kernel whose events have other
fields is refused by name and not misread. Events of several processors are put in the order of
their times.
"""

import heapq
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, NamedTuple

from heapwright.base.errors import HeapwrightError
from heapwright.kernel.ring_buffer import read_pages

MARK = "heapwright"
NO_FRAME = (1 << 64) - 1
"""Failed requests for pages."""
SIZES = {1: "B", 2: "H", 4: "I", 8: "Q"}


class CacheTake(NamedTuple):
    """kmem_cache_alloc: `size` as its users see it, `stride` as the allocator has it."""

    time: int
    cpu: int
    site: int
    pointer: int
    size: int
    stride: int


class CacheGive(NamedTuple):
    """kmem_cache_free."""

    time: int
    cpu: int
    pointer: int
    cache: str


class Take(NamedTuple):
    """kmalloc."""

    time: int
    cpu: int
    pointer: int
    size: int
    flags: int


class Give(NamedTuple):
    """kfree."""

    time: int
    cpu: int
    pointer: int


class PagesTake(NamedTuple):
    """mm_page_alloc; `frame` is the number of the first page."""

    time: int
    cpu: int
    frame: int
    order: int
    mobility: int


class PagesGive(NamedTuple):
    """mm_page_free."""

    time: int
    cpu: int
    frame: int
    order: int


class Fallback(NamedTuple):
    """mm_page_alloc_extfrag."""

    time: int
    cpu: int


class Mark(NamedTuple):
    """What the kernel said it had."""

    time: int
    cpu: int
    slab_kib: int
    free_kib: int


Event = CacheTake | CacheGive | Take | Give | PagesTake | PagesGive | Fallback | Mark


@dataclass(slots=True)
class Recording:
    """What a guest sent of its events."""

    fields: list[Mapping[str, Any]] = field(default_factory=list)
    pages: dict[int, bytearray] = field(default_factory=dict)
    entries: int = 0
    lost: int = 0


class Reader:
    """Makes events of bytes, by the format that the guest sent. Raises HeapwrightError."""

    def __init__(self, fields: Sequence[Mapping[str, Any]]) -> None:
        self._fields: dict[str, dict[str, tuple[int, int]]] = {}
        self._ids: dict[str, int] = {}
        for each in fields:
            name = str(each["event"])
            self._ids[name] = int(each["id"])
            places = self._fields.setdefault(name, {})
            places[str(each["name"])] = (int(each["offset"]), int(each["size"]))
        self._made = {
            self._ids[name]: make
            for name, make in (
                (
                    "kmem_cache_alloc",
                    self._plain(
                        "kmem_cache_alloc", CacheTake, "call_site ptr bytes_req bytes_alloc"
                    ),
                ),
                ("kmem_cache_free", self._cache_give()),
                ("kmalloc", self._plain("kmalloc", Take, "ptr bytes_req gfp_flags")),
                ("kfree", self._plain("kfree", Give, "ptr")),
                (
                    "mm_page_alloc",
                    self._plain("mm_page_alloc", PagesTake, "pfn order migratetype"),
                ),
                ("mm_page_free", self._plain("mm_page_free", PagesGive, "pfn order")),
                (
                    "mm_page_alloc_extfrag",
                    self._plain("mm_page_alloc_extfrag", Fallback, ""),
                ),
                ("print", self._mark()),
            )
        }

    def read(self, cpu: int, pages: bytes) -> Iterator[Event]:
        """The events of one processor; other events are skipped."""
        for time, data in read_pages(pages):
            make = self._made.get(data[0] | data[1] << 8)
            event = None if make is None else make(time, cpu, data)
            if event is not None and not (type(event) is PagesTake and event.frame == NO_FRAME):
                yield event

    def _place(self, event: str, name: str) -> tuple[int, int]:
        found = self._fields.get(event, {}).get(name)
        if found is None:
            raise HeapwrightError(
                f"the kernel's event {event} has no field {name}",
                "heapwright records kernels of the series 6.1",
            )
        return found

    def _plain(self, event: str, made: Any, names: str) -> Any:
        """For an event whose fields are numbers, in the order of `made`."""
        places = [self._place(event, name) for name in names.split()]
        layout, at = "<", 0
        for offset, size in places:
            if offset < at or size not in SIZES:
                raise HeapwrightError(f"the kernel's event {event} is laid out otherwise")
            layout += f"{offset - at}x{SIZES[size]}"
            at = offset + size
        unpack = struct.Struct(layout).unpack_from
        self._place(event, "common_type")

        def make(time: int, cpu: int, data: memoryview) -> Event:
            event: Event = made(time, cpu, *unpack(data))
            return event

        return make

    def _cache_give(self) -> Any:
        pointer, _ = self._place("kmem_cache_free", "ptr")
        name, _ = self._place("kmem_cache_free", "name")
        names: dict[bytes, str] = {}

        def make(time: int, cpu: int, data: memoryview) -> Event:
            (address,) = struct.unpack_from("<Q", data, pointer)
            offset, length = struct.unpack_from("<HH", data, name)
            raw = bytes(data[offset : offset + length - 1])
            if raw not in names:
                names[raw] = raw.decode("ascii", "replace")
            return CacheGive(time, cpu, address, names[raw])

        return make

    def _mark(self) -> Any:
        offset, _ = self._place("print", "buf")

        def make(time: int, cpu: int, data: memoryview) -> Event | None:
            words = bytes(data[offset:]).split(b"\0")[0].decode("ascii", "replace").split()
            if words[:1] != [MARK]:
                return None
            return Mark(time, cpu, int(words[1]), int(words[2]))

        return make


def events_of(recording: Recording) -> list[Event]:
    """All of them in the order of their times. Raises HeapwrightError."""
    reader = Reader(recording.fields)
    streams = [reader.read(cpu, bytes(pages)) for cpu, pages in sorted(recording.pages.items())]
    return list(heapq.merge(*streams, key=attrgetter("time")))
