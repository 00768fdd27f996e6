# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which processes of a recorded command were recorded, and which were not, and why.

A statement about memory holds for recorded processes alone. Documents that are made from a
recording carry this one, and each conclusion is qualified with it. Times are seconds of processor
time, memory is bytes.
"""

from collections.abc import Iterable
from enum import StrEnum
from pathlib import PurePath
from typing import Annotated

from pydantic import Field

from heapwright.artefacts.models import WrittenModel
from heapwright.artefacts.run.foreign_heaps import foreign_heap_named
from heapwright.base.quantities import several

LIMIT = 0.01
"""The share of the processor time below which unrecorded processes do not matter."""
LEAST_CPU_S = 0.02
"""The processor time of unrecorded processes below which they do not matter."""
MOST_NAMED = 3


class Cause(StrEnum):
    """Why a process was not recorded."""

    NOT_FOLLOWED = "not-followed"  # a child process, and child processes were not to be recorded
    OWN_MALLOC = "own-malloc"  # the program or another library provides malloc
    STATIC = "static"  # statically linked: no library can be preloaded
    PRIVILEGED = "privileged"  # set-user-ID or with capabilities: the loader ignores LD_PRELOAD
    OTHER_MACHINE = "other-machine"  # built for another machine, as 32-bit programs
    OTHER_C_LIBRARY = "other-c-library"  # such as musl
    NOT_LOADED = "not-loaded"  # the recorder was not loaded; the reason is not known


_WORDS = {
    Cause.NOT_FOLLOWED: "is a child process, and --follow-children was not given",
    Cause.OWN_MALLOC: "provides its own malloc",
    Cause.STATIC: "is statically linked",
    Cause.PRIVILEGED: "runs with rights of another user, so that the loader ignores LD_PRELOAD",
    Cause.OTHER_MACHINE: "is built for another machine",
    Cause.OTHER_C_LIBRARY: "is linked to another C library",
    Cause.NOT_LOADED: "did not load the recorder",
}


class CoveredProcess(WrittenModel):
    """One program image of the command's process tree, or several that are alike."""

    pid: Annotated[int, Field(description="Of the first, where there are several")]
    parent_pid: int
    executable: Annotated[str, Field(description="Its path; empty: too short-lived to be seen")]
    count: Annotated[int, Field(ge=1, description="How many alike processes this is")] = 1
    cpu_s: float
    peak_resident_bytes: Annotated[int | None, Field(description="null: not known")] = None
    recorded: Annotated[bool, Field(description="Its calls of malloc are in the trace")]
    cause: Annotated[Cause | None, Field(description="Why it is not; null: it is recorded")] = None
    provider: Annotated[str, Field(description="The object that provides malloc, if known")] = ""
    own_heap: Annotated[
        str, Field(description="The runtime whose heap it keeps beside malloc's; empty: none known")
    ] = ""

    @property
    def name(self) -> str:
        return PurePath(self.executable).name or "a short-lived program"

    def why(self) -> str:
        """Why it was not recorded, as a sentence without its end."""
        if self.cause is None:
            return ""
        times = f" ({self.count} processes)" if self.count > 1 else ""
        words = _WORDS[self.cause]
        if self.cause is Cause.OWN_MALLOC and self.provider not in ("", self.executable):
            words = f"gets malloc from {PurePath(self.provider).name}"
        return f"{self.name}{times} {words}"


class Coverage(WrittenModel):
    """The processes of one recorded command, most processor time first."""

    cpu_s: Annotated[float, Field(description="Of all of them, as the kernel counts it")]
    unclaimed_cpu_s: Annotated[
        float, Field(description="Part of it: of processes that were never seen")
    ] = 0.0
    processes: tuple[CoveredProcess, ...]

    @property
    def unrecorded(self) -> tuple[CoveredProcess, ...]:
        return tuple(each for each in self.processes if not each.recorded)

    @property
    def unrecorded_cpu_s(self) -> float:
        return sum(each.cpu_s for each in self.unrecorded) + self.unclaimed_cpu_s

    @property
    def unrecorded_share(self) -> float:
        """Of the processor time."""
        known = sum(each.cpu_s for each in self.processes)
        total = max(self.cpu_s, known)
        return min(1.0, self.unrecorded_cpu_s / total) if total > 0 else 0.0

    @property
    def is_complete(self) -> bool:
        """Whether a conclusion about the memory of the whole command may be drawn. The unrecorded
        part is too small to matter, and something was recorded.
        """
        if not any(each.recorded for each in self.processes):
            return False
        return self.unrecorded_share < LIMIT or self.unrecorded_cpu_s < LEAST_CPU_S

    def of(self, pid: int) -> CoveredProcess | None:
        """The image of this process that used most processor time."""
        return next((each for each in self.processes if each.pid == pid), None)

    def gap(self) -> str:
        """What was not recorded, and why, as one sentence; empty if nothing that matters."""
        reasons = self.reasons()
        if self.is_complete or not reasons:
            return ""
        return f"{self.unrecorded_share:.1%} of the processor time was not recorded: {reasons}"

    def reasons(self) -> str:
        """Why processes were not recorded; empty if all of them were."""
        reasons = [each.why() for each in self.unrecorded[:MOST_NAMED]]
        if len(self.unrecorded) > MOST_NAMED:
            rest = sum(each.count for each in self.unrecorded[MOST_NAMED:])
            reasons.append(f"{several(rest, 'more process', 'more processes')}")
        if not reasons and self.unclaimed_cpu_s:
            reasons = ["processes that were not seen used it"]
        return "; ".join(reasons)

    def remarks(self) -> list[str]:
        """All that qualifies a conclusion about the command's memory, without final stops."""
        return [*filter(None, (self.gap(),)), *self.own_heaps()]

    def own_heaps(self) -> tuple[str, ...]:
        """One sentence for each runtime that keeps a heap of its own, with how to look inside."""
        found = dict.fromkeys(each.own_heap for each in self.processes if each.own_heap)
        return tuple(_advice(runtime, self.processes) for runtime in found)


def _advice(runtime: str, processes: Iterable[CoveredProcess]) -> str:
    names = dict.fromkeys(each.name for each in processes if each.own_heap == runtime)
    heap = foreign_heap_named(runtime)
    keeps = "keeps" if len(names) == 1 else "keep"
    text = f"{', '.join(names)} {keeps} objects in a heap of {runtime}"
    if heap is None:
        return text
    return f"{text} ({heap.heap}), which does not ask malloc for each: {heap.advice}"
