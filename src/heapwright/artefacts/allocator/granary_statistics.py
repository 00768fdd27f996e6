# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The statistics of granary, as a line of JSON: at exit, on a signal, or at a call.

docs/reference/granary.md explains every figure, and its JSON Schema is `schema_text()`.
The library prints it (native/preload/granary/statistics.hpp); this is how it is read.

All figures of a document are of one moment, but for what threads do to their own caches meanwhile.
Bytes of objects are those that may be used. Cumulative counts, marked in their descriptions, count
from the start of the process. A forked child continues from the counts of its parent.

Invariants: immutable; a size class that was never used is not listed.
"""

from typing import Annotated, Literal, Self

from pydantic import Field

from heapwright.artefacts.models import FrozenModel
from heapwright.base.json_schema import schema_text_of

SCHEMA_VERSION: Literal[1] = 1
FORMAT: Literal["heapwright granary statistics"] = "heapwright granary statistics"

Count = Annotated[int, Field(ge=0)]
Ever = Annotated[int, Field(ge=0, description="Since the start of the process")]


class Objects(FrozenModel):
    """A number of objects and their bytes."""

    objects: Count
    bytes: Count


class SizeClass(FrozenModel):
    """The objects of one size class, in superblocks."""

    number: Annotated[Count, Field(alias="class")]
    size: Annotated[int, Field(gt=0, description="Bytes of each")]
    live: Annotated[Count, Field(description="Given out and not freed")]
    cached: Annotated[Count, Field(description="Freed, and kept by a thread or on the way home")]
    free: Annotated[Count, Field(description="Objects that still fit")]
    superblocks: Count
    held_bytes: Annotated[Count, Field(description="Of these superblocks")]
    returned_superblocks: Annotated[
        Ever, Field(description="Returned to the chunks since the start")
    ]


class Large(FrozenModel):
    """Objects that no size class serves."""

    objects: Count
    bytes: Count
    direct_objects: Annotated[Count, Field(description="Of these, with a mapping of their own")]
    direct_bytes: Count


class Cache(FrozenModel):
    """What threads keep of what they freed."""

    objects: Annotated[Count, Field(description="At home with the thread")]
    bytes: Count
    remote_objects: Annotated[Count, Field(description="On the way to other threads' heaps")]
    remote_bytes: Count
    refills: Annotated[Ever, Field(description="Batches taken from the heap, ever")]
    flushes: Annotated[Ever, Field(description="Batches given to the heap, ever")]


class ThreadCache(Cache):
    """What one thread keeps."""

    thread: Annotated[Count, Field(description="Threads are counted as they begin to allocate")]


class Caches(FrozenModel):
    threads: Annotated[Count, Field(description="That have a cache")]
    all: Cache
    each: Annotated[tuple[ThreadCache, ...], Field(description="The first 64 of them")]


class Chunks(FrozenModel):
    """What superblocks and large objects are cut from."""

    count: Count
    bytes: Count
    used_bytes: Count
    dirty_bytes: Annotated[Count, Field(description="Free, and not yet returned to the system")]
    clean_bytes: Annotated[Count, Field(description="Free, and nothing but addresses")]


class System(FrozenModel):
    """The requests to the system."""

    mapped_bytes: Annotated[Count, Field(description="Addresses, with memory behind them or not")]
    maps: Ever
    mapped_bytes_ever: Ever
    unmaps: Ever
    unmapped_bytes_ever: Ever
    purges: Annotated[Ever, Field(description="Times that memory went back, not addresses, ever")]
    purged_bytes_ever: Ever
    moves: Annotated[Ever, Field(description="Objects that moved by their pages, ever")]


class Lock(FrozenModel):
    takes: Ever
    waits: Annotated[Ever, Field(description="Of these, with another thread inside, ever")]


class Locks(FrozenModel):
    heaps: Annotated[Lock, Field(description="Of the threads' heaps, together")]
    shared: Annotated[Lock, Field(description="Of the heap that serves them all")]
    chunks: Lock


class GranaryStatistics(FrozenModel):
    """One look at granary."""

    format: Literal["heapwright granary statistics"]
    schema_version: Literal[1]
    allocator: Annotated[str, Field(description="Its name in the catalogue")]
    heapwright_version: str
    process: Annotated[int, Field(gt=0)]
    settings: Annotated[dict[str, str], Field(description="As they are set now")]
    live: Objects
    cached: Annotated[Objects, Field(description="Freed, and kept by threads or on the way home")]
    free: Annotated[Objects, Field(description="Room in superblocks")]
    superblock_bytes: Count
    heaps: Annotated[Count, Field(description="Of threads")]
    classes: tuple[SizeClass, ...]
    large: Large
    caches: Caches
    chunks: Chunks
    system: System
    locks: Locks

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read one line; raises pydantic.ValidationError on anything else."""
        return cls.model_validate_json(text)


def schema_text() -> str:
    """The JSON Schema of the document (`heapwright.artefacts.schemas`)."""
    return schema_text_of(GranaryStatistics, "granary-statistics")
