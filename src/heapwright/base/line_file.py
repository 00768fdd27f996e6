# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Files that grow by a line at a time, and are whole up to their last line after any end of a
writer.

They are open for appending, and have one writer.
"""

import errno
import os

BLOCK = 1 << 16


def append_line(descriptor: int, text: str) -> None:
    """Write one line, whole or not at all. Raises OSError."""
    data = text.encode("utf-8", "backslashreplace") + b"\n"
    written = os.write(descriptor, data)
    if written != len(data):
        os.ftruncate(descriptor, os.fstat(descriptor).st_size - written)
        raise OSError(errno.ENOSPC, "no space left on the device")


def cut_torn_line(descriptor: int) -> None:
    """Cut off what stands behind the last end of a line, in a file that can be read as well."""
    size = os.fstat(descriptor).st_size
    end = size
    while end > 0:
        begin = max(0, end - BLOCK)
        place = os.pread(descriptor, end - begin, begin).rfind(b"\n")
        if place >= 0:
            end = begin + place + 1
            break
        end = begin
    if end < size:
        os.ftruncate(descriptor, end)
