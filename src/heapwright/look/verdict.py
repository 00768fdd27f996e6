# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The reason for the resident memory in one sentence, and a remedy. Pure.

The heap's resident memory has four parts. Live memory is resident in the blocks that the program
uses. What `malloc_trim(0)` releases, and what stays at the tops of the arenas of threads, are whole
pages without a live block. The rest lies on pages beside live blocks, and only another layout
returns it. docs/reference/look.md states the limits.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from heapwright.artefacts.look.document import (
    Arena,
    Category,
    Counters,
    Foreign,
    Glibc,
    Granary,
    Kind,
    Leaks,
    Verdict,
)
from heapwright.artefacts.run.serving import GLIBC
from heapwright.base.quantities import several, size
from heapwright.look.foreign import OWN_MEMORY, how_to_ask

MIB = 1 << 20
HEAP = ("heap", "arenas", "blocks")
LEAST_LEAK = 64 << 10
LEAK_SHARE = 0.1
"""Of live memory. A smaller leak is mentioned in a note."""
LEAST_HELD = 4 * MIB
HELD_SHARE = 1 / 3
"""Of the resident heap."""
MANY_ARENAS = 4
NOT_THE_REASON = (
    "The allocator is not the reason. `heapwright profile --stacks -- COMMAND` shows which call "
    "sites hold the memory."
)
INITIAL_TRIM = 128 << 10
"""glibc's initial trim threshold. It rises as larger blocks are freed."""
NAMES: Mapping[str, str] = {
    "heap": "the main heap",
    "arenas": "arenas of threads",
    "blocks": "blocks with mappings of their own",
    "anonymous": "other anonymous memory",
    "stacks": "stacks",
    "code": "code and constants",
    "data": "data of programs and libraries",
    "files": "mapped files",
    "shared": "shared memory",
    "kernel": "the kernel's pages",
}


@dataclass(frozen=True, slots=True)
class Heap:
    """The resident heap of glibc's malloc and its parts, in bytes."""

    resident: int
    live: int
    """At most what is resident."""
    live_blocks: int
    released: int
    thread_tops: int
    """Resident tops of the arenas of threads, which malloc_trim does not release."""
    cached: int
    """Freed, in caches of threads and fast bins."""
    main_top: int
    others: tuple[Arena, ...]
    """Arenas of threads with memory."""

    @property
    def held(self) -> int:
        return max(self.resident - self.live, 0)

    @property
    def between(self) -> int:
        """On pages with live blocks."""
        return max(self.held - self.released - self.thread_tops, 0)


