# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""One boot of a kernel under a load: what was booted, what it said of its memory, what came out.

This is what `heapwright kernel boot --json` writes and one line of a kernel study's journal holds.
Immutable; times are the guest's, in the unit that the name ends with.
"""

from typing import Annotated, Literal

from pydantic import Field

from heapwright.artefacts.models import FrozenModel

FORMAT: Literal["heapwright-kernel-boot"] = "heapwright-kernel-boot"
VERSION: Literal[1] = 1


class Sample(FrozenModel):
    """What the kernel says of its memory at one moment."""

    at_ns: int
    where: Annotated[str, Field(description="Where in the load it was taken")]
    total_kib: int
    free_kib: int
    slab_kib: int
    slab_reclaimable_kib: int
    slab_unreclaimable_kib: int
    stacks_kib: int
    page_tables_kib: int
    anonymous_kib: int
    cached_kib: int
    oom_kill: int
    pgalloc_dma32: int
    compact_stall: int
    pgsteal_kswapd: int
    pgsteal_direct: int
    fragmentation_events: int
    fragmentation_orders: Annotated[str, Field(description="ORDER:COUNT of them, with commas")]

    @property
    def kernel_kib(self) -> int:
        """What the kernel holds for itself besides its image and the page cache."""
        return self.slab_kib + self.stacks_kib + self.page_tables_kib


class ObjectPath(FrozenModel):
    """One kind of kernel object, made and removed many times."""

    object: str
    times: int
    ns: int


class Phase(FrozenModel):
    """One call of a program in the guest."""

    phase: str
    ns: int


class Kernel(FrozenModel):
    """What was booted."""

    key: str
    allocator: str
    version: str
    sha256: str


class KernelBoot(FrozenModel):
    """A boot that came to its end."""

    format: Literal["heapwright-kernel-boot"] = FORMAT
    version: Literal[1] = VERSION
    kernel: Kernel
    load: str
    scale: str
    seed: int
    cpus: int
    memory_mib: int
    settings: dict[str, str | int]
    time: Annotated[str, Field(description="What the guest's clock was made of")]
    emulator: str
    records_sha256: Annotated[str, Field(description="Hash of all that the guest recorded")]
    samples: tuple[Sample, ...]
    paths: tuple[ObjectPath, ...] = ()
    phases: tuple[Phase, ...] = ()
    output: Annotated[tuple[str, ...], Field(description="Lines that programs printed")] = ()
    responses: Annotated[dict[str, float], Field(description="The figures of the load")]
    tries: Annotated[int, Field(ge=1, description="Boots that were begun for it")] = 1
