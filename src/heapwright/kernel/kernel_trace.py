# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A kernel's allocation events as a kernel trace, which the models replay.

The events are gone through twice. First come three questions. Which blocks of pages are the object
allocator's own? An object lay in them while they were taken, and each model takes its own. Which
cache is an object of? A free has its name, and an object that was never freed is of the cache of
other objects with its place of call. Which blocks are freed in pieces? Then the trace is written.

What the events do not show is put right and counted. An object or block that is taken again without
a free was freed by a path without an event (kfree_bulk, compaction). It is freed at that time, or
when the pages under it are freed. An object that is freed and was never seen existed before the
recording began. Or it came by a path without an event (kmem_cache_alloc_bulk). It is left out.

Every kmalloc is slab memory, also above the general caches. Its pages count as
NR_SLAB_UNRECLAIMABLE_B, which is in `Slab:` of /proc/meminfo. Source: __kmalloc_large_node of
mm/slab_common.c and slob_new_pages of mm/slob.c. So it is an object of any size in the trace, and
its pages are left out.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from heapwright.base.errors import HeapwrightError
from heapwright.kernel.events import (
    CacheGive,
    CacheTake,
    Event,
    Fallback,
    Give,
    Mark,
    PagesGive,
    PagesTake,
    Take,
)
from heapwright.kernel.object_caches import Cache, described, general_size, reclaimable_general

DIRECT_MAP = 0xFFFF_8880_0000_0000
"""Where x86-64 maps all memory without RANDOMIZE_BASE: Documentation/x86/x86_64/mm.rst."""
PAGE_BITS = 12
KIB_A_PAGE = 4
RECLAIMABLE_FLAG = 0x10
"""__GFP_RECLAIMABLE of include/linux/gfp_types.h."""
NOTHING = 4096
"""Below: null, and what kmalloc answers for no bytes."""
MOBILITIES = "umr"
DESCRIPTOR = 64
"""Bytes of struct buffer_page of kernel/trace/ring_buffer.c, on its line of the cache."""
FIRST_DESCRIPTOR = 1 << 60
"""An identity that no address and no number of a page has."""


@dataclass(slots=True)
class Block:
    """Pages that were taken together."""

    frame: int
    order: int
    slab: bool = False
    pieces: list[tuple[int, int]] = field(default_factory=list)
    objects: set[int] = field(default_factory=set)

    @property
    def frames(self) -> range:
        return range(self.frame, self.frame + (1 << self.order))


@dataclass(slots=True)
class Counts:
    """How much of what; and what had to be put right."""

    objects: int = 0
    blocks: int = 0
    own_blocks: int = 0
    marks: int = 0
    unseen_objects: int = 0
    unseen_blocks: int = 0
    unknown_objects: Counter[str] = field(default_factory=Counter)
    unknown_blocks: int = 0


@dataclass(frozen=True, slots=True)
class Head:
    """What stands above the events."""

    version: str
    allocator: str
    words: str
    cpus: int
    descriptors: int = 0
    """Of the ring buffers' pages: objects that existed before the first event."""