def heap_of(glibc: Glibc, categories: tuple[Category, ...]) -> Heap:
    """The sums over all arenas."""
    resident = sum(each.resident_bytes for each in categories if each.name in HEAP)
    mapped = min(glibc.mapped.bytes, glibc.mapped_resident_bytes)
    live = sum(each.live.bytes for each in glibc.arenas) + mapped
    others = tuple(each for each in glibc.arenas if not each.is_main and each.heaps)
    return Heap(
        resident=resident,
        live=min(live, resident),
        live_blocks=sum(each.live.blocks for each in glibc.arenas) + glibc.mapped.blocks,
        released=sum(each.released_bytes for each in glibc.arenas),
        thread_tops=sum(each.top_resident_bytes for each in others),
        cached=sum(each.cached.bytes + each.fast.bytes for each in glibc.arenas),
        main_top=sum(each.top_resident_bytes for each in glibc.arenas if each.is_main),
        others=others,
    )


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look found."""

    categories: tuple[Category, ...]
    allocator: str
    glibc: Glibc | None
    """None if its malloc is not in use."""
    granary: Granary | None
    leaks: Leaks | None
    environment: Mapping[str, str]
    pid: int | None = None
    """None: a core file."""
    missing_bytes: int = 0
    """That a truncated core lacks."""
    foreign: Foreign | None = None
    """Of another allocator that serves malloc."""
    contained: str = ""
    """Another allocator that the program contains, while glibc serves malloc; empty: none."""

    @property
    def resident(self) -> int:
        return sum(each.resident_bytes for each in self.categories)


def judge(seen: Seen) -> Verdict:
    """The verdict on a process or core whose memory was read."""
    if seen.allocator != GLIBC:
        return _foreign(seen)
    if seen.glibc is None:
        return Verdict(
            kind=Kind.UNKNOWN,
            sentence=f"Unknown: {size(seen.resident)} are resident, and no heap of glibc's malloc "
            f"was found; {_largest(seen.categories)}.",
            remedy="The core is truncated before the heap or the data of glibc. A whole one is "
            "needed: raise `ulimit -c`, and check the room on the disk."
            if seen.missing_bytes
            else "The program has an allocator of its own, another C library, or has not called "
            "malloc.",
        )
    heap = heap_of(seen.glibc, seen.categories)
    leaks = seen.leaks
    if leaks is not None and leaks.bytes >= max(LEAST_LEAK, LEAK_SHARE * heap.live):
        return _leak(leaks, heap)
    if heap.resident < seen.resident / 2 and seen.resident - heap.resident > LEAST_HELD:
        return _elsewhere(seen, heap)
    if heap.held > max(LEAST_HELD, HELD_SHARE * heap.resident):
        return _held(seen.glibc, heap, seen.environment)
    return Verdict(
        kind=Kind.LIVE,
        sentence=f"Live: {size(heap.live)} of the {size(heap.resident)} resident heap are in "
        f"{several(heap.live_blocks, 'live block')}; glibc holds {size(heap.held)} more.",
        remedy=NOT_THE_REASON,
    )


def _leak(leaks: Leaks, heap: Heap) -> Verdict:
    first = leaks.groups[0]
    return Verdict(
        kind=Kind.LEAK,
        sentence=f"Leak: no pointer leads to {size(leaks.bytes)} in "
        f"{several(leaks.blocks, 'block')}, of {size(heap.live)} live; most are of "
        f"{several(first.block_bytes, 'byte')}.",
        remedy="Free these blocks; `heapwright explain -- COMMAND` names the call sites.",
    )


def _elsewhere(seen: Seen, heap: Heap) -> Verdict:
    target = "COMMAND" if seen.pid is None else f"-p {seen.pid}"
    return Verdict(
        kind=Kind.ELSEWHERE,
        sentence=f"Elsewhere: {size(seen.resident - heap.resident)} of the {size(seen.resident)} "
        f"resident are outside of glibc's heap; {_largest(seen.categories, HEAP)}.",
        remedy=f"The program contains {seen.contained} beside glibc's malloc. "
        f"{how_to_ask(seen.contained, seen.pid)}"
        if seen.contained
        else "No setting of malloc changes this. A runtime with its own heap has tools of its "
        f"own; `strace -f -k -e trace=mmap,mremap {target}` shows the callers of mmap.",
    )


def _held(glibc: Glibc, heap: Heap, environment: Mapping[str, str]) -> Verdict:
    """The largest part of what is held decides."""
    of_others = sum(each.released_bytes + each.top_resident_bytes for each in heap.others)
    what = f"glibc holds {size(heap.held)} that are not live, of a heap of {size(heap.resident)}"
    trim = f"malloc_trim(0) would release {size(heap.released)}"
    many = len(heap.others) >= MANY_ARENAS and of_others > heap.held / 2
    if many and "MALLOC_ARENA_MAX" not in environment:
        return Verdict(
            kind=Kind.RETENTION,
            sentence=f"Retention: {what}; {size(of_others)} of it are free in "
            f"{several(len(heap.others), 'arena')} of threads; {trim}.",
            remedy="Set MALLOC_ARENA_MAX=2; threads then wait for each other more often.",
        )
    if heap.released + heap.thread_tops < heap.between:
        return _fragmented(heap, what, trim, environment)
    threshold = 0 if glibc.parameters is None else glibc.parameters.trim_threshold
    if heap.main_top > heap.released / 2 and threshold > INITIAL_TRIM:
        return Verdict(
            kind=Kind.RETENTION,
            sentence=f"Retention: {what}; {size(heap.main_top)} of it are free at the top, below "
            f"the trim threshold of {size(threshold)}; {trim}.",
            remedy=f"Set MALLOC_TRIM_THRESHOLD_={INITIAL_TRIM}, or call malloc_trim(0) after a "
            "peak.",
        )
    return Verdict(
        kind=Kind.RETENTION,
        sentence=f"Retention: {what}; {trim}, most of it below blocks that stay.",
        remedy="Call malloc_trim(0) after a peak, or use an allocator that returns such pages; "
        "`heapwright compare -- COMMAND` measures which.",
    )


def _fragmented(heap: Heap, what: str, trim: str, environment: Mapping[str, str]) -> Verdict:
    cached = heap.cached > heap.held / 2
    tunable = "glibc.malloc.tcache_count=0"
    if cached and tunable not in environment.get("GLIBC_TUNABLES", ""):
        return Verdict(
            kind=Kind.RETENTION,
            sentence=f"Retention: {what}; {size(heap.cached)} of it are freed blocks in caches of "
            f"threads and fast bins; {trim}.",
            remedy=f"Set GLIBC_TUNABLES={tunable}:glibc.malloc.mxfast=0; each free then takes "
            "longer.",
        )
    return Verdict(
        kind=Kind.FRAGMENTATION,
        sentence=f"Fragmentation: {what}; {size(heap.between)} of it lie on pages with live "
        f"blocks; {trim}.",
        remedy="No setting returns it. Use another allocator; `heapwright compare -- COMMAND` "
        "shows which hold less.",
    )


def _foreign(seen: Seen) -> Verdict:
    """Another allocator serves malloc."""
    if seen.granary is not None:
        return _granary(seen.granary, seen)
    if seen.foreign is None:
        return Verdict(
            kind=Kind.UNKNOWN,
            sentence=f"Unknown: {seen.allocator} serves malloc, and its heap was not found; "
            f"{size(seen.resident)} are resident.",
            remedy="`heapwright explain -- COMMAND` separates live memory from held memory.",
        )
    if seen.foreign.counters is not None:
        return _counted(seen.foreign.counters, seen)
    most = seen.foreign.most_resident_bytes
    if most < seen.resident / 2 and seen.resident - most > LEAST_HELD:
        return Verdict(
            kind=Kind.ELSEWHERE,
            sentence=f"Elsewhere: at least {size(seen.resident - most)} of the "
            f"{size(seen.resident)} resident are outside of {seen.allocator}'s heap; "
            f"{_largest(seen.categories, OWN_MEMORY)}.",
            remedy="No setting of the allocator changes this.",
        )
    lazy = seen.foreign.lazy_free_bytes
    taken = f", of which the system may take {size(lazy)} that are free" if lazy >= MIB else ""
    return Verdict(
        kind=Kind.UNKNOWN,
        sentence=f"Unknown: {seen.allocator} serves malloc and has at most {size(most)} of the "
        f"{size(seen.resident)} resident{taken}; only its own counters tell live from free, "
        f"and {seen.foreign.unread}.",
        remedy=how_to_ask(seen.allocator, seen.pid),
    )


def _counted(counters: Counters, seen: Seen) -> Verdict:
    """The walk of the allocator's heap agrees with itself."""
    name = f"{seen.allocator} {counters.version}"
    resident, live = counters.resident_bytes, counters.live
    held = max(resident - live.bytes, 0)
    what = (
        f"{name} has {size(live.bytes)} in {several(live.blocks, 'live block')}, and holds "
        f"{size(held)} more of {size(resident)} resident"
    )
    if resident < seen.resident / 2 and seen.resident - resident > LEAST_HELD:
        return Verdict(
            kind=Kind.ELSEWHERE,
            sentence=f"Elsewhere: {size(seen.resident - resident)} of the {size(seen.resident)} "
            f"resident are outside of the heap; {what}.",
            remedy="No setting of the allocator changes this.",
        )
    if held <= max(LEAST_HELD, HELD_SHARE * resident):
        return Verdict(kind=Kind.LIVE, sentence=f"Live: {what}.", remedy=NOT_THE_REASON)
    if counters.free_bytes > held / 2:
        return Verdict(
            kind=Kind.FRAGMENTATION,
            sentence=f"Fragmentation: {what}; {size(counters.free_bytes)} are free blocks on pages "
            "with live ones.",
            remedy="No setting returns them; `heapwright compare -- COMMAND` shows which "
            "allocators hold less.",
        )
    return Verdict(
        kind=Kind.RETENTION,
        sentence=f"Retention: {what}.",
        remedy="mi_collect(true) returns free memory of the calling thread at once. "
        "`heapwright compare -- COMMAND` shows which allocators hold less.",
    )


