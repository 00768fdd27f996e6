# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The part of a profile with the call paths that requested memory: the tree of calls.

`heapwright-profile` writes objects and nodes, with addresses; `heapwright.profile.symbols` adds the
names. Sums of a node include those of the calls inside of it. What is too small to be seen is left
out, but not out of the sums.
"""

from typing import Annotated, NamedTuple

from pydantic import Field

from heapwright.artefacts.models import WrittenModel

Count = Annotated[int, Field(ge=0)]


class CodeObject(WrittenModel):
    """A file with code, as the process had loaded it."""

    path: str
    build_id: Annotated[str, Field(description="In hexadecimal; empty: it has none")] = ""
    function: Annotated[
        str,
        Field(description="A function of an interpreter, in the source file `path`; else empty"),
    ] = ""


class Function(WrittenModel):
    """A place in the program by name."""

    name: str
    file: Annotated[str, Field(description="Source file; empty: not known")] = ""
    line: Count = 0

    @property
    def in_words(self) -> str:
        """The function and its place in one line."""
        if not self.file:
            return self.name
        place = self.file.rpartition("/")[2] + (f":{self.line}" if self.line else "")
        return f"{self.name} ({place})"


class Call(NamedTuple):
    """One call, in the chain of those around it; the first of the tree is the root, no call."""

    parent: int
    code: int
    """Place in `objects`; one more than the last: in no file; two more: outer calls left out."""
    address: int
    """In the object's file; without one in memory; of an interpreter's function the line."""
    allocations: int
    bytes: int
    never_freed: int
    never_freed_bytes: int
    at_peak: int = 0
    """Live blocks at the peak of live bytes; 0 in older documents too."""
    at_peak_bytes: int = 0
    temporary: int = 0
    """Blocks that their thread ended before it allocated again; 0 in older documents too."""


class Calls(WrittenModel):
    """The tree, parents before their calls."""

    objects: tuple[CodeObject, ...]
    nodes: tuple[Call, ...]
    functions: Annotated[tuple[Function, ...], Field(description="Empty: nothing is named")] = ()
    frames: Annotated[
        tuple[tuple[Count, ...], ...],
        Field(description="For each node its functions, those inlined into another behind it"),
    ] = ()