class Survey:
    """The first way through."""

    def __init__(self, events: Sequence[Event], allocator: str) -> None:
        self.blocks: dict[int, Block] = {}
        """By the number of the event that took it."""
        self.names: dict[int, str] = {}
        """Of caches, by the number of the event that took from it."""
        self.free_pages = 0
        """That would be free when the recording began: free at the first mark, or taken since."""
        self.first_mark = -1
        self.last_mark = -1
        self._owner: dict[int, Block] = {}
        self._live: dict[int, int] = {}
        for number, event in enumerate(events):
            self._see(number, event)
        if self.first_mark < 0 or self.first_mark == self.last_mark:
            raise HeapwrightError("the guest's events have no marks between them", "record again")
        if not any(block.slab for block in self.blocks.values()):
            raise HeapwrightError("no object of the guest's lies in pages that it took")
        self.caches = self._resolve(events, allocator)

    def _see(self, number: int, event: Event) -> None:
        if isinstance(event, PagesTake):
            block = Block(event.frame, event.order)
            self.blocks[number] = block
            self._owner.update(dict.fromkeys(block.frames, block))
        elif isinstance(event, PagesGive):
            self._leave(event)
        elif isinstance(event, CacheTake | Take):
            self._lies(event.pointer)
            if isinstance(event, CacheTake):
                self._live[event.pointer] = number
        elif isinstance(event, CacheGive):
            self._lies(event.pointer)
            if (taken := self._live.pop(event.pointer, None)) is not None:
                self.names[taken] = event.cache
        elif isinstance(event, Give):
            self._live.pop(event.pointer, None)
        elif isinstance(event, Mark):
            if self.first_mark < 0:
                self.first_mark = number
                self.free_pages = event.free_kib // KIB_A_PAGE + len(self._owner)
            self.last_mark = number

    def _leave(self, event: PagesGive) -> None:
        block = self._owner.get(event.frame)
        if block is None:
            return
        if (block.frame, block.order) != (event.frame, event.order):
            block.pieces.append((event.frame, event.order))
        for frame in range(event.frame, event.frame + (1 << event.order)):
            self._owner.pop(frame, None)

    def _lies(self, pointer: int) -> None:
        block = self._owner.get(frame_of(pointer))
        if block is not None:
            block.slab = True

    def _resolve(self, events: Sequence[Event], allocator: str) -> dict[str, Cache]:
        """Names for all that were taken, and what is known of these caches."""
        exact: dict[tuple[int, int, int], Counter[str]] = {}
        rough: dict[tuple[int, int], Counter[str]] = {}
        for number, name in self.names.items():
            taken = events[number]
            assert isinstance(taken, CacheTake)
            shape = (taken.size, taken.stride)
            exact.setdefault((taken.site, *shape), Counter())[name] += 1
            rough.setdefault(shape, Counter())[name] += 1
        shapes: dict[str, tuple[int, int]] = {}
        for number, event in enumerate(events):
            if not isinstance(event, CacheTake):
                continue
            shape = (event.size, event.stride)
            if number not in self.names:
                known = exact.get((event.site, *shape)) or rough.get(shape)
                self.names[number] = known.most_common(1)[0][0] if known else f"of-{event.size}"
            name = self.names[number]
            shapes[name] = max(shape, shapes.get(name, shape))
        return {name: described(name, *shape, allocator) for name, shape in sorted(shapes.items())}


