# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Look: the memory of a process at one moment, seen from outside, as `heapwright look` found it.

This is the document that `--json` writes; docs/reference/look.md defines every figure, and its JSON
Schema is `schema_text()`. Sizes are bytes.

Invariants: immutable; reading back what was written gives an equal object. `schema_version` goes up
when a reader of the old form would be misled.

Versions:
    1  the first
"""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field

from heapwright.artefacts.models import WrittenModel
from heapwright.base.json_schema import schema_text_of

SCHEMA_VERSION: Literal[1] = 1
FORMAT: Literal["heapwright look"] = "heapwright look"

Count = Annotated[int, Field(ge=0)]


class Access(StrEnum):
    """What of the process could be read."""

    FULL = "full"
    STATUS = "status"
    """Only the sums that each user may read."""


class Kind(StrEnum):
    """The main reason for the resident memory."""

    LEAK = "leak"
    RETENTION = "retention"
    """Free memory that the allocator keeps."""
    FRAGMENTATION = "fragmentation"
    """Free memory on pages that live blocks occupy."""
    LIVE = "live"
    ELSEWHERE = "elsewhere"
    """Outside of the heap."""
    UNKNOWN = "unknown"


class Blocks(WrittenModel):
    """A number of blocks and their usable bytes."""

    blocks: Count = 0
    bytes: Count = 0


class Category(WrittenModel):
    """All mappings of one kind."""

    name: str
    mappings: Count
    bytes: Count
    resident_bytes: Count
    swapped_bytes: Count
    lazy_free_bytes: Annotated[Count, Field(description="That the system may take (MADV_FREE)")]


class Arena(WrittenModel):
    """One arena of glibc's malloc."""

    address: Count
    is_main: bool
    is_locked: Annotated[bool, Field(description="A thread held its lock at the look")]
    threads: Annotated[Count, Field(description="That use it")]
    heaps: Count
    system_bytes: Annotated[Count, Field(description="That glibc counts for it")]
    resident_bytes: Count
    live: Blocks
    cached: Annotated[Blocks, Field(description="Freed, and cached by threads")]
    fast: Annotated[Blocks, Field(description="Freed, and in fast bins")]
    free: Annotated[Blocks, Field(description="In other bins")]
    free_page_bytes: Annotated[
        Count, Field(description="Resident pages completely inside of free blocks")
    ]
    top_bytes: Count
    top_resident_bytes: Annotated[Count, Field(description="Resident whole pages of the top")]
    released_bytes: Annotated[Count, Field(description="What malloc_trim(0) would release")]
    lost_bytes: Annotated[Count, Field(description="Where no block was recognised")]
    repeats: Annotated[Count, Field(description="Walks that met a change, and began again")]


class Parameters(WrittenModel):
    """Settings of glibc's malloc in force."""

    trim_threshold: Count
    mmap_threshold: Count
    arena_max: Annotated[Count, Field(description="0: the default")]
    is_threshold_fixed: Annotated[bool, Field(description="The thresholds do not rise")]
    top_pad: Count
    tcache_count: Count
    mmaps: Annotated[Count, Field(description="Blocks with mappings of their own")]
    mmapped_bytes: Count


class Glibc(WrittenModel):
    """The heap of glibc's malloc."""

    path: Annotated[str, Field(description="The file with malloc's state")]
    is_whole: Annotated[bool, Field(description="All arenas were found")]
    parameters: Parameters | None
    arenas: tuple[Arena, ...]
    mapped: Annotated[Blocks, Field(description="Blocks with mappings of their own")]
    mapped_resident_bytes: Count
    thread_caches: Annotated[Count, Field(description="That hold a block")]


class Granary(WrittenModel):
    """The heap of granary."""

    superblocks: Count
    empty_superblocks: Count
    small: Annotated[Blocks, Field(description="Objects in superblocks; bytes of their slots")]
    large: Blocks
    free_slot_bytes: Annotated[Count, Field(description="In superblocks that hold objects")]
    resident_bytes: Annotated[
        Count, Field(description="Of superblocks that hold objects, and of large objects")
    ]


