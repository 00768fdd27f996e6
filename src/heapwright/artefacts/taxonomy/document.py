# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The taxonomy: what `heapwright taxonomy` measured of each allocator, and what it makes of it.

This is the document that `--json` writes; docs/reference/taxonomy.md explains every field and
criterion, and its JSON Schema is `schema_text()`. It holds every raw run beside what was concluded.

Invariants: Immutable. Reading back what was written gives an equal object. An unavailable figure is
null, never zero. A judgement that the figures do not support is null too, and its `why` gives the
reason. `schema_version` goes up when a reader of the old form would be misled.

Versions:
    1  the first
"""

from typing import Annotated, Literal

from pydantic import Field

from heapwright.artefacts.models import WrittenModel
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import Environment, Kind
from heapwright.artefacts.run.workload import Aspect, WorkloadRun
from heapwright.base.json_schema import schema_text_of

SCHEMA_VERSION: Literal[1] = 1

Blowup = Literal["none", "linear", "unbounded"]
Tick = Literal["yes", "no", "maybe"]
Column = Literal["fast", "scalable", "avoids false sharing", "blowup"]


class Estimate(WrittenModel):
    """A figure with its interval; without one where there were too few runs."""

    value: float
    low: float | None = None
    high: float | None = None
    runs: Annotated[int, Field(ge=1, description="Independent runs behind it")] = 1


class Speed(WrittenModel):
    """On one thread, against the bump-pointer limit."""

    time: Annotated[
        Estimate | None, Field(description="Time per operation as a ratio to the limit's")
    ] = None
    instructions: Annotated[
        float | None, Field(description="Instructions per operation as a ratio to the limit's")
    ] = None
    nanoseconds_per_operation: Annotated[
        dict[str, float], Field(description="By workload; the program's own part included")
    ] = {}
    instructions_per_operation: Annotated[dict[str, float], Field(description="By workload")] = {}
    why: str = ""


class Counted(WrittenModel):
    """Counts of one workload at one number of threads, per thousand operations."""

    workload: str
    threads: int
    operations: int
    per_thousand: dict[str, float]


class Scaling(WrittenModel):
    """Speedup up to this machine's processors, counts beyond them."""

    threads: Annotated[int | None, Field(description="Most threads that were timed")] = None
    speedup: Annotated[
        Estimate | None,
        Field(description="Operations per second at this number of threads over those at one"),
    ] = None
    by_threads: Annotated[
        dict[int, Estimate], Field(description="The same for each number of threads timed")
    ] = {}
    counts: Annotated[tuple[Counted, ...], Field(description="By workload and threads")] = ()
    counted_by: Annotated[
        Literal["library", "instrumentation"] | None,
        Field(description="A counting build of the library, or valgrind; null: not counted"),
    ] = None
    traffic: Annotated[
        Estimate | None,
        Field(description="Hand-overs per thousand operations at the most threads"),
    ] = None
    why: str = ""


class Found(WrittenModel):
    """What the detector found in one workload."""

    workload: str
    threads: int
    operations: int
    active: int
    passive: int


class Sharing(WrittenModel):
    """False sharing that the allocator is to blame for; null: no run tells."""

    active: bool | None = None
    passive: bool | None = None


class SharingEvidence(WrittenModel):
    found: tuple[Found, ...] = ()
    active_per_thousand: Annotated[
        float | None, Field(description="Of the allocations of cache-thrash")
    ] = None
    passive_per_thousand: Annotated[
        float | None, Field(description="Of the allocations of cache-scratch")
    ] = None
    elsewhere: Annotated[
        str, Field(description="The other workload where most is shared; empty: none to speak of")
    ] = ""
    why: str = ""


class Curve(WrittenModel):
    """Points of a curve and the line through those that decide."""

    x: tuple[float, ...] = ()
    y: tuple[float, ...] = ()
    fitted: Annotated[
        tuple[tuple[float, float], ...], Field(description="Two ends of the fitted line")
    ] = ()


