# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Where things are: the files that come with heapwright, and the cache folder of the user.

    $XDG_CACHE_HOME/heapwright/kernels/source/VERSION    the kernel's source, unpacked
    $XDG_CACHE_HOME/heapwright/kernels/building/KEY      what make works in, until it is done
    $XDG_CACHE_HOME/heapwright/kernels/built/KEY         a kernel: bzImage, config, kernel.json

What is whole is renamed into its place in one step; what is not there was never finished.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from heapwright.base.cache import cache_home
from heapwright.base.errors import HeapwrightError
from heapwright.base.shipped import shipped_folder

ALLOCATORS = ("slab", "slub", "slob")


def shipped() -> Path:
    """Fragments of configurations, and published tables. Raises HeapwrightError."""
    return shipped_folder("catalogue/kernels", "files for kernels")


def guest_sources() -> Path:
    """The C sources of the guest's first process. Raises HeapwrightError."""
    return shipped_folder("guest", "sources for the guest", in_tree="native/guest")


def kernel_cache(environment: Mapping[str, str]) -> Path:
    """Where kernels are kept; it need not be there."""
    return cache_home(environment) / "kernels"


def need_room(folder: Path, bytes_needed: int, purpose: str) -> None:
    """Raises HeapwrightError where the disk under `folder` has less left."""
    there = next(each for each in (folder, *folder.parents) if each.exists())
    status = os.statvfs(there)
    left = status.f_bavail * status.f_frsize
    if left < bytes_needed:
        raise HeapwrightError(
            f"{purpose} needs {bytes_needed / 2**30:.1f} GiB under {folder}, "
            f"and {left / 2**30:.1f} GiB are left",
            "make room there, or set XDG_CACHE_HOME to a folder on another disk",
        )
