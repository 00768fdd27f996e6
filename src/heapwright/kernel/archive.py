# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Writes the archive of a guest's first files: cpio in the form newc, the same bytes each time.

The form is the one of the kernel's Documentation/driver-api/early-userspace/buffer-format.rst. It
is a header of thirteen numbers in eight hexadecimal digits, the name, and the bytes, each filled up
to four. Entries are sorted, belong to root, have no time and are numbered in their order. The
program gzip writes no time either. So two archives of the same files are the same, and so is every
boot from them.
"""

import gzip
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

MAGIC = "070701"
TRAILER = "TRAILER!!!"
LEVEL = 6


@dataclass(frozen=True, slots=True)
class Entry:
    """One file, folder, link or device."""

    mode: int
    data: bytes = b""
    device: tuple[int, int] = (0, 0)


def folder(permissions: int = 0o755) -> Entry:
    return Entry(stat.S_IFDIR | permissions)


def regular(data: bytes, permissions: int = 0o755) -> Entry:
    return Entry(stat.S_IFREG | permissions, data)


def link(target: str) -> Entry:
    return Entry(stat.S_IFLNK | 0o777, target.encode())


def character(major: int, minor: int, permissions: int = 0o600) -> Entry:
    return Entry(stat.S_IFCHR | permissions, b"", (major, minor))


def cpio(entries: Mapping[str, Entry]) -> bytes:
    """The archive; folders on the way to an entry that are not named are put in before it."""
    whole = dict(entries)
    for name in entries:
        for parent in PurePosixPath(name).parents:
            if str(parent) not in {".", "/"}:
                whole.setdefault(str(parent), folder())
    pieces = [
        _piece(name, number, whole[name]) for number, name in enumerate(sorted(whole), start=1)
    ]
    return b"".join([*pieces, _piece(TRAILER, 0, Entry(0))])


def compressed(archive: bytes) -> bytes:
    """With gzip, whose header names no time and no file."""
    return gzip.compress(archive, compresslevel=LEVEL, mtime=0)


def _piece(name: str, number: int, entry: Entry) -> bytes:
    text = name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    numbers: Iterable[int] = (
        *(number, entry.mode, 0, 0, links, 0, len(entry.data)),
        *(0, 0, *entry.device, len(text), 0),
    )
    header = MAGIC + "".join(f"{each:08X}" for each in numbers)
    return _filled(header.encode() + text) + _filled(entry.data)


def _filled(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
