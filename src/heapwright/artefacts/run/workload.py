# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The artefact of one run of a workload program, made to see what an allocator does.

Every run is kept, also a failed one. A program reports about itself in one JSON line. The line is
read leniently, because each program adds its own parameters. A missing value is None or absent,
never zero. Times are seconds, memory is bytes.
"""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, JsonValue, field_validator

from heapwright.artefacts.run.measured import Outcome

LEAST_OF_PROCESSORS = 0.9
"""Share of the processor time that a run's threads can use."""
MOST_INTERRUPTIONS = 25
"""In a second of processor time. A quiet machine interrupts a thread a few times a second, a busy
one after each time slice of some milliseconds."""


class Aspect(StrEnum):
    """What a run was made to see."""

    SPEED = "speed"  # seconds per operation on one thread
    INSTRUCTIONS = "instructions"  # instructions per operation on one thread
    SPEEDUP = "speedup"  # operations per second, by threads
    EVENTS = "events"  # what a counting library counts, by threads
    SHARING = "sharing"  # what instrumentation counts, by threads
    LINES = "lines"  # lines that hold objects of two threads
    TIME = "time"  # memory against time: one thread allocates, another frees
    THREADS = "threads"  # memory against the number of threads: the work goes round
    PEAK = "peak"  # the most memory of a whole workload, by threads
    FIXED = "fixed"  # memory of a program that allocates one object in a thread, by threads


class FalseSharing(BaseModel):
    """What the detector of a workload found: allocations that shared a cache line, by cause."""

    model_config = ConfigDict(frozen=True, extra="allow")

    active: int
    passive: int
    lines: int | None = None


class WorkloadLine(BaseModel):
    """What a workload program prints; parameters of its own are kept as they are."""

    model_config = ConfigDict(frozen=True, extra="allow")

    workload: str
    threads: int
    seed: int
    operations: int
    seconds: float
    verified: bool | None = None
    peak_rss: int | None = None
    events: dict[str, JsonValue] | None = None
    false_sharing: FalseSharing | None = None
    memory: list[tuple[float, float, float]] | None = None
    """(operations so far, bytes live as requested, bytes resident)."""

    @field_validator("memory", mode="before")
    @classmethod
    def _series_only(cls, value: object) -> object:
        """A parameter of a program may have the same name."""
        return value if isinstance(value, list) else None


class WorkloadRun(BaseModel):
    """One run of one workload program under one allocator."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    allocator: str
    aspect: Aspect
    workload: str
    arguments: tuple[str, ...] = ()
    threads: int
    block: int
    outcome: Outcome
    detail: str = ""
    wall_s: float | None = None
    cpu_s: float | None = None
    """Processor time."""
    involuntary_switches: int | None = None
    """How often the system took a processor away from a thread that could have gone on."""
    peak_rss_bytes: int | None = None
    line: WorkloadLine | None = None
    counts: dict[str, float] = {}
    """What instrumentation or a counting library counted, over the whole run."""
    baseline: dict[str, float] = {}
    """The same of the program's fixed part, where that was measured; to be taken off."""

    @property
    def good(self) -> bool:
        return self.outcome is Outcome.OK

    @property
    def crowded(self) -> bool:
        """Whether other programs used processors that its threads needed.

        Threads that sleep while another thread holds a lock leave processors idle as well, but the
        system does not interrupt them.
        """
        if not self.cpu_s or not self.wall_s or self.involuntary_switches is None:
            return False
        lacked = self.cpu_s < LEAST_OF_PROCESSORS * self.wall_s * self.threads
        return lacked and self.involuntary_switches > MOST_INTERRUPTIONS * self.cpu_s