def _anonymous(seen: Seen) -> int:
    return sum(each.resident_bytes for each in seen.categories if each.name == "anonymous")


def _granary(granary: Granary, seen: Seen) -> Verdict:
    """Units without an object lie in anonymous memory, so the rest of it is an upper bound."""
    anonymous = _anonymous(seen)
    live = granary.small.bytes + granary.large.bytes
    rest = max(anonymous - granary.resident_bytes, 0)
    blocks = several(granary.small.blocks + granary.large.blocks, "live block")
    what = (
        f"{seen.allocator} has {size(granary.resident_bytes)} resident under {size(live)} in "
        f"{blocks}, and at most {size(rest)} without one"
    )
    if rest > max(LEAST_HELD, HELD_SHARE * anonymous):
        return Verdict(
            kind=Kind.RETENTION,
            sentence=f"Retention: {what}.",
            remedy="granary returns free memory after some time (its setting `return`); "
            "malloc_trim(0) returns it at once.",
        )
    if granary.free_slot_bytes > max(LEAST_HELD, HELD_SHARE * granary.resident_bytes):
        return Verdict(
            kind=Kind.FRAGMENTATION,
            sentence=f"Fragmentation: {what}; {size(granary.free_slot_bytes)} are free slots "
            "beside live blocks.",
            remedy="No setting returns them; `heapwright compare -- COMMAND` shows which "
            "allocators hold less.",
        )
    return Verdict(
        kind=Kind.LIVE,
        sentence=f"Live: {what}.",
        remedy=NOT_THE_REASON,
    )


def _largest(categories: tuple[Category, ...], without: tuple[str, ...] = ()) -> str:
    """The largest kinds of memory in words."""
    order = sorted(categories, key=lambda each: each.resident_bytes, reverse=True)
    chosen = [each for each in order if each.name not in without and each.resident_bytes][:2]
    return " and ".join(f"{size(each.resident_bytes)} are {NAMES[each.name]}" for each in chosen)
