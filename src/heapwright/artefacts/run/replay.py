# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The artefacts of a replay: what is replayed, and what one run of it came to.

`heapwright-replay` prints one JSON line for a plan and one for a run; docs/reference/replay.md
explains the fields. Times are seconds or nanoseconds as their names say, memory is bytes. A figure
that could not be had is None or absent, never zero.
"""

from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from heapwright.artefacts.trace.processes import RecordedProcess

Count = Annotated[int, Field(ge=0)]
Touch = Literal["none", "first-byte", "all", "as-recorded-size"]
"""What a replay writes into each new object."""
TOUCH: Final[Touch] = "as-recorded-size"
"""The default: programs write into the memory that they ask for."""

Order = Literal["hand-over", "bounded", "recorded"]
"""How far a thread of a replay may be ahead of the recorded order of all calls."""
ORDER: Final[Order] = "bounded"
"""The default: a thread that runs ahead without a bound gives a heap that no program had."""


Gaps = Literal["none", "recorded"]
"""What a replay does between the calls of a thread: nothing, or the recorded time as work."""
GAPS: Final[Gaps] = "none"
LEAST_VISITS: Final = 0.001
MOST_VISITS: Final = 1000.0
"""Of objects, in a microsecond of such work. There may also be none."""


def visits_per_ms(visits: float) -> int:
    """The whole rate in a millisecond of work, for one in a microsecond."""
    return round(1000 * visits)


def shows_memory(touch: Touch) -> bool:
    """Whether the resident memory of such a replay stands for that of the program.

    Memory that is never written is never resident, so its peak says nothing about an allocator.
    """
    return touch in ("all", "as-recorded-size")


class _Frozen(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="ignore", json_schema_serialization_defaults_required=True
    )


class Surroundings(_Frozen):
    """What a replay has besides the calls themselves."""

    gaps: Gaps = GAPS
    visits: Annotated[
        float, Field(ge=0, le=MOST_VISITS, description="Of objects, in a microsecond of work")
    ] = 0.0

    whole: Annotated[
        bool, Field(description="The time is that of the process, with its start and its end")
    ] = False

    def problem(self, touch: Touch) -> str:
        """Why a replay that writes that much into its objects cannot do this; empty if it can."""
        if not self.visits:
            return ""
        if self.visits < LEAST_VISITS:
            return f"the least rate of visits, but for 0, is {LEAST_VISITS:g}"
        if self.gaps == "none":
            return 'visits are made between calls, and gaps is "none"'
        if not shows_memory(touch):
            return f'visits touch the memory of objects, and touch is "{touch}"'
        return ""


class CallsBetween(_Frozen):
    """Nanoseconds that were taken off each gap, by the calls that it contains."""

    work: Annotated[Count, Field(description="No call, only the recorder")] = 0
    allocation: Count = 0
    free: Count = 0
    free_and_allocation: Count = 0


class PlannedWork(_Frozen):
    """What the plan does between calls. The same under every allocator."""

    recorded_s: Annotated[float, Field(description="Between the recorded calls of each thread")]
    work_s: Annotated[float, Field(description="Of this, replayed as work")]
    longest_ns: Annotated[Count, Field(description="That a gap was cut to; the rest was waiting")]
    calls_ns: CallsBetween = CallsBetween()
    iterations_per_ms: Annotated[Count, Field(description="Of the loop that is the work")]
    iterations: Count
    visits_per_ms: Annotated[Count, Field(description="Of objects, as used")] = 0
    visits: Count = 0
    visited_lines: Annotated[Count, Field(description="Cache lines of 64 bytes")] = 0


class Oddities(_Frozen):
    """What the trace has that cannot be replayed as it stands, or that is worth knowing."""

    failed: Annotated[Count, Field(description="Calls that had got no memory: left out")] = 0
    unknown_frees: Annotated[
        Count, Field(description="Of an address that was not live: left out")
    ] = 0
    unknown_reallocs: Annotated[
        Count, Field(description="Of an address that was not live: a new object instead")
    ] = 0
    overwritten: Annotated[
        Count, Field(description="Live objects whose address was handed out again: freed first")
    ] = 0
    null_frees: Annotated[Count, Field(description="Frees of null: replayed")] = 0
    never_freed: Annotated[Count, Field(description="Objects live at the end")] = 0
    never_freed_bytes: Count = 0


class ReplayPlan(_Frozen):
    """What was found in the trace when it was decoded."""

    threads: Count
    process: Annotated[Count, Field(description="Whose calls are replayed, by its number")]
    events: Annotated[Count, Field(description="Recorded calls")]
    hand_overs: Annotated[Count, Field(description="Objects that pass from thread to thread")]
    recorded_s: Annotated[float, Field(description="From the first recorded call to the last")]
    plan_bytes: Annotated[Count, Field(description="Of the decoded commands")]
    ideal_bytes: Annotated[
        Count, Field(description="Most requested bytes live at once, in recorded order")
    ]
    ideal_objects: Annotated[Count, Field(description="Most objects live at once")]
    ideal_operation: Annotated[
        Count, Field(description="The call after which most bytes were live")
    ] = 0
    ahead_bytes: Annotated[
        Count | None,
        Field(
            description="By which the live bytes may differ from the recorded ones; null: without "
            "a bound, or not at all"
        ),
    ] = None
    between: Annotated[
        PlannedWork | None, Field(description="null: nothing is done between calls")
    ] = None
    oddities: Oddities = Oddities()


class ReplaySubject(_Frozen):
    """What is replayed, and how."""

    trace: str
    touch: Touch = "none"
    pace: Literal["asap", "recorded"] = "asap"
    order: Order = "hand-over"
    surroundings: Surroundings = Surroundings()
    checked: bool = False
    processes: Annotated[
        tuple[RecordedProcess, ...],
        Field(description="Those of the trace that made calls; `plan.process` is replayed"),
    ] = ()
    plan: ReplayPlan


class RoutineTimes(_Frozen):
    """How long the calls of one routine took, without the replayer's own work."""

    calls: Count
    mean_ns: float
    p50_ns: float
    p90_ns: float
    p99_ns: float
    p99_9_ns: float
    p99_99_ns: float
    max_ns: float
    histogram: Annotated[
        tuple[tuple[float, int], ...],
        Field(description="(upper bound in ns, calls); sixteen steps to each doubling"),
    ] = ()