class Growth(WrittenModel):
    """Memory against time, and against the number of threads."""

    lost_per_byte: Annotated[
        Estimate | None,
        Field(description="Bytes of memory taken for each byte allocated, late in the run"),
    ] = None
    per_thread: Annotated[
        Estimate | None,
        Field(description="Memory that each further thread takes, in the program's own need"),
    ] = None
    saturates_at: Annotated[
        int | None, Field(description="Threads from which on memory grows no more")
    ] = None
    over_time: Curve = Curve()
    over_threads: Curve = Curve()
    why: str = ""


class Design(WrittenModel):
    """How an allocator is made (after Fischer 2018, table 2.1); empty where nothing tells."""

    source: Annotated[
        Literal["composition", "published"], Field(description="Its type, or the literature")
    ]
    local_memory: str
    splits_and_coalesces: bool
    metadata_in_block: bool
    classes_separated: Literal["physically", "logically", "not at all"]
    blowup_prevented_by: str


class Published(WrittenModel):
    """What the literature says of the algorithm that is followed; null: it says nothing."""

    source: Annotated[str, Field(description="Where")]
    algorithm: Annotated[str, Field(description="Its name there")]
    fast: Tick | None = None
    scalable: Tick | None = None
    avoids_false_sharing: Tick | None = None
    blowup: Blowup | None = None


class Disagreement(WrittenModel):
    """Where the measurement does not say what the table says."""

    column: Column
    published: str
    measured: str
    explanation: Annotated[str, Field(description="Empty: none is known")] = ""


class Failure(WrittenModel):
    """A run that did not end well, once for each way."""

    aspect: Aspect
    workload: str
    threads: int
    outcome: Outcome
    detail: str
    times: int = 1


class Row(WrittenModel):
    """One allocator."""

    allocator: str
    kind: Kind
    caption: str = ""
    fast: bool | None
    scalable: bool | None
    false_sharing: Sharing
    blowup: Blowup | None
    speed: Speed = Speed()
    scaling: Scaling = Scaling()
    sharing: SharingEvidence = SharingEvidence()
    growth: Growth = Growth()
    design: Design | None = None
    published: Published | None = None
    disagreements: tuple[Disagreement, ...] = ()
    failures: tuple[Failure, ...] = ()

    @property
    def avoids_false_sharing(self) -> bool | None:
        found = (self.false_sharing.active, self.false_sharing.passive)
        if True in found:
            return False
        return None if None in found else True


class Plan(WrittenModel):
    """What was to be run, and how far it came."""

    seed: int
    blocks: Annotated[int, Field(description="Requested repetitions")]
    threads: Annotated[tuple[int, ...], Field(description="Numbers of threads timed")]
    counted_threads: tuple[int, ...]
    small: bool
    budget_s: float | None = None
    planned: Annotated[int, Field(description="Runs")]
    done: int
    stopped_because: str


class Criteria(WrittenModel):
    """The limits that the judgements were made with."""

    fast: float
    efficiency: float
    traffic: float
    sharing: float
    unbounded: float
    linear: float


class Taxonomy(WrittenModel):
    """The whole document."""

    schema_version: Literal[1] = SCHEMA_VERSION
    heapwright_version: str
    environment: Annotated[Environment, Field(description="The machine and the system")]
    plan: Plan
    criteria: Criteria
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    runs: Annotated[tuple[WorkloadRun, ...], Field(description="Every run, in order")]

    def to_json(self) -> str:
        """The document as it is written to a file."""
        return self.model_dump_json(indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> "Taxonomy":
        """Read what `to_json` wrote; raises pydantic.ValidationError on anything else."""
        return cls.model_validate_json(text)


def schema_text() -> str:
    """The JSON Schema of the document (`heapwright.artefacts.schemas`)."""
    return schema_text_of(Taxonomy, "taxonomy")
