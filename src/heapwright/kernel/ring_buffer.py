# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the pages of a kernel's ring buffer: events with their times.

A page has 16 bytes of head. They hold the time of its first event, and the number of bytes of
events that follow. Two flags above the number state that events were lost before it. An event has 4
bytes of head, 5 bits of type and 27 of nanoseconds since the event before it. After
include/linux/ring_buffer.h and kernel/trace/ring_buffer.c of Linux 6.1. Cost: a few microseconds an
event.
"""

import struct
from collections.abc import Iterator

from heapwright.base.errors import HeapwrightError

PAGE = 4096
HEAD = struct.Struct("<QQ")
WORD = struct.Struct("<I")
LENGTH = (1 << 27) - 1
MISSED = 1 << 31
DELTA_BITS = 27
TIME_BITS = 59
KINDS = 31
BEHIND = "an event of the ring buffer goes on behind its page"
LONGEST_SHORT, PADDING, TIME_EXTEND, TIME_STAMP = 28, 29, 30, 31


class RingError(HeapwrightError):
    """Pages that are none, or that lack events."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "record again: the guest's events cannot be read")


def read_pages(pages: bytes) -> Iterator[tuple[int, memoryview]]:
    """Nanoseconds and bytes of each event, in their order. Raises RingError."""
    if len(pages) % PAGE != 0:
        raise RingError(f"{len(pages)} bytes of the ring buffer are no whole pages")
    whole = memoryview(pages)
    for start in range(0, len(pages), PAGE):
        yield from _read_page(whole[start : start + PAGE])


def _read_page(page: memoryview) -> Iterator[tuple[int, memoryview]]:
    time, commit = HEAD.unpack_from(page)
    if commit & MISSED:
        raise RingError("the ring buffer lost events in the middle")
    at, end = HEAD.size, HEAD.size + (commit & LENGTH)
    if end > PAGE:
        raise RingError("a page of the ring buffer says that it is longer than a page")
    while at < end:
        head = _word(page, at)
        kind, delta = head & KINDS, head >> 5
        if 0 < kind <= LONGEST_SHORT:
            data, at = at + 4, at + 4 + 4 * kind
        elif kind in {TIME_EXTEND, TIME_STAMP}:
            wide = _word(page, at + 4) << DELTA_BITS | delta
            kept = time >> TIME_BITS << TIME_BITS
            time, at = (time + wide if kind == TIME_EXTEND else kept | wide), at + 8
            continue
        elif kind == PADDING and delta == 0:
            return
        else:
            data, at = at + 8, at + 4 + _word(page, at + 4)
        if at > PAGE:
            raise RingError(BEHIND)
        if kind != PADDING:  # which is an event that was taken back
            time += delta
            yield time, page[data:at]


def _word(page: memoryview, at: int) -> int:
    if at + WORD.size > PAGE:
        raise RingError(BEHIND)
    (word,) = WORD.unpack_from(page, at)
    return int(word)
