# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The artefact of one measured run: what was run, how it ended, what it cost.

Every run is kept whole, also a failed one. A figure that could not be measured is None or absent,
never zero. Times are seconds, memory is bytes, `rss_series` is (seconds since the start, resident
bytes of the whole process tree).
"""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict

from heapwright.artefacts.run.replay import ReplayFigures


class Outcome(StrEnum):
    """How a run ended; only `ok` may be analysed as a time."""

    OK = "ok"
    FAILED = "failed"
    CRASHED = "crashed"
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out-of-memory"
    NOT_INTERPOSED = "not-interposed"


class Ending(StrEnum):
    """How one process (more exactly: one program image in it) came to its end."""

    EXITED = "exited"  # left by exit or _exit, or was reaped by the harness itself
    REPLACED = "replaced"  # became another program by exec
    KILLED = "killed"  # by a signal that heapwright did not send, named in `signal`
    ENDED_BY_HARNESS = (
        "ended-by-harness"  # by a signal of heapwright: timeout, interruption, or left over
    )
    VANISHED = "vanished"  # no exit was seen, and no parent reported one
    UNKNOWN = "unknown"  # only ever seen from outside


class ProcessRecord(BaseModel):
    """One program in the tree, and the object that gave it malloc.

    Beyond some hundreds of processes, small alike ones are folded into one record. `count` has
    their number, `cpu_s` their sum, `peak_rss_bytes` their largest, and `pid` that of the first.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    pid: int
    ppid: int
    exe: str
    """Its path; "" for a process that never reported and was never met alive."""
    provider: str | None = None
    provider_is_libc: bool = False
    cpu_s: float
    cpu_exact: bool = True
    peak_rss_bytes: int | None = None
    witnessed: bool = True
    ending: Ending = Ending.UNKNOWN
    signal: int | None = None
    count: int = 1


class Run(BaseModel):
    """One run of the command under one treatment."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    allocator: str
    level: str = ""
    block: int
    position: int
    warmup: bool = False
    outcome: Outcome
    exit_status: int | None = None
    signal: int | None = None
    wall_s: float | None = None
    user_s: float | None = None
    sys_s: float | None = None
    peak_rss_bytes: int | None = None
    peak_rss_method: str = ""
    minor_faults: int | None = None
    major_faults: int | None = None
    voluntary_switches: int | None = None
    involuntary_switches: int | None = None
    counters: dict[str, float] = {}
    interposed: bool = False
    rss_series: list[tuple[float, int]] = []
    processes: list[ProcessRecord] = []
    unaccounted_cpu_s: float = 0.0
    leftover_processes: int = 0
    load_before: float | None = None
    runnable_before: int | None = None
    steal_s: float | None = None
    harness_cpu_s: float | None = None
    client_cpu_s: float | None = None
    """Of a program that is a server: the processor time of its client; None: there is none."""
    detail: str = ""
    measures: dict[str, float] = {}
    """Further responses by name, compared like time and memory; the unit ends the name."""
    replay: ReplayFigures | None = None
    """What a run that replayed a trace says of itself."""
