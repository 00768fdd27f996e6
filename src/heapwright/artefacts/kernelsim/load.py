# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A load of kernel-like traffic: what a load file says, checked. docs/reference/kernel-models.md
explains it.

A load has caches of objects, and activities that take objects and pages for as long as each lives.
It says nothing of processors or seeds: these are chosen when it is run.
`artefacts.kernelsim.load_file` is the only door through which a load comes to be. Invariants of
what has come through that door: immutable; every cache that an activity names is there; something
has a weight.

Versions:
    1  the first
"""

from typing import Annotated, Literal, Self

from pydantic import Field, StrictBool, StrictInt, StrictStr, model_validator

from heapwright.artefacts.models import InputModel
from heapwright.base.json_schema import schema_text_of

FORMAT: Literal[1] = 1
MOST_OPERATIONS = 1 << 28
MOST_OBJECT = 4 << 20
LEAST_OBJECT = 8
MOST_ALIGNMENT = 4096
MOST_ORDER = 10
MOST_COUNT = 4096

Number = StrictInt | Annotated[float, Field(strict=True)]
Operations = Annotated[StrictInt, Field(ge=0, le=MOST_OPERATIONS)]
Size = Annotated[StrictInt, Field(ge=LEAST_OBJECT, le=MOST_OBJECT)]
Count = Annotated[StrictInt, Field(ge=0, le=MOST_COUNT)]
Share = Annotated[Number, Field(ge=0, le=1)]
Mobility = Literal["unmovable", "movable", "reclaimable"]


class CacheKind(InputModel):
    """A cache as a subsystem of the kernel has it made."""

    size: Annotated[Size, Field(description="Bytes of an object")]
    align: Annotated[
        StrictInt, Field(ge=1, le=MOST_ALIGNMENT, description="A power of two, in bytes")
    ] = 8
    constructor: Annotated[StrictBool, Field(description="Its objects are constructed")] = False
    reclaimable: Annotated[
        StrictBool, Field(description="What is in it can be dropped and made anew")
    ] = False

    @model_validator(mode="after")
    def _checked(self) -> Self:
        if self.align & (self.align - 1):
            raise ValueError("align must be a power of two")
        return self


class Lifetime(InputModel):
    """For how many operations something lives; one of the two."""

    mean: Annotated[
        StrictInt | None, Field(ge=1, le=MOST_OPERATIONS, description="Exponentially distributed")
    ] = None
    between: Annotated[
        tuple[Operations, Operations] | None, Field(description="Evenly distributed")
    ] = None


Life = Literal["dropped", "end"] | Lifetime


class Part(InputModel):
    """Something that an activity takes: an object of a cache, or of any size, or pages."""

    cache: Annotated[StrictStr | None, Field(description="An object of this cache")] = None
    bytes_: Annotated[
        Size | tuple[Size, Size] | None,
        Field(alias="bytes", description="Size of the object in bytes, or a range of sizes"),
    ] = None
    pages: Annotated[
        StrictInt | None, Field(ge=0, le=MOST_ORDER, description="A block of pages of this order")
    ] = None
    mobility: Annotated[Mobility, Field(description="Of pages")] = "unmovable"
    count: Annotated[Count | tuple[Count, Count], Field(description="How many, or between two")] = 1
    life: Annotated[
        Life | None, Field(description="If it is not that of the activity: what outlives it")
    ] = None

    @model_validator(mode="after")
    def _checked(self) -> Self:
        named = [each for each in (self.cache, self.bytes_, self.pages) if each is not None]
        if len(named) != 1:
            raise ValueError("a part is one of cache, bytes and pages")
        for name, pair in (("bytes", self.bytes_), ("count", self.count)):
            if isinstance(pair, tuple) and pair[0] > pair[1]:
                raise ValueError(f"the first number of {name} is the smaller one")
        if self.pages is None and "mobility" in self.model_fields_set:
            raise ValueError("mobility is for pages; a cache is reclaimable or not")
        return self


class Activity(InputModel):
    """What a kernel does: it takes its parts at once, and frees them when their time has come."""

    name: StrictStr
    weight: Annotated[Number, Field(ge=0, le=1e9, description="How often, beside the others")]
    life: Annotated[Life, Field(description="dropped: until memory is needed; end: always")]
    elsewhere: Annotated[
        Share, Field(description="The share that is freed on another processor")
    ] = 0
    parts: Annotated[tuple[Part, ...], Field(min_length=1, max_length=64)]


class Fill(InputModel):
    """What the memory is filled with before it begins: movable pages, with holes between them."""

    share: Annotated[Share, Field(description="Of the memory")]
    holes: Annotated[Share, Field(description="Of these pages, that are free again")] = 0


class Reclaim(InputModel):
    """What is dropped from time to time, and all caches are shrunk."""

    every: Annotated[StrictInt, Field(ge=1, le=MOST_OPERATIONS, description="Operations")]
    pages: Annotated[StrictInt, Field(ge=0, le=2**32 - 1, description="How many it wants")] = 0


class KernelLoad(InputModel):
    """The whole file."""

    format: Literal[1]
    name: Annotated[StrictStr, Field(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=64)]
    title: StrictStr
    description: StrictStr = ""
    source: StrictStr = ""
    memory: Annotated[StrictInt, Field(ge=16, le=65536, description="MiB of the machine")] = 128
    operations: Annotated[
        StrictInt, Field(ge=1, le=MOST_OPERATIONS, description="Each begins an activity")
    ]
    nanoseconds: Annotated[
        Number, Field(ge=0, le=1e12, description="From one to the next, on average")
    ] = 10_000
    cache: Annotated[dict[StrictStr, CacheKind], Field(max_length=1024)] = {}
    fill: Fill | None = None
    reclaim: Reclaim | None = None
    activity: Annotated[tuple[Activity, ...], Field(min_length=1, max_length=256)]


def schema_text() -> str:
    """The JSON Schema of the file (`heapwright.artefacts.schemas`)."""
    return schema_text_of(KernelLoad, "kernel load", "validation")
