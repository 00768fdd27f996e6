# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Whether what is to be written, or to be held in memory, fits: asked before the work begins.

An hour of work must not end in a full disk, and a full disk stops other programs as well. A verb
passes the number of bytes that it will write. The check fails if the file system has less.
"""

import os
from pathlib import Path

from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.base.quantities import size

MEMINFO = Path("/proc/meminfo")


def free_space(place: Path) -> tuple[int, Path] | None:
    """The bytes that this user may still write where `place` is or will be, and the folder."""
    folder = next((each for each in (place, *place.absolute().parents) if each.is_dir()), None)
    if folder is None:
        return None
    try:
        found = os.statvfs(folder)
    except OSError:
        return None
    return found.f_bavail * found.f_frsize, folder


def refuse_without_space(place: Path, needed: int, what: str, hint: str) -> None:
    """Raise HeapwrightError unless about `needed` bytes fit on the file system of `place`."""
    found = free_space(place)
    if found is None or needed <= found[0]:
        return
    free, folder = found
    raise HeapwrightError(
        f"{what} needs about {size(needed)}, and {folder} has {size(free)} free",
        hint,
        exit_code=ExitCode.NOT_WRITTEN,
    )


def refuse_without_memory(needed: int, what: str, hint: str) -> None:
    """Raise HeapwrightError unless the machine has that much memory available."""
    available = _available()
    if available is not None and needed > available:
        raise HeapwrightError(
            f"{what} needs at least {size(needed)} of memory, and {size(available)} are available",
            hint,
        )


def _available() -> int | None:
    try:
        lines = MEMINFO.read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    kibibytes = (line.split()[1] for line in lines if line.startswith("MemAvailable:"))
    return next((int(each) << 10 for each in kibibytes), None)
