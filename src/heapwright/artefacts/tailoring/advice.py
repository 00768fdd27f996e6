# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What to change inside a program: objects that die together, hot sizes, and pinning sites.

This is what `heapwright tailor --advise --json` writes; docs/reference/tailor.md explains every
figure, and its JSON Schema is `schema_text()`.

Invariants: Immutable. The regions have the most bytes first, the pools the most objects, and the
pins the most pages.

Versions:
    1  the first
"""

from typing import Annotated, Literal

from pydantic import Field

from heapwright.artefacts.models import WrittenModel
from heapwright.base.json_schema import schema_text_of

SCHEMA_VERSION: Literal[1] = 1
FORMAT: Literal["heapwright advice"] = "heapwright advice"
Count = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]


class Region(WrittenModel):
    """Sites whose objects die together."""

    function: Annotated[
        str,
        Field(
            description="The innermost that calls all sites, and returns none of their objects at "
            "once"
        ),
    ]
    callers: Annotated[tuple[str, ...], Field(description="Its callers, the innermost first")]
    sites: Annotated[
        tuple[str, ...], Field(description="Functions that allocate, those with most bytes first")
    ]
    stacks: Annotated[
        tuple[int, ...], Field(description="The sites as `stack` of `heapwright profile --json`")
    ]
    objects: Count
    bytes: Count
    early_bytes: Annotated[
        Count,
        Field(
            description="Of these, objects that are freed earlier. A reap reuses them, and a "
            "region keeps them"
        ),
    ]
    regions: Annotated[Count, Field(description="Times that the largest site is emptied")]
    call_share: Annotated[
        Share, Field(description="Of all calls of malloc and free: those that become unnecessary")
    ]
    sketch: Annotated[str, Field(description="The patch in outline")]


class Pool(WrittenModel):
    """A site that frees and allocates objects of one size."""

    function: str
    size: Count
    objects: Count
    reused: Annotated[Count, Field(description="Allocations that follow a free of the same site")]


class Pin(WrittenModel):
    """A site that pins pages at the peak."""

    function: str
    pages: Count
    released_bytes: Annotated[
        Count, Field(description="That the removal of these objects can release")
    ]


class Advice(WrittenModel):
    """The whole document."""

    format: Literal["heapwright advice"] = FORMAT
    schema_version: Literal[1] = SCHEMA_VERSION
    heapwright_version: str
    input: Annotated[tuple[str, ...], Field(description="The command, or the trace")]
    process: Annotated[
        Count, Field(description="Of the trace: the one with the most calls, which is advised")
    ]
    bytes: Annotated[Count, Field(description="All that the process requested")]
    calls: Annotated[Count, Field(description="Of malloc and free")]
    regions: tuple[Region, ...]
    pools: tuple[Pool, ...]
    pins: tuple[Pin, ...]
    answer: str

    @property
    def share(self) -> float:
        """Of the requested bytes: those in the regions."""
        return sum(each.bytes for each in self.regions) / max(1, self.bytes)

    def to_json(self) -> str:
        """The document as it is written to a file."""
        return self.model_dump_json(indent=2) + "\n"


def schema_text() -> str:
    """The JSON Schema of the document (`heapwright.artefacts.schemas`)."""
    return schema_text_of(Advice, "advice")
