# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The profile: what a recorded program asked of malloc, as `heapwright profile` found it.

This is the document that `--json` writes; docs/reference/profile.md explains every figure and its
definition, and its JSON Schema is `schema_text()`. The program `heapwright-profile` prints all of
it in one pass over the trace. Python checks it, names it and adds its own knowledge (names of
sites, the spread over repetitions).

Invariants: immutable; reading back what was written gives an equal object; a figure that could not
be had is null, never zero. Times are seconds since the trace began, memory is bytes *as requested*
unless a field says `usable`, shares are fractions of one. An operation is one recorded call.
`schema_version` goes up when a reader of the old form would be misled.

Versions:
    1  the first
"""

from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from heapwright.artefacts.models import WrittenModel
from heapwright.artefacts.profile.calls import Calls
from heapwright.artefacts.profile.library_frames import own_frames, own_place
from heapwright.artefacts.profile.moments import Held, Mark, Moment, Pins
from heapwright.artefacts.profile.series import (
    HeapMap,
    LifetimesOfSizes,
    Phase,
    Point,
    SizeOverTime,
    System,
)
from heapwright.artefacts.run.coverage import Coverage
from heapwright.base.json_schema import schema_text_of

SCHEMA_VERSION: Literal[1] = 1
FORMAT: Literal["heapwright profile"] = "heapwright profile"

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class _Frozen(WrittenModel):
    model_config = ConfigDict(populate_by_name=True)


class Fault(_Frozen):
    """A piece of the trace that could not be read, and was left out."""

    offset: Annotated[Count, Field(description="Where in the file, in bytes")]
    what: str


class Process(_Frozen):
    """One program image: fork and exec begin new ones."""

    process: Annotated[Count, Field(description="Its number in the trace, from 0")]
    pid: int
    parent: Annotated[int | None, Field(description="Number of the process it came from")]
    cause: Literal["start", "fork", "exec"]
    command: tuple[str, ...]
    events: Count
    started_s: float
    ended_s: Annotated[float, Field(description="Its last recorded call")]


class Provenance(_Frozen):
    """What the figures are about, and what is missing from them."""

    trace: Annotated[str, Field(description="The file; empty if it was not kept")] = ""
    command: tuple[str, ...] = ()
    began: Annotated[str, Field(description="When the recording began, UTC, ISO 8601")] = ""
    duration_s: Annotated[float, Field(description="From the first recorded call to the last")]
    events: Annotated[Count, Field(description="Recorded calls: the operations")]
    lost: Annotated[
        Count, Field(description="Calls that the recorder had to let pass unrecorded")
    ] = 0
    sampled: Annotated[
        Count, Field(description="1: every block was recorded; N: one block in N, chosen by chance")
    ] = 1
    stacks: bool = False
    closed: Annotated[
        bool, Field(description="The recording ended in order; not so if it goes on, or was killed")
    ] = True
    stopped: Annotated[
        Literal["none", "disk-full", "limit", "failed"],
        Field(description="Why the recording stopped before its end"),
    ] = "none"
    processes: tuple[Process, ...] = ()
    selected: Annotated[
        Count | None, Field(description="The one process that this is about; null: all")
    ] = None
    faults: tuple[Fault, ...] = ()
    faults_omitted: Annotated[Count, Field(description="Further faults, not listed")] = 0


class Totals(_Frozen):
    """How much, how often.

    An allocation is a call that returned a block. It is malloc, calloc, one of the aligned forms,
    operator new, or realloc of null. A realloc that grew or moved its block counts once, with its
    new size. A realloc that left its block where it was and no larger is none.
    """

    allocations: Count
    bytes: Count
    mean_bytes: float
    frees: Annotated[Count, Field(description="Calls of free and operator delete, null included")]
    null_frees: Annotated[Count, Field(description="Of these, of null")]
    null_free_share: Share
    freed_by_realloc: Annotated[
        Count, Field(description="Blocks ended by realloc to size 0; not in `frees`")
    ] = 0
    never_freed: Annotated[Count, Field(description="Blocks live at the end of their process")]
    never_freed_bytes: Count
    failed: Annotated[Count, Field(description="Requests that were answered with null")] = 0
    unknown_frees: Annotated[
        Count, Field(description="Frees and reallocs of an address that was not live")
    ] = 0
    inherited_frees: Annotated[
        Count, Field(description="The same in a forked process, where its parent may have made it")
    ] = 0
    overwritten: Annotated[
        Count, Field(description="Blocks whose address was handed out again, their free not seen")
    ] = 0
    temporary: Annotated[
        Count,
        Field(
            description="Blocks that their thread ended before it allocated again; 0 in older "
            "documents too"
        ),
    ] = 0
    freed_bytes: Annotated[Count, Field(description="Bytes of the blocks that ended")] = 0
    growth_bytes: Annotated[
        Count,
        Field(description="Bytes as the C library's memusage counts them: of a realloc the growth"),
    ] = 0


class SizeCount(_Frozen):
    """One size, and how often it was requested."""

    size: Count
    count: Count
    share: Annotated[Share, Field(description="Of all allocations")]
    bytes: Count


class SizeBucket(_Frozen):
    """Allocations of more than `low` and at most `high` bytes; those of 0 bytes have high 0."""

    low: Count
    high: Count
    count: Count
    bytes: Count


class Sizes(_Frozen):
    distinct: Count
    top10_share: Annotated[Share, Field(description="Of the allocations: the ten commonest sizes")]
    top: Annotated[
        tuple[SizeCount, ...], Field(description="The commonest sizes, 256 at most; first the most")
    ]
    cumulative: Annotated[
        tuple[tuple[Count, Share], ...],
        Field(description="(size, share of the allocations that are no larger); 1,000 at most"),
    ]
    histogram: Annotated[tuple[SizeBucket, ...], Field(description="By powers of two")]
    over_time: Annotated[
        tuple[SizeOverTime, ...],
        Field(description="The five commonest sizes, a figure for each point of `timeline`"),
    ] = ()


class RoutineShare(_Frozen):
    count: Annotated[Count, Field(description="Allocations by it")]
    share: Share
    bytes: Count


class RoutineDetail(_Frozen):
    """Every call of one entry point."""

    calls: Count
    bytes: Annotated[Count, Field(description="Requested by the calls that gave a block")]
    failed: Count = 0


class Reallocs(_Frozen):
    """What the calls of realloc and reallocarray did; together they are all of them."""

    of_null: Annotated[Count, Field(description="Made a first block")] = 0
    grown_in_place: Count = 0
    moved: Annotated[
        Count, Field(description="The block has a new address; its size may be unchanged")
    ] = 0
    shrunk_in_place: Annotated[Count, Field(description="Or kept its size; no allocation")] = 0
    freed: Annotated[Count, Field(description="To size 0, answered with null")] = 0
    failed: Count = 0


class Routines(_Frozen):
    """Operator new counts as malloc; its aligned forms as aligned."""

    malloc: RoutineShare
    calloc: RoutineShare
    realloc: RoutineShare
    aligned: RoutineShare
    detail: Annotated[
        dict[str, RoutineDetail], Field(description="By entry point, those that were called")
    ] = {}
    reallocs: Reallocs = Reallocs()


class RetentionBucket(_Frozen):
    """Blocks retained for more than `low_s` and at most `high_s` seconds."""

    low_s: float
    high_s: float
    count: Count
    bytes: Count


class Retention(_Frozen):
    """From the allocation's return to the free's entry; what is never freed counts as long."""

    short: Annotated[Share, Field(description="Of the allocations: at most 100 ms")]
    medium: Annotated[Share, Field(description="More than 100 ms, at most 1 s")]
    long: Annotated[Share, Field(description="More than 1 s, or never freed")]
    short_count: Count
    medium_count: Count
    long_count: Count
    never_freed_share: Annotated[Share, Field(description="Part of `long`")]
    distribution: Annotated[
        tuple[RetentionBucket, ...],
        Field(description="Steps of 1, 2, 5; what was never freed is in none"),
    ]


class Pattern(_Frozen):
    """How long-lived allocations (retained for more than 1 s, or for ever) come about."""

    kind: Annotated[
        Literal["peak", "growing"] | None,
        Field(alias="class", description="null: there are none"),
    ]
    rule: Annotated[str, Field(description="The rule that decided, with its figures")]
    densest_third: Annotated[
        Share | None,
        Field(description="Most of the long-lived that any third of the operations made"),
    ] = None
    last_quarter: Annotated[
        Share | None, Field(description="Of the long-lived: made in the last quarter")
    ] = None
    long_lived: Annotated[
        tuple[tuple[Count, Count], ...],
        Field(description="(operation, long-lived allocations made up to it), evenly spaced"),
    ]
    step: Annotated[
        Count, Field(description="Operations from one to the next: 1,000, or doubled for long runs")
    ] = 1000


class Peak(_Frozen):
    """The moment at which most requested bytes were live: the ideal heap."""

    time_s: float
    operation: Count
    live_bytes: Count
    live_objects: Count
    usable_bytes: Annotated[
        int | None, Field(description="What the allocator had rounded them up to")
    ] = None


class Thread(_Frozen):
    thread: Annotated[Count, Field(description="Its number in the trace, from 0")]
    process: Count
    allocations: Count
    bytes: Count
    frees: Annotated[Count, Field(description="Of null not included")]
    freed_elsewhere: Annotated[
        Count, Field(description="Blocks of this thread that another one ended")
    ]
    freed_of_others: Annotated[
        Count, Field(description="Blocks of other threads that this one ended")
    ]
    started_s: float
    ended_s: float


class CrossThreadFrees(_Frozen):
    """Blocks ended (freed or reallocated) by another thread than the one that allocated them."""

    count: Count
    share: Annotated[Share, Field(description="Of all blocks that ended")]
    by_realloc: Annotated[Count, Field(description="Part of `count`")] = 0
    pairs: Annotated[
        tuple[tuple[Count, Count, Count], ...],
        Field(description="(allocating thread, ending thread, blocks), most first; 10,000 at most"),
    ] = ()
    omitted: Annotated[Count, Field(description="Blocks of the pairs that are not listed")] = 0


class Site(_Frozen):
    """One place in the program, with the calls that led there; only of traces with stacks."""

    process: Count
    stack: Annotated[Count, Field(description="Its number in the process's table of stacks")]
    frames: Annotated[
        tuple[str, ...], Field(description="The calls by name, innermost first; empty: not named")
    ] = ()
    own: Annotated[
        tuple[Count, ...] | None,
        Field(description="Which of `frames` are not of a standard library; null: not known"),
    ] = None
    call: Annotated[Count, Field(description="Its place in `calls.nodes`; 0: not known")] = 0
    allocations: Count
    bytes: Count
    short: Annotated[Count, Field(description="Of these, retained for at most 100 ms")]
    temporary: Annotated[
        Count, Field(description="Of these, ended by their thread before it allocated again")
    ] = 0
    never_freed: Count
    never_freed_bytes: Count
    at_peak: Annotated[
        Count, Field(description="Live blocks at the peak of live bytes; 0 in older documents too")
    ] = 0
    at_peak_bytes: Annotated[Count, Field(description="Bytes of these blocks")] = 0
    live_over_time: Annotated[
        tuple[Count, ...],
        Field(description="Live bytes at each of `site_times_s`; empty: 0 at all, or not known"),
    ] = ()
    at_moments: Annotated[
        tuple[Held, ...], Field(description="At each of `moments`; empty: nothing at all")
    ] = ()
    pins: Annotated[
        tuple[Pins, ...],
        Field(description="At each of `moments`; empty: no pages at all, or not counted"),
    ] = ()

    def held_at(self, moment: int) -> Held:
        """The live memory at the moment of this place in `moments`."""
        return self.at_moments[moment] if self.at_moments else Held(0, 0)

    def pins_at(self, moment: int) -> Pins:
        return self.pins[moment] if self.pins else Pins(0, 0, 0)

    @property
    def own_calls(self) -> tuple[str, ...]:
        """The calls of the program itself, innermost first."""
        if self.own is None:
            return own_frames(self.frames)
        return tuple(self.frames[at] for at in self.own if at < len(self.frames))

    @property
    def place(self) -> str:
        """The innermost of these; the innermost of all where there is none."""
        return next(iter(self.own_calls), "") or own_place(self.frames)


class Spread(_Frozen):
    """One figure over the repetitions of a characterisation."""

    figure: Annotated[str, Field(description="Its path in this document, as totals.allocations")]
    mean: float
    sd: Annotated[float, Field(description="Sample standard deviation")]
    least: float
    most: float


class Profile(_Frozen):
    """The whole document."""

    format: Literal["heapwright profile"] = FORMAT
    schema_version: Literal[1] = SCHEMA_VERSION
    heapwright_version: str = ""
    provenance: Provenance
    totals: Totals
    sizes: Sizes
    routines: Routines
    retention: Retention
    pattern: Pattern
    peak_live_bytes: Count
    peak_live_objects: Annotated[
        Count,
        Field(description="Peak number of live objects; not necessarily at the peak of bytes"),
    ]
    peak: Peak
    timeline: Annotated[
        tuple[Point, ...],
        Field(description="Even steps of time, and the very moment of the peak; 1,000 at most"),
    ]
    threads: tuple[Thread, ...]
    cross_thread_frees: CrossThreadFrees
    heap_map: HeapMap | None = None
    lifetimes_by_size: tuple[LifetimesOfSizes, ...] = ()
    phases: Annotated[
        tuple[Phase, ...], Field(description="Even steps of operations, 200 at most")
    ] = ()
    system: Annotated[
        System | None, Field(description="null: the system's view was not recorded")
    ] = None
    marks: Annotated[
        tuple[Mark, ...], Field(description="By time, 1,000 at most; `moments` may name them")
    ] = ()
    moments: Annotated[tuple[Moment, ...], Field(description="The requested moments")] = ()
    between: Annotated[
        tuple[tuple[Count, Count], ...],
        Field(description="Pairs of `moments`, by their places, whose difference is requested"),
    ] = ()
    sites: Annotated[
        tuple[Site, ...],
        Field(description="Most bytes first; the 1,000 largest, and the 1,000 that held most"),
    ] = ()
    site_times_s: Annotated[
        tuple[float, ...],
        Field(description="Even steps of time, 241 at most, for the live bytes of the sites"),
    ] = ()
    calls: Annotated[Calls | None, Field(description="null: without stacks")] = None
    coverage: Annotated[
        Coverage | None,
        Field(description="Which processes of the command were recorded; null: not known"),
    ] = None
    repetitions: Annotated[int, Field(ge=1)] = 1
    spread: Annotated[
        tuple[Spread, ...],
        Field(description="Over the repetitions; all other fields are those of the first run"),
    ] = ()

    @property
    def holders(self) -> list[Site]:
        """The sites with live memory at the peak, the largest first."""
        found = [site for site in self.sites if site.at_peak_bytes]
        return sorted(found, key=lambda each: (-each.at_peak_bytes, each.process, each.stack))

    def holders_at(self, moment: int) -> list[Site]:
        """The sites with live memory at a moment of `moments`, the largest first."""
        found = [site for site in self.sites if site.held_at(moment).objects]
        return sorted(
            found, key=lambda each: (-each.held_at(moment).bytes, each.process, each.stack)
        )

    def pinning_at(self, moment: int) -> list[Site]:
        """The sites that pin pages at a moment of `moments`, those with most pages first."""
        found = [site for site in self.sites if site.pins_at(moment).pinned]
        return sorted(
            found, key=lambda each: (-each.pins_at(moment).pinned, each.process, each.stack)
        )

    def changed_between(self, before: int, after: int) -> list[tuple[Site, Held]]:
        """The sites whose live memory differs, by bytes, the largest change first."""
        found = []
        for site in self.sites:
            was, now = site.held_at(before), site.held_at(after)
            change = Held(now.objects - was.objects, now.bytes - was.bytes)
            if any(change):
                found.append((site, change))
        return sorted(found, key=lambda each: (-abs(each[1].bytes), each[0].process, each[0].stack))

    @property
    def temporary_sites(self) -> list[Site]:
        """The sites of temporary allocations, most first."""
        found = [site for site in self.sites if site.temporary]
        return sorted(found, key=lambda each: (-each.temporary, each.process, each.stack))

    def to_json(self) -> str:
        """The document as it is written to a file."""
        return self.model_dump_json(indent=1, by_alias=True) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> "Profile":
        """Read what `to_json` wrote; raises pydantic.ValidationError on anything else."""
        return cls.model_validate_json(text)


def schema_text() -> str:
    """The JSON Schema of the document (`heapwright.artefacts.schemas`)."""
    return schema_text_of(Profile, "profile")
