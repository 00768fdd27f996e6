# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of a profile that run over time, operations, addresses or sizes.

The length of each is bounded, independent of the length of the trace; see
`artefacts.profile.document` for the units.
"""

from typing import Annotated

from pydantic import Field

from heapwright.artefacts.models import WrittenModel

Count = Annotated[int, Field(ge=0)]


class Point(WrittenModel):
    """What was live after `operation` calls; the stretch is the time since the point before."""

    time_s: float
    operation: Annotated[Count, Field(description="Calls up to here")]
    live_bytes: Count
    live_objects: Count
    usable_bytes: Annotated[
        int | None, Field(description="What the allocator had rounded them up to; null: unknown")
    ] = None
    most_live_bytes: Annotated[Count, Field(description="The most within the stretch")]
    allocated_bytes: Annotated[Count, Field(description="Requested within the stretch")]


class SizeOverTime(WrittenModel):
    """One of the five sizes that are commonest overall; a figure for each point of `timeline`.

    null: at that time the size was not yet among the 64 commonest.
    """

    size: Count
    allocations: Annotated[tuple[int | None, ...], Field(description="Made so far")]
    live: tuple[int | None, ...]


class HeapRow(WrittenModel):
    """A range of addresses; rows rise, and between two that do not touch nothing was ever live."""

    start: Count
    bytes: Count


class HeapMap(WrittenModel):
    """Where in the address space live blocks stood, over time."""

    process: Annotated[Count, Field(description="The one that made most calls")] = 0
    times_s: Annotated[tuple[float, ...], Field(description="One for each column")]
    rows: tuple[HeapRow, ...]
    cells: Annotated[
        tuple[tuple[float, ...], ...],
        Field(description="For each row, in each column: the share of its bytes that was live"),
    ]


class LifetimeCount(WrittenModel):
    """Blocks that lived for more than `low` and at most `high`."""

    low: float
    high: float
    count: Count


class LifetimesOfSizes(WrittenModel):
    """How long blocks of more than `low` and at most `high` bytes lived."""

    low: Count
    high: Count
    count: Annotated[Count, Field(description="Allocations of these sizes")]
    bytes: Count
    never_freed: Count
    handed_over: Annotated[Count, Field(description="Ended by another thread")] = 0
    seconds: Annotated[tuple[LifetimeCount, ...], Field(description="Steps of 1, 2, 5")]
    operations: Annotated[
        tuple[LifetimeCount, ...],
        Field(description="The same in operations of the whole trace: powers of two"),
    ]


class Phase(WrittenModel):
    """What happened in an even stretch of operations."""

    operation: Annotated[Count, Field(description="Its last operation")]
    time_s: Annotated[float, Field(description="When that was")]
    allocations: Count
    bytes: Count
    frees: Annotated[Count, Field(description="Blocks that ended")]
    long_lived: Annotated[
        Count, Field(description="Of the allocations: retained for more than 1 s, or never freed")
    ]
    handed_over: Annotated[Count, Field(description="Of the ended: by another thread")]
    live_bytes: Annotated[Count, Field(description="At its end")]
    live_objects: Count


class SystemSample(WrittenModel):
    """One look at the system's account of the process, and what was live then."""

    time_s: float
    live_bytes: Annotated[Count, Field(description="U: live bytes as requested")]
    waste_bytes: Annotated[
        int | None, Field(description="Internal: what blocks were rounded up by; null: unknown")
    ] = None
    held_bytes: Annotated[
        int | None, Field(description="Resident in heaps and in no live block: the allocator's")
    ] = None
    lazy_bytes: Annotated[
        int | None,
        Field(
            description="Of the resident bytes: returned lazily; the system may take them at need"
        ),
    ] = None
    other_bytes: Annotated[int | None, Field(description="Resident outside of heaps")] = None
    code_bytes: Annotated[
        int | None, Field(description="Of the others: code and constant data")
    ] = None
    heap_mapped_bytes: Annotated[
        int | None, Field(description="A: what the process had from the system for its heaps")
    ] = None
    heap_resident_bytes: int | None = None
    resident_bytes: int | None = None
    recorder_bytes: Annotated[
        int | None,
        Field(description="Resident only because it is recorded; in none of the other figures"),
    ] = None


class HeapRatio(WrittenModel):
    """A/U; null where nothing was live."""

    peak: Annotated[float | None, Field(description="Most A over most U, whenever each was")]
    at_end: float | None


class HeapPlace(WrittenModel):
    """Mappings of heaps of one kind, together."""

    mappings: Count
    mapped_bytes: Count
    resident_bytes: Count
    usable_bytes: Annotated[Count, Field(description="Of the blocks live in them")]
    pinned_bytes: Annotated[
        int | None,
        Field(
            description="Of the spans in which a block was live. The allocator returns a span as a "
            "whole; null: unknown"
        ),
    ] = None
    free_top_bytes: Annotated[
        Count, Field(description="Behind the last page in which a block was live")
    ] = 0
    cached_top_bytes: Annotated[
        Count,
        Field(description="Of free_top_bytes: up to the last block that glibc's tcache may keep"),
    ] = 0
    fast_top_bytes: Annotated[
        Count,
        Field(description="Of free_top_bytes: up to the last block that a fastbin may keep"),
    ] = 0


class MostHeld(WrittenModel):
    """Where the heap stood when the allocator held most."""

    time_s: float
    program_break: Annotated[HeapPlace, Field(description="What brk and sbrk move")]
    arenas: Annotated[
        HeapPlace, Field(description="Begin on 64 MiB, as the C library's further arenas do")
    ]
    mapped: Annotated[HeapPlace, Field(description="All others")]
    largest_unmapped_bytes: Annotated[
        int | None,
        Field(
            description="Of the blocks with a mapping each that were freed by then; glibc's "
            "thresholds rise to it; null: unknown"
        ),
    ] = None


class System(WrittenModel):
    """Fragmentation potential: what the allocator had from the system beside what was live."""

    samples: Annotated[tuple[SystemSample, ...], Field(description="1,000 at most")]
    a_over_u: HeapRatio
    most_held: MostHeld | None = None
    objects: Annotated[
        tuple[str, ...], Field(description="The files mapped with code in them, as last seen")
    ] = ()
