# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The answer of `heapwright limit`: which budgets a command kept, and the call sites at fault.

This is what `heapwright limit --json` writes; docs/reference/limit.md explains every figure.
Immutable; a figure that could not be had is null, never zero.

Versions:
    1  the first
"""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from heapwright.artefacts.models import WrittenModel
from heapwright.base.json_schema import schema_text_of
from heapwright.base.quantities import several, size

SCHEMA_VERSION: Literal[1] = 1
FORMAT: Literal["heapwright limit"] = "heapwright limit"

Count = Annotated[int, Field(ge=0)]


class Kind(StrEnum):
    """What a budget bounds."""

    ALLOCATIONS = "allocations"
    BYTES = "bytes"
    PEAK = "peak"
    LEAKS = "leaks"
    NO_ALLOC_IN = "no-alloc-in"


class Unit(StrEnum):
    """What its figure counts."""

    ALLOCATIONS = "allocations"
    BYTES = "bytes"
    BLOCKS = "blocks"


class Verdict(StrEnum):
    """Whether a budget was kept."""

    WITHIN = "within"
    EXCEEDED = "exceeded"
    UNKNOWN = "unknown"
    """The figure is not known, so the budget was not checked."""


class Budget(WrittenModel):
    """One bound. Each process of the command has to keep it."""

    kind: Kind
    unit: Unit
    limit: Count
    function: Annotated[str, Field(description="Of `no-alloc-in`; else empty")] = ""

    @property
    def name(self) -> str:
        """As on the command line: `peak`, `no-alloc-in process`."""
        return f"{self.kind} {self.function}" if self.function else str(self.kind)

    def amount(self, count: int) -> str:
        """A figure of this budget for people."""
        if self.unit is Unit.BYTES:
            return size(count)
        return several(count, "block" if self.unit is Unit.BLOCKS else "allocation")


class SiteAtFault(WrittenModel):
    """A call site that contributes to the figure of an exceeded budget."""

    place: Annotated[str, Field(description="The innermost call in the program's own code")]
    frames: Annotated[tuple[str, ...], Field(description="All calls, innermost first")]
    amount: Annotated[Count, Field(description="Its part of the figure, in the budget's unit")]


class Judged(WrittenModel):
    """One budget and its answer. The figure is that of the process with the largest figure."""

    budget: Budget
    verdict: Verdict
    figure: Count | None = None
    process: Annotated[int | None, Field(description="Number of that process in `processes`")] = (
        None
    )
    reason: Annotated[str, Field(description="Why the budget is not checked; else empty")] = ""
    sites: Annotated[
        tuple[SiteAtFault, ...], Field(description="Of an exceeded budget, the largest first")
    ] = ()


class ProcessFigures(WrittenModel):
    """What one program image did. Fork and exec begin new ones."""

    process: Annotated[Count, Field(description="Its number, from 0")]
    pid: int
    cause: Literal["start", "fork", "exec"]
    command: tuple[str, ...] = ()
    allocations: Count
    bytes: Annotated[Count, Field(description="Requested by all allocations")]
    peak_bytes: Annotated[Count, Field(description="The most requested bytes live at once")]
    leaked_blocks: Annotated[Count | None, Field(description="null: not searched")] = None
    leaked_bytes: Count | None = None


class Limit(WrittenModel):
    """The whole answer."""

    format: Literal["heapwright limit"] = FORMAT
    schema_version: Literal[1] = SCHEMA_VERSION
    heapwright_version: str = ""
    command: tuple[str, ...]
    exit_status: Annotated[
        int, Field(description="Of the command, as a shell has it: 128 + N after signal N")
    ]
    within: Annotated[bool, Field(description="All budgets were checked and kept")]
    budgets: tuple[Judged, ...]
    processes: tuple[ProcessFigures, ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> str:
        return self.model_dump_json(indent=2) + "\n"


def schema_text() -> str:
    """The JSON Schema of the document (`heapwright.artefacts.schemas`)."""
    return schema_text_of(Limit, "limit")
