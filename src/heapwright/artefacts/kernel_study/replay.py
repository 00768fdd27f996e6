# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What real kernels reported about one replayed kernel trace: what `kernel replay --json` writes.

docs/how-to/kernel-study.md explains the figures. Pages are of 4 KiB.

Versions:
    1  the first
"""

from typing import Annotated, Literal

from pydantic import Field

from heapwright.artefacts.kernel_study.boot import Kernel
from heapwright.artefacts.models import WrittenModel
from heapwright.base.json_schema import schema_text_of

FORMAT: Literal["heapwright kernel replay"] = "heapwright kernel replay"
Count = Annotated[int, Field(ge=0)]


class KernelReplay(WrittenModel):
    """What one kernel reported."""

    kernel: Kernel
    emulator: str = ""
    memory_mib: Annotated[Count, Field(description="Of the guest")]
    time: Annotated[str, Field(description="The kind of time: virtual, or the host's")]
    base: Annotated[Count, Field(description="Pages of slab memory before the first request")]
    marks: Annotated[
        tuple[Count, ...], Field(min_length=1, description="The same at the marks of the trace")
    ]
    kept: Annotated[Count, Field(description="The same after the last object was freed")]
    ns: Annotated[Count, Field(description="Time of the timed events, without the marks")]
    dry_ns: Annotated[Count, Field(description="Time of the same loop without the requests")]
    refused: Annotated[Count, Field(description="Requests that got no memory")]

    @property
    def slab_pages(self) -> tuple[int, ...]:
        """Slab memory of the replay alone, at each mark."""
        return tuple(mark - self.base for mark in self.marks)

    @property
    def kept_pages(self) -> int:
        """Slab memory of the replay alone, after the last object was freed."""
        return self.kept - self.base

    @property
    def request_ns(self) -> int:
        """Time of the requests without the loop around them."""
        return self.ns - self.dry_ns


class KernelReplays(WrittenModel):
    """The whole document."""

    format: Literal["heapwright kernel replay"] = FORMAT
    schema_version: Literal[1] = 1
    heapwright_version: str = ""
    trace: Annotated[str, Field(description="Path of the kernel trace")]
    trace_sha256: str
    processors: Annotated[int, Field(ge=1)]
    prelude: Annotated[Count, Field(description="First events, which build the initial state")]
    timed: Annotated[Count, Field(description="Events after them")]
    kernels: Annotated[tuple[KernelReplay, ...], Field(min_length=1)]

    def to_json(self) -> str:
        """The document as it is written to a file."""
        return self.model_dump_json() + "\n"

    @classmethod
    def from_json(cls, text: str | bytes) -> "KernelReplays":
        """Read what `to_json` wrote; raises pydantic.ValidationError on anything else."""
        return cls.model_validate_json(text)


def schema_text() -> str:
    """The JSON Schema of the document (`heapwright.artefacts.schemas`)."""
    return schema_text_of(KernelReplays, "kernel replay")
