# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The grammar of tailored allocators: a sentence is a row of steps over the existing layers.

    allocator    := small-objects  large-objects  threads  handlers  [ call-sites ]  "ANSIWrapper"
    small-objects := lists | fit | superblocks | owner-caches
    lists        := chunks  "SizeHeap"  classes  "StrictSegHeap"       freed objects stay in a class
    fit          := "SbrkHeap"  "CoalesceHeap"  quick-lists            objects split and merge
    superblocks  := "AlignedBlockHeap"  slots  "HoardHeap"             each thread, bounded blowup
    owner-caches := "ExtentHeap"  slots  "HoardHeap"  "OwnerCacheHeap" a cache for each thread
    call-sites   := { list  ( "ShortLivedHeap" | "LongLivedHeap" )  "CallSiteHeap" }

Every sentence compiles. The tests compile one of each production, and all of them with -m slow.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from heapwright.tailor.sites import Place, SiteKey

Core = Literal["lists", "fit", "superblocks", "owner-caches"]
KIB = 1024
MIB = 1024 * KIB
NEVER = -1
"""Memory is never returned."""
SITES_A_LINE = 3
ARENA = 8 * KIB
"""Of the heap for short-lived objects: the size of an arena."""
LARGEST = ARENA // 8
"""Bytes of the largest block that the heap of some call sites serves."""


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a composition."""

    name: str
    type: str
    slot: str = ""
    """What decides it; the reason of the slot becomes a part of the caption."""
    caption: str = ""
    keyword: str = "using"


@dataclass(frozen=True, slots=True)
class SiteHeap:
    """A heap for the objects of some call sites."""

    kind: Literal["Brief", "Lasting"]
    keys: tuple[SiteKey, ...]
    units: int
    """The arenas of a brief heap; the bytes of a lasting one, a power of two."""

    @property
    def type(self) -> str:
        """The heap without its call sites."""
        if self.kind == "Brief":
            return f"ShortLivedHeap<{self.units}, {size(ARENA)}, MmapHeap>"
        return f"LongLivedHeap<{size(self.units)}, {size(LARGEST)}, MmapHeap>"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, by the parameters of its productions."""

    core: Core
    name: str
    """Such as `lists-24`."""
    large: int
    """Larger requests are large objects."""
    classes: tuple[int, ...] = ()
    """Of `lists`: the sizes of the blocks."""
    chunk: int = 256 * KIB
    """Of `lists`: the memory that is carved at once."""
    huge_pages: bool = False
    quick: int = 16
    """Of `fit`: lists of freed objects, 16 bytes apart."""
    block: int = 32 * KIB
    """Of `superblocks` and `owner-caches`: the size of a superblock."""
    depth: int = 64
    """Freed objects of a class that a thread keeps."""
    purge_ms: int = 1000
    """Of `owner-caches`: free memory returns to the system after this time."""
    threads: bool = False
    """Several threads allocate."""
    sites: tuple[SiteHeap, ...] = ()
    """Heaps for some call sites, the lowest first. Empty: all call sites have the same heap."""
    reasons: Mapping[str, str] = field(default_factory=dict)

    @property
    def entry_points(self) -> tuple[str, ...]:
        """What the library offers besides malloc."""
        return ("signals",) if self.core == "owner-caches" else ()

    def steps(self) -> Iterator[Step]:
        """From the source of the memory to the rules of C. The last but one is `Top`."""
        steps = {
            "lists": self._lists,
            "fit": self._fit,
            "superblocks": self._superblocks,
            "owner-caches": self._owner_caches,
        }[self.core]()
        if not self.sites:
            yield from steps
            return
        for step in steps:
            yield replace(step, name="Others") if step.name == "Top" else step
        below = "Others"
        for heap in self.sites:
            top = "Top" if heap is self.sites[-1] else f"With{heap.kind}"
            yield from _call_sites(heap, below, top)
            below = top

    def _lists(self) -> Iterator[Step]:
        source = "HugePageHeap<platform::AdvisedHugePages>" if self.huge_pages else "MmapHeap"
        yield Step("Pages", source, "pages", "memory of the system")
        yield Step("Chunks", f"ChunkHeap<{size(self.chunk)}, 8, Pages>", "chunk", "carved once")
        fresh = "Chunks"
        if self.threads:
            yield Step("Fresh", "LockedHeap<FutexLock, Chunks>", "", "by one thread at a time")
            fresh = "Fresh"
        yield Step("Source", f"SizeHeap<{fresh}>", "", "each object remembers its size")
        yield Step("Freed", "FreelistHeap<NullHeap>", "", "the freed objects of a class")
        per_class = "Freed"
        if self.threads:
            yield Step("PerClass", "LockedHeap<FutexLock, Freed>", "", "a lock for each class")
            per_class = "PerClass"
        blocks = ", ".join(map(str, self.classes))
        yield Step("Classes", f"FromList<{blocks}>", "classes", "sizes of blocks")
        yield Step("Lists", f"StrictSegHeap<Classes, {per_class}, Source>", "", "class by class")
        limit = f"FixedLimit<{size(self.large)}>"
        yield Step("Limit", limit, "large", "larger requests are mapped")
        yield Step("Selected", "SelectMmapHeap<Limit, MmapHeap, Lists>", "", "large objects apart")
        yield Step("Aligned", "AlignHeap<Selected>", "", "alignment to any power of two")
        if self.threads:
            cached = f"ThreadCacheHeap<Classes, {size(self._cache_bytes)}, Ages<128>, 256, Aligned>"
            yield Step("Cached", cached, "depth", "a cache for each thread")
            yield from _top("Cached", locked=False)
        else:
            yield from _top("Aligned", locked=True)

    @property
    def _cache_bytes(self) -> int:
        return max(256 * KIB, 1 << (self.classes[-1] - 1).bit_length())

    def _fit(self) -> Iterator[Step]:
        yield Step("Objects", "CoalesceableHeap<SbrkHeap>", "", "each object knows its neighbours")
        blocks = f"CoalesceHeap<{size(self.chunk)}, Objects>"
        yield Step("Blocks", blocks, "chunk", "split and merged, best fit")
        yield Step("Freed", "FreelistHeap<NullHeap>", "", "freed small objects of one size")
        yield Step("Quick", f"Exact<{self.quick}>", "quick", "sizes with a list")
        yield Step("Lists", "StrictSegHeap<Quick, Freed, Blocks>", "", "reused without a search")
        least = max(512, 32 * self.quick)
        yield Step("Small", f"ThresholdHeap<{least}, Lists>", "", "a large request merges them")
        limit = f"RisingLimit<{size(self.large)}, 32 * MiB>"
        yield Step("Limit", limit, "large", "larger requests are mapped")
        yield Step("Selected", "SelectMmapHeap<Limit, MmapHeap, Small>", "", "large objects apart")
        yield from _top("Selected", locked=True)

    def _superblocks(self) -> Iterator[Step]:
        source = "HugePageHeap<platform::AdvisedHugePages>" if self.huge_pages else "MmapHeap"
        area = 2 * MIB if self.huge_pages else 1 * MIB
        yield Step("Pages", source, "pages", "memory of the system")
        blocks = f"AlignedBlockHeap<{size(self.block)}, {size(area)}, Pages>"
        yield Step("Blocks", blocks, "block", "superblocks")
        yield Step("Slots", _slots(self.large), "slots", "sizes of objects")
        assigned = "OwnHeap<128>" if self.threads else "PerProcessor<128>"
        yield Step("Assigned", assigned, "threads", "heaps")
        yield Step("Rule", "Emptiness<1, 4, 4>", "", "empty superblocks that a heap keeps")
        small = "HoardHeap<Slots, Assigned, Rule, AnyLines, Blocks>"
        yield Step("Small", small, "", "objects without tags, bounded blowup")
        yield Step("Large", "CheckedHeap<MmapHeap>", "large", "a mapping for each large object")
        split = f"SplitHeap<{size(self.large)}, Small, Large>"
        yield Step("Split", split, "", "small and large objects apart")
        yield from _top("Split", locked=False)

    def _owner_caches(self) -> Iterator[Step]:
        delay = "purgeNever" if self.purge_ms == NEVER else str(self.purge_ms)
        huge = str(self.huge_pages).lower()
        policy = (
            "{\n    static constexpr std::uint32_t returnDelay() noexcept "
            f"{{ return {delay}; }}\n"
            f"    static constexpr bool hugePages() noexcept {{ return {huge}; }}\n}}"
        )
        bytes_ = max(2 * KIB, min(self.depth * 128, 1 * MIB))
        batch = max(4, min(self.depth // 4, 64))
        limits = (
            f"CacheLimits{{.perClassBytes = {size(bytes_)}, .perClassObjects = {self.depth}, "
            f".refillBytes = {size(max(1 * KIB, bytes_ // 4))}, .batchObjects = {batch}, "
            ".remoteObjects = 32, .remoteBytes = 64 * KiB}"
        )
        yield Step("Return", policy, "purge", "when free memory returns", "struct")
        yield Step("ExtentsName", "{}", keyword="struct")
        yield Step("SharedName", "{}", keyword="struct")
        yield Step("limits", limits, "depth", "what a thread caches", "inline constexpr auto")
        unit = size(self.block)
        source = f"ExtentHeap<{unit}, FutexLock, Return, SystemExtents>"
        yield Step("Source", source, "block", "units of memory")
        yield Step("Extents", "UniqueHeap<ExtentsName, Source>")
        yield Step("Slots", _slots(self.large), "slots", "sizes of objects")
        yield Step("Assigned", "OwnHeap<2047>", "", "heaps")
        yield Step("Rule", "Emptiness<1, 4, 1>", "", "empty superblocks that a heap keeps")
        small = "HoardHeap<Slots, Assigned, Rule, CleanRunningLines, Extents>"
        yield Step("Small", small, "", "objects without tags, bounded blowup")
        yield Step("Large", f"UnitObjectHeap<{unit}, Extents>", "large", "in runs of units")
        split = f"UniqueHeap<SharedName, SplitHeap<{size(self.large)}, Small, Large>>"
        yield Step("Shared", split, "", "small and large objects apart")
        cached = "OwnerCacheHeap<Slots, limits, PlainFreelist, Shared>"
        yield Step("Cached", cached, "", "a cache for each thread")
        yield Step("Top", "HandlerSafeHeap<Cached>", "", "a handler may interrupt")


def _top(below: str, *, locked: bool) -> Iterator[Step]:
    if locked:
        yield Step("Locked", f"LockedHeap<FutexLock, {below}>", "threads", "one thread at a time")
        below = "Locked"
    yield Step("Top", f"SignalSafeHeap<{below}>", "", "a handler may interrupt")


def _call_sites(heap: SiteHeap, below: str, top: str) -> Iterator[Step]:
    modules = sorted({(key.place.build_id, key.place.module) for key in heap.keys})
    lines = [
        "{",
        f"    static constexpr std::array<CodeModule, {len(modules)}> modules = {{{{",
        *(f'        {{"{name}", "{build_id}"}},' for build_id, name in modules),
        "    }};",
        f"    static constexpr std::array<CallSite, {len(heap.keys)}> sites = {{{{",
        *(f"        {line}" for line in _rows(heap.keys, [build_id for build_id, _ in modules])),
        "    }};",
        "}",
    ]
    kind, slot = heap.kind, heap.kind.lower()
    sites, memory = (
        ("call sites of short-lived objects", "a ring of arenas, each used again when it is empty")
        if kind == "Brief"
        else ("call sites of long-lived objects", "one area, without other objects")
    )
    yield Step(f"{kind}Sites", "\n".join(lines), f"{slot}-sites", sites, "struct")
    yield Step(kind, heap.type, f"{slot}-memory", memory)
    type_ = f"CallSiteHeap<CallSiteTable<{kind}Sites>, {kind}, {below}>"
    yield Step(top, type_, "", "the objects of these call sites apart")


def _rows(keys: tuple[SiteKey, ...], build_ids: list[str]) -> list[str]:
    """The entries of the table, several in a line: module, return address and block."""

    def entry(place: Place, block: int) -> str:
        return f"{{{build_ids.index(place.build_id)}, {place.address:#x}, {block}}},"

    return [
        " ".join(entry(*key) for key in keys[at : at + SITES_A_LINE])
        for at in range(0, len(keys), SITES_A_LINE)
    ]


def _slots(large: int) -> str:
    return f"LinearSlots<1024, {size(min(4 * KIB, large))}, {size(large)}>"


def size(number: int) -> str:
    """As it is written in a composition."""
    for unit, name in ((MIB, "MiB"), (KIB, "KiB")):
        if number % unit == 0:
            return f"{number // unit} * {name}"
    return str(number)
