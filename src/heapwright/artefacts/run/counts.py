# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The artefact of one count: what an allocator executed and wrote while a program ran.

Counted under valgrind, where one thread runs at a time. So the figures depend neither on the number
of processors nor on their load. The page docs/explanation/counting.md explains them.
"""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Counts:
    """All figures are totals over the run; `per_thousand` relates them to the operations."""

    operations: int | None
    """The work that the program reports or that the caller states. None if it was not completed, or
    if neither states it."""
    calls: int
    """Calls of allocation routines that hand out memory or take it back."""
    threads: int
    """Threads that made any."""
    instructions: int
    """Instructions that were executed between entering the allocator and leaving it."""
    lock_prefixed: int
    """Of those, how many carried a lock prefix."""
    exchanges: int
    """Of those, how many exchanged a register with memory, which locks without a prefix."""
    metadata_lines: int
    """Cache lines of the allocator's own memory that were written."""
    shared_metadata_lines: int
    """Of those, how many were written by more than one thread."""
    writes_to_shared_lines: int
    """Writes, by any thread, to the lines that were written by more than one."""
    provider: str
    """The file that gave the program its malloc."""
    complete: bool
    """The program came to its end and nothing stayed unread; else the figures are of a part."""
    reason: str
    """Why it is not complete; "" if it is."""
    seconds: float
    """How long the count took, valgrind and all."""
    trace_bytes: int
    """How much there was to read."""
    output: str
    """What the program printed on standard output (the last of it, if that was much)."""

    @property
    def locked_instructions(self) -> int:
        """Instructions that lock, with and without a prefix."""
        return self.lock_prefixed + self.exchanges

    def per_thousand(self, figure: int) -> float | None:
        """`figure` per thousand operations; None where it is not known how many there were."""
        return 1000 * figure / self.operations if self.operations else None

    def per_call(self, figure: int) -> float | None:
        """`figure` per call of an allocation routine; of a part of the run as good as of all."""
        return figure / self.calls if self.calls else None

    def beyond(self, shorter: "Counts") -> "Counts":
        """What this run did more than a shorter one of the same program: without the start-up.

        The time and the trace are those of both runs.
        """
        known = self.operations is not None and shorter.operations is not None
        more = {name: getattr(self, name) - getattr(shorter, name) for name in COUNTED}
        return replace(
            self,
            **more,
            operations=(self.operations or 0) - (shorter.operations or 0) if known else None,
            complete=self.complete and shorter.complete,
            reason=self.reason or shorter.reason,
            seconds=self.seconds + shorter.seconds,
            trace_bytes=self.trace_bytes + shorter.trace_bytes,
        )


COUNTED = (
    "calls",
    "instructions",
    "lock_prefixed",
    "exchanges",
    "metadata_lines",
    "shared_metadata_lines",
    "writes_to_shared_lines",
)
