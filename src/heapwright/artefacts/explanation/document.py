# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The explanation: why a program's memory is what it is, as `heapwright explain` found it.

This is the document that `--json` writes; docs/reference/explain.md explains the kinds and the
rules. Invariants: immutable; the sentence follows from the figures that stand beside it; a figure
that could not be had is null. Times are seconds since the trace began, memory is bytes.

Versions:
    1  the first
"""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from heapwright.artefacts.models import WrittenModel
from heapwright.artefacts.run.coverage import Coverage

SCHEMA_VERSION: Literal[1] = 1
FORMAT: Literal["heapwright explanation"] = "heapwright explanation"


class Kind(StrEnum):
    """What the memory is, in one word."""

    LEAK = "leak"  # no pointer leads to these blocks
    RETENTION = "retention"  # the allocator holds what the program has freed
    GROWTH = "growth"  # the program uses more and more; it is not known to be lost
    ELSEWHERE = "elsewhere"  # most of it, or of its growth, is not malloc's
    STEADY = "steady"  # none of these
    UNKNOWN = "unknown"  # the recording does not tell


class Ending(StrEnum):
    """How what was looked at ended."""

    EXITED = "exited"
    KILLED = "killed"
    RUNNING = "running"
    UNKNOWN = "unknown"


class Moment(WrittenModel):
    """What resident memory was made of at one time; held and other are null without samples."""

    time_s: float
    live_bytes: int
    waste_bytes: int | None = None
    held_bytes: int | None = None
    lazy_bytes: int | None = None
    other_bytes: int | None = None
    resident_bytes: int | None = None


class Culprit(WrittenModel):
    """A place in the program whose blocks were not freed."""

    frames: Annotated[tuple[str, ...], Field(description="The calls, innermost first")]
    blocks: int
    bytes: int
    kind: Annotated[Kind | None, Field(description="Of the finding that it belongs to")] = None
    place: Annotated[
        str, Field(description="The innermost call of the program's own code; empty: not known")
    ] = ""
    rate_bytes_per_s: Annotated[
        float | None, Field(description="Over the later part of the run; null: it did not go on")
    ] = None


class Setting(WrittenModel):
    """What makes the allocator in use give memory back."""

    allocator: Annotated[str, Field(description="In use, as far as its file tells")]
    assignments: Annotated[
        dict[str, str], Field(description="Variables to set; empty: it has no such setting")
    ] = {}
    why: str


class Reachability(WrittenModel):
    """What pointers led to when the program ended, by a search of all its memory."""

    blocks: int
    bytes: int
    unreachable_blocks: int
    unreachable_bytes: int


class Finding(WrittenModel):
    """One thing that is known of the memory; a run may have several."""

    kind: Kind
    sentence: str
    bytes: int
    rate_bytes_per_s: Annotated[
        float | None, Field(description="If it goes on until the end of the run: how fast")
    ] = None


class Explanation(WrittenModel):
    """The whole document."""

    format: Literal["heapwright explanation"] = FORMAT
    schema_version: Literal[1] = SCHEMA_VERSION
    heapwright_version: str = ""
    command: tuple[str, ...] = ()
    process: Annotated[
        int | None, Field(description="Number in the trace, where there are several")
    ] = None
    kind: Annotated[Kind, Field(description="Of the first finding")]
    sentence: str
    findings: Annotated[
        tuple[Finding, ...], Field(description="What there is to say; the most important first")
    ] = ()
    ending: Ending = Ending.UNKNOWN
    allocator: str = ""
    runtime: Annotated[
        str, Field(description="A language runtime with a heap of its own beside malloc's")
    ] = ""
    rise_bytes: Annotated[
        int, Field(description="By how much live memory rose until the end; 0: it did not")
    ] = 0
    never_freed_bytes: int = 0
    never_freed_blocks: int = 0
    held_share: Annotated[
        float | None,
        Field(description="Of resident heap memory in the last quarter of the time: held"),
    ] = None
    most_held_bytes: int | None = None
    reachability: Reachability | None = None
    culprits: tuple[Culprit, ...] = ()
    setting: Setting | None = None
    moments: tuple[Moment, ...] = ()
    coverage: Annotated[
        Coverage | None,
        Field(description="Which processes of the command were recorded; null: not known"),
    ] = None

    def to_json(self) -> str:
        """The document as it is written to a file."""
        return self.model_dump_json(indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> "Explanation":
        """Read what `to_json` wrote; raises pydantic.ValidationError on anything else."""
        return cls.model_validate_json(text)