class Counters(WrittenModel):
    """What the walk of another allocator's heap counted."""

    version: Annotated[str, Field(description="Of the allocator")]
    live: Blocks
    free_bytes: Annotated[Count, Field(description="Of free blocks on pages with live ones")]
    resident_bytes: Annotated[Count, Field(description="Of the memory that the allocator has")]


class Foreign(WrittenModel):
    """Another allocator than glibc's and granary."""

    file: Annotated[str, Field(description="The mapped file that contains it")]
    most_resident_bytes: Annotated[
        Count, Field(description="At most: memory of the program's own calls of mmap is included")
    ]
    lazy_free_bytes: Annotated[
        Count, Field(description="Of these, freed memory that the system may take (MADV_FREE)")
    ]
    counters: Annotated[
        Counters | None, Field(description="null: its heap could not be walked")
    ] = None
    unread: Annotated[str, Field(description="Why it was not walked; empty: it was")] = ""


class Stacks(WrittenModel):
    """Stacks of threads, but the first thread's."""

    threads: Count
    ended: Annotated[Count, Field(description="Of threads that have ended")]
    ended_resident_bytes: Count


class LargeMapping(WrittenModel):
    """One of the mappings with most resident memory."""

    address: Count
    path: str
    bytes: Count
    resident_bytes: Count


class LostGroup(WrittenModel):
    """Blocks of one size to which no pointer leads."""

    block_bytes: Count
    blocks: Count
    bytes: Count
    example: Annotated[Count, Field(description="Address of one of them")]
    first_word: Annotated[
        Count, Field(description="Their common first word if it leads into a file; else 0")
    ]
    object: Annotated[str, Field(description="That file")]


class Leaks(WrittenModel):
    """The search for live blocks to which no pointer leads."""

    is_complete: Annotated[bool, Field(description="False: too many blocks, nothing searched")]
    searched_blocks: Count
    searched_bytes: Count
    blocks: Count
    bytes: Count
    groups: tuple[LostGroup, ...]


class Verdict(WrittenModel):
    """The answer."""

    kind: Kind
    sentence: str
    remedy: Annotated[str, Field(description="What to do; empty: nothing")]


class Look(WrittenModel):
    """Everything that one look found."""

    format: Literal["heapwright look"] = FORMAT
    schema_version: Literal[1] = SCHEMA_VERSION
    heapwright_version: str
    pid: int | None
    core: Annotated[str, Field(description="The file; empty for a process")]
    name: Annotated[str, Field(description="Of the program; empty: unknown")]
    taken: Annotated[str, Field(description="UTC, ISO 8601")]
    access: Access
    threads: int | None
    resident_bytes: Count
    swapped_bytes: Count
    allocator: Annotated[str, Field(description="That serves malloc; empty: unknown")]
    categories: tuple[Category, ...]
    glibc: Glibc | None
    granary: Granary | None
    foreign: Annotated[
        Foreign | None, Field(description="null: glibc or granary serves malloc, or it is unknown")
    ] = None
    stacks: Stacks | None
    largest: tuple[LargeMapping, ...]
    leaks: Annotated[Leaks | None, Field(description="null: not searched")]
    released_bytes: Annotated[int | None, Field(description="What malloc_trim(0) would release")]
    missing_bytes: Annotated[Count, Field(description="That a truncated core lacks")]
    pause_ms: Annotated[float | None, Field(description="null: the process was not stopped")]
    copied_bytes: Annotated[Count, Field(description="During the pause")]
    verdict: Verdict
    notes: tuple[str, ...]

    def to_json(self) -> str:
        """The document as text."""
        return self.model_dump_json(indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read what `to_json` wrote; raises pydantic.ValidationError on anything else."""
        return cls.model_validate_json(text)


def schema_text() -> str:
    """The JSON Schema of the document."""
    return schema_text_of(Look, "look")
