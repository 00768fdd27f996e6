# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The allocator that serves a process, by the names of the files that it has mapped."""

from collections.abc import Iterable
from pathlib import PurePosixPath

GLIBC = "glibc"
OURS = "libheapwright-"
OTHERS = (
    "jemalloc",
    "tcmalloc",
    "mimalloc",
    "tbbmalloc",
    "rpmalloc",
    "snmalloc",
    "scudo",
    "hardened-malloc",
)
NOT_ALLOCATORS = ("recorder", "hold", "counter", "witness", "marks", "region", "xalloc", "obstack")


def allocator_in_use(objects: Iterable[str]) -> str:
    """The allocator found among the mapped files; else that of the C library."""
    for path in objects:
        name = PurePosixPath(path).name
        if name.startswith(OURS):
            ours = name.removeprefix(OURS).split(".so")[0]
            if ours not in NOT_ALLOCATORS:
                return ours
        for known in OTHERS:
            if known in name.replace("_", "-"):
                return known
    return GLIBC
