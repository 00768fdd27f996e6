# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The loads of a guest: what each does at each scale, and the machine that it wants.

A load is what kernel/init does under this name; its settings go to it on the kernel's command line.
The published study's own figures are the scale `published`, which takes hours in an emulated
machine. The others keep its shape. This is 64 threads, blocks of 16 KiB written at random, and 128
files.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from heapwright.base.errors import HeapwrightError

SCALES = ("small", "medium", "published")


@dataclass(frozen=True, slots=True)
class Load:
    """One load at one scale."""

    name: str
    scale: str
    memory_mib: int
    timeout_s: float
    """Of the host's time: how long a guest may go on."""
    settings: Mapping[str, int]
    sysbench: bool = False
    storage: bool = False
    compiler: bool = False


CHURN = {"slots": 2400, "waves": 3, "steps": 6000, "fill_mib": 84, "fill_left": 50}
FILES = {"files": 128, "total_mib": 32, "events": 2000, "threads": 64, "storage_mib": 48}
SITE = {"pages": 120, "workers": 4, "clients": 8, "requests": 300, "storage_mib": 48}
SOURCES = {"rounds": 1, "storage_mib": 32}
COPIED = {"total_mib": 64, "threads": 64}
FILE_KINDS = ("fileio", "fileio-seqwr", "fileio-rndrd", "fileio-seqrd")
"""Random and sequential writes, then reads. The published study has the first."""


def _files(name: str) -> dict[str, Load]:
    """sysbench on files. The scales have the same shape."""
    large = FILES | {"total_mib": 2048, "events": 100_000, "storage_mib": 2560}
    sizes: dict[str, tuple[int, float, Mapping[str, int]]] = {
        "small": (256, 900, FILES),
        "medium": (512, 2400, FILES | {"events": 20000}),
        "published": (6144, 4 * 3600, large),
    }
    return {
        scale: Load(name, scale, *size, sysbench=True, storage=True)
        for scale, size in sizes.items()
    }


LOADS = {
    "nothing": {scale: Load("nothing", scale, 128, 300, {}) for scale in SCALES},
    "paths": {
        "small": Load("paths", "small", 128, 600, {"rounds": 1000}),
        "medium": Load("paths", "medium", 128, 1200, {"rounds": 10000}),
        "published": Load("paths", "published", 128, 3600, {"rounds": 100000}),
    },
    "churn": {
        "small": Load("churn", "small", 128, 900, CHURN),
        "medium": Load("churn", "medium", 128, 2400, CHURN | {"waves": 12}),
        "published": Load("churn", "published", 128, 7200, CHURN | {"waves": 60}),
    },
    **{name: _files(name) for name in FILE_KINDS},
    "memory": {
        "small": Load("memory", "small", 256, 900, COPIED, sysbench=True),
        "medium": Load("memory", "medium", 256, 2400, COPIED | {"total_mib": 1024}, sysbench=True),
        "published": Load(
            "memory", "published", 256, 8 * 3600, COPIED | {"total_mib": 102_400}, sysbench=True
        ),
    },
    "web": {
        "small": Load("web", "small", 256, 900, SITE, storage=True),
        "medium": Load("web", "medium", 256, 2400, SITE | {"requests": 3000}, storage=True),
        "published": Load("web", "published", 256, 7200, SITE | {"requests": 30_000}, storage=True),
    },
    "compile": {
        scale: Load(
            "compile", scale, 384, limit, SOURCES | {"rounds": rounds}, storage=True, compiler=True
        )
        for scale, limit, rounds in (
            ("small", 900, 1),
            ("medium", 3600, 4),
            ("published", 14400, 20),
        )
    },
}


def load_of(name: str, scale: str) -> Load:
    """Raises HeapwrightError with the names that there are."""
    if name not in LOADS:
        raise HeapwrightError(f"there is no load {name!r}", f"there are: {', '.join(LOADS)}")
    if scale not in SCALES:
        raise HeapwrightError(f"there is no scale {scale!r}", f"there are: {', '.join(SCALES)}")
    return LOADS[name][scale]
