# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The part of a profile with moments that the user named, and with the marks of the trace."""

from typing import Annotated, NamedTuple

from pydantic import Field

from heapwright.artefacts.models import WrittenModel

PAGE = 4096
"""Bytes of the pages that are counted."""

Count = Annotated[int, Field(ge=0)]


class Held(NamedTuple):
    """The live memory of a site at one moment."""

    objects: int
    bytes: int


class Pins(NamedTuple):
    """Pages of 4 KiB that have live blocks of one site only, and would be empty without them."""

    held: int
    """The pages."""
    pinned: int
    """Of these, pages of which at most a quarter is in use."""
    used: int
    """Bytes in use on the pinned pages."""

    @property
    def released(self) -> int:
        """The bytes of the pinned pages: what the removal of the blocks on them can release."""
        return self.pinned * PAGE


class Mark(WrittenModel):
    """A moment that the program or a signal named while it was recorded."""

    name: str
    time_s: float
    process: Count
    signal: Annotated[Count, Field(description="That made it; 0: the program itself")] = 0


class Moment(WrittenModel):
    """The live memory of all sites at one moment, before the calls of its time."""

    name: Annotated[str, Field(description="As requested")]
    time_s: float
    operation: Annotated[Count, Field(description="Recorded calls before it")]
    live_bytes: Count
    live_objects: Count
    other_bytes: Annotated[Count, Field(description="Of these, at sites that are not listed")]
    other_objects: Count
    pins: Annotated[
        Pins | None, Field(description="Of all sites, listed or not; null: pages were not counted")
    ] = None
