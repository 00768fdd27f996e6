# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The file in which `libheapwright-counter.so` counts, one page for each program image.

native/limit/layout.hpp describes the file. A page is complete at any moment, also after SIGKILL.
"""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from struct import Struct
from typing import Literal

MAGIC = b"HWLIMIT1"
VARIABLE = "HEAPWRIGHT_LIMIT"
LIBRARY = "counter"
PAGE = 4096
MOST = 8192
"""Program images with a page."""
HEADER = Struct("<8sII")
PROCESS = Struct("<IIII8xqq24s")
THREAD = Struct("<QQQq32x")
CAUSES: tuple[Literal["start", "fork", "exec"], ...] = ("start", "fork", "exec")


@dataclass(frozen=True, slots=True)
class Counts:
    """What one program image did."""

    pid: int
    image: int
    """Of the images with this pid: 0 for the first."""
    cause: Literal["start", "fork", "exec"]
    name: str
    allocations: int
    bytes: int
    peak_bytes: int
    exact: bool
    """Sizes are requested sizes; otherwise usable sizes."""


def make_file(path: Path) -> None:
    """An empty file for a command. It takes room on the disk only for pages in use."""
    with path.open("wb") as file:
        file.write(HEADER.pack(MAGIC, MOST, 0))
        file.truncate((1 + MOST) * PAGE)


def read_file(path: Path) -> tuple[Counts, ...]:
    """All images in the order of their starts."""
    with path.open("rb") as file:
        _, most, taken = HEADER.unpack(file.read(HEADER.size))
        file.seek(PAGE)
        pages = [file.read(PAGE) for _ in range(min(most, taken))]
    images: Counter[int] = Counter()
    found = []
    for page in pages:
        pid, cause, exact, _, _, peak, name = PROCESS.unpack_from(page)
        if pid == 0:
            continue
        lines = list(THREAD.iter_unpack(page[PROCESS.size :]))
        found.append(
            Counts(
                pid=pid,
                image=images[pid],
                cause=CAUSES[cause],
                name=name.split(b"\0", 1)[0].decode("utf-8", "replace"),
                allocations=sum(line[0] for line in lines),
                bytes=sum(line[1] for line in lines),
                peak_bytes=max(peak, 0),
                exact=exact != 0,
            )
        )
        images[pid] += 1
    return tuple(found)


def without_page(path: Path) -> int:
    """The number of images that got no page, because all were taken."""
    with path.open("rb") as file:
        _, most, taken = HEADER.unpack(file.read(HEADER.size))
    return int(max(taken - most, 0))