class ReplayFigures(_Frozen):
    """One run, besides what every run has."""

    calls: Annotated[Count, Field(description="Calls that were made")]
    failed_calls: Annotated[Count, Field(description="Of these, got no memory")] = 0
    calls_s: Annotated[
        float | None, Field(description="Time in the allocator, of all threads together")
    ] = None
    waits: Annotated[Count, Field(description="Times a thread waited for another's object")] = 0
    waiting_s: float = 0.0
    reading_s: Annotated[float, Field(description="Time to read commands; 0 unless streamed")] = 0.0
    streamed: bool = False
    own_bytes: Annotated[
        Count, Field(description="Memory of the replayer's own, taken off the peaks")
    ]
    peak_heap_bytes: Annotated[
        Count, Field(description="Most resident at once, without files and what is its own")
    ]
    ideal_bytes: Count
    violations: Annotated[dict[str, int], Field(description="What a check found wrong")] = {}
    routines: dict[str, RoutineTimes] = {}

    @property
    def a_over_u(self) -> float | None:
        """Peak memory obtained over peak memory requested."""
        return self.peak_heap_bytes / self.ideal_bytes if self.ideal_bytes else None


class ReplayLine(ReplayFigures):
    """The line that a run prints."""

    seconds: float
    user_s: float
    sys_s: float
    peak_bytes: Annotated[Count, Field(description="Most resident, without the replayer's own")]
    checked: bool = False
