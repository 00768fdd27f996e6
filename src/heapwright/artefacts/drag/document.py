# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Drag: how much longer than it is needed a program's memory is held, as `heapwright drag` found.

This is the document that `--json` writes; docs/reference/drag.md defines every figure, and
its JSON Schema is `schema_text()`.

Time is allocation time: the bytes allocated so far. An object of s bytes is held from the beginning
of its own allocation until it is freed. It is needed from there until its last access, at least
while its own bytes are allocated. Areas are sums over all objects of their bytes times the
allocation time for which they are held or needed. They are exact, and integers of any length.

Invariants: immutable; reading back what was written gives an equal object; a ratio of nothing to
nothing is null. `schema_version` goes up when a reader of the old form would be misled.

Versions:
    1  the first
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from heapwright.artefacts.models import WrittenModel
from heapwright.base.json_schema import schema_text_of

SCHEMA_VERSION: Literal[1] = 1
FORMAT: Literal["heapwright drag"] = "heapwright drag"

Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Instrument = Literal["valgrind", "instrumented"]


class Some(WrittenModel):
    """A number of objects and their bytes."""

    objects: Count = 0
    bytes: Count = 0


class Peak(WrittenModel):
    """The most at once."""

    bytes: Count
    at: Annotated[Count, Field(description="Bytes allocated when it was first reached")]


class Curves(WrittenModel):
    """Bytes held and needed at an allocation time; exact at these points."""

    allocated: Annotated[tuple[Count, ...], Field(description="Even steps of allocation time")]
    held: tuple[Count, ...]
    needed: tuple[Count, ...]

    @model_validator(mode="after")
    def _even(self) -> Self:
        if not len(self.allocated) == len(self.held) == len(self.needed):
            raise ValueError("curves are of different lengths")
        return self


class Site(WrittenModel):
    """A chain of calls that allocates."""

    frames: Annotated[tuple[str, ...], Field(description="Calls, the innermost first")]
    objects: Count
    bytes: Count
    never_freed: Some
    never_accessed: Some
    held_area: Count
    needed_area: Count
    drag_area: Annotated[Count, Field(description="held_area - needed_area")]
    share: Annotated[Share, Field(description="Of the drag of all sites")]
    idle_bytes: Annotated[
        float,
        Field(
            ge=0, description="Bytes allocated, in the mean of its bytes, from their last use on"
        ),
    ]


class OtherSites(WrittenModel):
    """The sites that are not listed, together."""

    sites: Count = 0
    objects: Count = 0
    bytes: Count = 0
    held_area: Count = 0
    needed_area: Count = 0


class Provenance(WrittenModel):
    """What the figures are about, and what is missing from them."""

    heapwright_version: str = ""
    command: tuple[str, ...]
    means: Annotated[Instrument, Field(description="How accesses were seen")]
    began: Annotated[str, Field(description="UTC, ISO 8601")] = ""
    seconds: Annotated[float | None, Field(description="That the run took, observed")] = None
    exit_status: int | None = None
    signal: int | None = None
    interrupted: Annotated[
        bool, Field(description="It was ended by us: the figures are those until then")
    ] = False
    replaced: Annotated[
        bool, Field(description="It became another program by exec, which was not watched")
    ] = False
    children: Annotated[
        Count | None, Field(description="Processes that it started; they were not watched")
    ] = None
    threads: Count | None = None


class Oddities(WrittenModel):
    """What could not be made sense of; the figures are then not exact."""

    unknown_frees: Annotated[Count, Field(description="Frees of what was not live")] = 0
    overwritten: Annotated[Count, Field(description="Objects whose free was not seen")] = 0
    unplaced: Annotated[Count, Field(description="Objects at addresses that cannot be")] = 0
    misread_lines: Annotated[Count, Field(description="Of valgrind's log")] = 0


class Drag(WrittenModel):
    """The document."""

    format: Literal["heapwright drag"] = FORMAT
    schema_version: Literal[1] = SCHEMA_VERSION
    provenance: Provenance
    total_drag: Annotated[
        float | None, Field(ge=1, description="held_area / needed_area; null if nothing was needed")
    ]
    peak_increase: Annotated[
        float | None, Field(ge=1, description="peak_held / peak_needed; null if nothing was needed")
    ]
    allocated_bytes: Count
    objects: Count
    held_area: Count
    needed_area: Count
    peak_held: Peak
    peak_needed: Peak
    never_freed: Some
    never_accessed: Some
    unseen: Annotated[
        Some,
        Field(
            description="Objects of code whose accesses cannot be seen; counted as needed until "
            "they were freed"
        ),
    ] = Some()
    curves: Curves
    sites: Annotated[
        tuple[Site, ...], Field(description="Those of the most drag, the first the most")
    ]
    other_sites: OtherSites = OtherSites()
    oddities: Oddities = Oddities()

    def to_json(self) -> str:
        """The document as text."""
        return self.model_dump_json(indent=2) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read what `to_json` wrote; raises pydantic.ValidationError on anything else."""
        return cls.model_validate_json(text)


def schema_text() -> str:
    """The JSON Schema of the document (`heapwright.artefacts.schemas`)."""
    return schema_text_of(Drag, "drag")
