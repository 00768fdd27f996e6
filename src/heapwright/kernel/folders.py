# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Where things are: the files that come with heapwright, and the cache folder of the user.

    $XDG_CACHE_HOME/heapwright/kernels/source/VERSION    the kernel's source, unpacked
    $XDG_CACHE_HOME/heapwright/kernels/building/KEY      what make works in, until it is done
    $XDG_CACHE_HOME/heapwright/kernels/built/KEY         a kernel: bzImage, config, kernel.json

What is whole is renamed into its place in one step; what is not there was never finished.
"""

import errno
import os
from collections.abc import Mapping
from pathlib import Path

from heapwright.base.cache import cache_home
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.shipped import shipped_folder

ALLOCATORS = ("slab", "slub", "slob", "slqb")


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
    """Make `folder`. Raises HeapwrightError if that fails, or if its disk has too little room."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, "it is read-only")
        status = os.statvfs(folder)
    except OSError as error:
        raise HeapwrightError(
            f"{purpose} cannot write to {folder}: {error.strerror or error}",
            "set XDG_CACHE_HOME to a folder that can be written to",
            exit_code=ExitCode.NOT_WRITTEN,
        ) from error
    left = status.f_bavail * status.f_frsize
    if left < bytes_needed:
        raise HeapwrightError(
            f"{purpose} needs {bytes_needed / 2**30:.1f} GiB under {folder}, "
            f"and {left / 2**30:.1f} GiB are left",
            "make room there, or set XDG_CACHE_HOME to a folder on another disk",
        )
