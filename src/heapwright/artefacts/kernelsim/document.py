# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What came of traffic on models of the kernel allocators: what `kernel models --json` writes.

docs/reference/kernel-models.md explains every figure, and its JSON Schema is `schema_text()`.
Invariants: Immutable. Reading back what was written gives an equal object. An unknown figure is
null, never zero. Runs are sorted by number of processors, then by model.

Versions:
    1  the first
"""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from heapwright.artefacts.models import WrittenModel
from heapwright.base.json_schema import schema_text_of

SCHEMA_VERSION: Literal[1] = 1
FORMAT: Literal["heapwright kernel models"] = "heapwright kernel models"
MODELS = ("slab", "slob", "slub", "slqb")
MOST_PROCESSORS = 8

ModelName = Literal["slab", "slob", "slub", "slqb"]
Count = Annotated[int, Field(ge=0)]
ByOrder = Annotated[tuple[float, ...], Field(min_length=11, max_length=11)]
Row = Annotated[tuple[Count, ...], Field(min_length=11, max_length=11)]


class KernelTraffic(WrittenModel):
    """The requests to the models."""

    kernel: Annotated[str, Field(description="Where a trace was recorded; empty of a load")]
    processors: Annotated[int, Field(ge=1, le=MOST_PROCESSORS)]
    memory_pages: Count
    events: Count
    prelude: Annotated[Count, Field(description="Of which make what was there before")]
    lasts: Annotated[float, Field(ge=0, description="Seconds of the machine")]


class SlabPages(WrittenModel):
    """Pages that the object allocator has."""

    mean: Annotated[Count, Field(description="Of all samples")]
    peak: Count
    end: Count
    kept: Annotated[Count, Field(description="When everything has been freed at last")]
    of_caches: Annotated[
        Count, Field(description="That the caches themselves take; in none of the others")
    ]
    filled: Annotated[
        float | None,
        Field(ge=0, description="Requested bytes over slab memory, the mean of all samples"),
    ] = None


class Fragmentation(WrittenModel):
    """Requests for pages that were served by pages of another mobility."""

    events: Count
    claimed: Annotated[Count, Field(description="Groups of 512 pages that changed hands by it")]
    by_order: Annotated[
        tuple[Row, ...],
        Field(
            min_length=11,
            max_length=11,
            description="Requested order, then the order that served it",
        ),
    ]
    unusable: Annotated[
        ByOrder, Field(description="By order: the share of free memory in blocks that are smaller")
    ]
    index: Annotated[
        ByOrder,
        Field(
            description="By order: why a request fails: 0 want of memory, 1 fragmentation; "
            "-1: it would not"
        ),
    ]
    mean_unusable: Annotated[
        ByOrder | None, Field(description="As `unusable`, the mean of all samples")
    ] = None


class ModelCounts(WrittenModel):
    """What the simulated processors did in the calls of the allocator."""

    instructions: Annotated[tuple[Count, ...], Field(description="Virtual, by processor")]
    transfers: Annotated[
        tuple[Count, ...],
        Field(description="Cache lines that came from another processor, by processor"),
    ]
    instructions_in_all: Count
    transfers_in_all: Count
    user_transfers: Annotated[
        Count, Field(description="First lines of objects that moved for the objects' users")
    ]
    invalidations: Annotated[Count, Field(description="Writes to lines that others had, too")]
    own_lock_takes: Annotated[
        Count, Field(description="Of a processor's own lock, which is none in a kernel")
    ]
    lock_takes: Annotated[Count, Field(description="Of all other locks")]
    hand_overs: Annotated[Count, Field(description="Of which after another processor")]
    under_one_lock: Annotated[Count, Field(description="The most instructions under one lock")]
    path: Annotated[
        Count,
        Field(description="Instructions of the busiest processor, or under the busiest lock"),
    ]
    time: Annotated[Count, Field(description="The same, a transfer as 50 instructions")]


class CacheLine(WrittenModel):
    """A line of the table of caches."""

    name: str
    size: Count
    stride: Count
    live: Count
    objects: Count
    slabs: Count
    pages: Count
    remote_frees: Count


class Recorded(WrittenModel):
    """What the kernel of the trace had at that time."""

    slab_pages: Count
    fragmentation_events: Count


class KernelSample(WrittenModel):
    """A moment of a run."""

    at: Annotated[float, Field(ge=0, description="Seconds of the machine")]
    slab_pages: Count
    other_pages: Count
    free_pages: Count
    live_bytes: Annotated[Count, Field(description="Requested bytes of objects")]
    fragmentation_events: Count
    unusable: Annotated[
        int, Field(description="Thousandths of the free memory in blocks of less than 512 pages")
    ]
    recorded: Recorded | None


class ModelRun(WrittenModel):
    """One model."""

    model: ModelName
    seconds: Annotated[float, Field(ge=0, description="Processor time, the least of all rounds")]
    rounds: tuple[float, ...]
    takes: Annotated[Count, Field(description="Objects that were given out")]
    gives: Count
    remote_frees: Annotated[
        Count, Field(description="Objects freed on another processor than they were taken on")
    ]
    block_takes: Annotated[Count, Field(description="Blocks of pages that others took")]
    refused: Annotated[Count, Field(description="Requests for which there was no memory")]
    dropped: Annotated[Count, Field(description="What was freed because memory was needed")]
    slab_pages: SlabPages
    slabs_taken: Annotated[Count, Field(description="Requests for pages by the model")]
    slabs_given: Count
    fragmentation: Fragmentation
    counts: Annotated[ModelCounts | None, Field(description="null: not counted")] = None
    caches: tuple[CacheLine, ...]
    samples: tuple[KernelSample, ...]


class ModelsAnswer(WrittenModel):
    """What heapwright-kernelsim prints."""

    traffic: KernelTraffic
    models: tuple[ModelRun, ...]


class KernelModels(WrittenModel):
    """The whole document."""

    format: Literal["heapwright kernel models"] = FORMAT
    schema_version: Literal[1] = SCHEMA_VERSION
    heapwright_version: str = ""
    load: Annotated[str, Field(description="Name or path of the load; empty of a trace")] = ""
    load_sha256: str = ""
    trace: Annotated[str, Field(description="Path of the kernel trace; empty of a load")] = ""
    trace_sha256: str = ""
    seed: Annotated[int | None, Field(description="null: a trace has none")] = None
    notes: tuple[str, ...] = ()
    runs: Annotated[
        tuple[ModelsAnswer, ...], Field(description="One for each number of processors")
    ]

    def to_json(self) -> str:
        """The document as it is written to a file: one line, which a study can read from."""
        return self.model_dump_json() + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> "KernelModels":
        """Read what `to_json` wrote; raises pydantic.ValidationError on anything else."""
        return cls.model_validate_json(text)


@dataclass(frozen=True, slots=True)
class ModelError:
    """A model beside its kernel, over the marks of a trace. Pages are of 4 KiB."""

    model: str
    marks: int
    kernel_pages: float
    """The kernel's slab memory, the mean of the marks."""
    model_pages: float
    mean_error: float
    """The model's mean over the kernel's, less one."""
    worst_error: float
    """Of the error at one mark, the one that is furthest from none."""
    growth_error: float | None
    """Of the pages that came since the first mark, summed over the marks; None: none came."""
    kernel_events: int
    """Fragmentation events up to the last mark."""
    model_events: int


def schema_text() -> str:
    """The JSON Schema of the document (`heapwright.artefacts.schemas`)."""
    return schema_text_of(KernelModels, "kernel models")