class Writer:
    """The second way through: lines of a kernel trace."""

    def __init__(self, events: Sequence[Event], head: Head) -> None:
        self._survey = Survey(events, head.allocator)
        self._events = events
        self._head = head
        self.counts = Counts()
        self._began = events[self._survey.first_mark].time
        self._numbers = self._declare()
        self._owner: dict[int, Block] = {}
        self._objects: set[int] = set()
        self._live_blocks: set[int] = set()
        self._fallbacks = 0
        self._fallbacks_before = 0

    def _declare(self) -> dict[str, int]:
        caches = self._survey.caches
        for event in self._events:
            if isinstance(event, Take) and event.flags & RECLAIMABLE_FLAG:
                name, size = reclaimable_general(event.size)
                caches.setdefault(name, Cache(name, size, 8, keeping=False, reclaimable=True))
        names = [name for name in caches if general_size(name) is None]
        return {name: number for number, name in enumerate(names)}

    def lines(self) -> Iterator[str]:
        """All of it; afterwards `counts` is complete."""
        head = self._head
        free = self._survey.free_pages
        yield "heapwright-kernel-trace 1"
        yield f"kernel {head.version} {head.allocator} {head.words}"
        yield f"cpus {head.cpus}"
        yield f"memory {max(16, -(-free * KIB_A_PAGE // 1024))} {free}"
        for name, number in self._numbers.items():
            cache = self._survey.caches[name]
            yield f"cache {number} {cache.size} {cache.align} {cache.flags} {name}"
        yield "events"
        count = self._head.descriptors
        for number in range(count):
            yield f"m 0 0 {FIRST_DESCRIPTOR + number:x} {DESCRIPTOR}"
        for number, event in enumerate(self._events[: self._survey.last_mark + 1]):
            for line in self._of(number, event):
                yield line
                count += 1
        yield f"end {count}"

    def _of(self, number: int, event: Event) -> Iterator[str]:
        when = self._when(number, event)
        if isinstance(event, CacheTake | Take):
            yield from self._take(number, event, when)
        elif isinstance(event, CacheGive):
            yield from self._give(event.pointer, when, event.cache)
        elif isinstance(event, Give):
            if event.pointer >= NOTHING:
                yield from self._give(event.pointer, when, "kmalloc")
        elif isinstance(event, PagesTake):
            yield from self._take_pages(number, event, when)
        elif isinstance(event, PagesGive):
            yield from self._give_pages(event, when)
        elif isinstance(event, Fallback):
            self._fallbacks += 1
        else:
            if number == self._survey.first_mark:
                self._fallbacks_before = self._fallbacks
            self.counts.marks += 1
            events = self._fallbacks - self._fallbacks_before
            yield f"k {max(1, self._time(event))} {event.slab_kib // KIB_A_PAGE} {events}"

    def _time(self, event: Event) -> int:
        return event.time - self._began

    def _when(self, number: int, event: Event) -> str:
        """Time and processor; what came before the first mark was there before."""
        time = 0 if number < self._survey.first_mark else max(1, self._time(event))
        return f"{time} {event.cpu}"

    def _take(self, number: int, event: CacheTake | Take, when: str) -> Iterator[str]:
        pointer = event.pointer
        if pointer < NOTHING:
            return
        if pointer in self._objects:
            self.counts.unseen_objects += 1
            yield from self._give(pointer, when, "")
        self._objects.add(pointer)
        if (block := self._owner.get(frame_of(pointer))) is not None:
            block.objects.add(pointer)
        self.counts.objects += 1
        if isinstance(event, CacheTake):
            name = self._survey.names[number]
            general = general_size(name)
        else:
            reclaimable = event.flags & RECLAIMABLE_FLAG
            name = reclaimable_general(event.size)[0] if reclaimable else ""
            general = None if reclaimable else event.size
        if general is None:
            yield f"a {when} {pointer:x} {self._numbers[name]}"
        else:
            yield f"m {when} {pointer:x} {general}"

    def _give(self, pointer: int, when: str, cache: str) -> Iterator[str]:
        if pointer not in self._objects:
            self.counts.unknown_objects[cache] += 1
            return
        self._objects.remove(pointer)
        if (block := self._owner.get(frame_of(pointer))) is not None:
            block.objects.discard(pointer)
        yield f"f {when} {pointer:x}"

    def _take_pages(self, number: int, event: PagesTake, when: str) -> Iterator[str]:
        block = self._survey.blocks[number]
        for frame in block.frames:
            if frame in self._live_blocks:
                self.counts.unseen_blocks += 1
                self._live_blocks.remove(frame)
                yield f"f {when} {frame:x}"
        if block.slab:
            self.counts.own_blocks += 1
            self._owner.update(dict.fromkeys(block.frames, block))
            return
        letter = MOBILITIES[event.mobility] if event.mobility < len(MOBILITIES) else "u"
        for frame, order in in_pieces(block):
            self.counts.blocks += 1
            self._live_blocks.add(frame)
            yield f"p {when} {frame:x} {order} {letter}"

    def _give_pages(self, event: PagesGive, when: str) -> Iterator[str]:
        if event.frame in self._live_blocks:
            self._live_blocks.remove(event.frame)
            yield f"f {when} {event.frame:x}"
            return
        block = self._owner.get(event.frame)
        if block is None:
            self.counts.unknown_blocks += 1
            return
        for pointer in sorted(block.objects):
            if event.frame <= frame_of(pointer) < event.frame + (1 << event.order):
                self.counts.unseen_objects += 1
                yield from self._give(pointer, when, "")
        for frame in range(event.frame, event.frame + (1 << event.order)):
            self._owner.pop(frame, None)


def frame_of(pointer: int) -> int:
    """The number of the page that an address of the direct map is in."""
    return (pointer - DIRECT_MAP) >> PAGE_BITS


def in_pieces(block: Block) -> list[tuple[int, int]]:
    """A block as it is freed: whole, or in pieces, with the rest as single pages."""
    if not block.pieces:
        return [(block.frame, block.order)]
    covered = {
        frame for first, order in block.pieces for frame in range(first, first + (1 << order))
    }
    left = [(frame, 0) for frame in block.frames if frame not in covered]
    return sorted([*block.pieces, *left])
