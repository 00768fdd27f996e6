# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Pages of a ring buffer are read as the kernel writes them, and torn ones are refused."""

import struct

import pytest

from heapwright.kernel.ring_buffer import RingError, read_pages

from .ring_pages import event, page

DATA = b"abcdefgh"


def read(pages: bytes) -> list[tuple[int, bytes]]:
    return [(time, bytes(data)) for time, data in read_pages(pages)]


def test_times_are_sums_of_what_went_by() -> None:
    pages = page(1000, [event(0, DATA), event(5, DATA[:4])]) + page(2000, [event(7, DATA)])
    assert read(pages) == [(1000, DATA), (1005, DATA[:4]), (2007, DATA)]


def test_long_waits_and_absolute_times_are_events_of_their_own() -> None:
    extend = struct.pack("<II", 30 | 3 << 5, 2)
    stamp = struct.pack("<II", 31 | 9 << 5, 4)
    events = [extend, event(1, DATA), stamp, event(1, DATA)]
    assert [time for time, _ in read(page(100, events))] == [
        100 + (2 << 27) + 3 + 1,
        (4 << 27) + 9 + 1,
    ]


def test_a_long_event_says_its_length_itself() -> None:
    long = bytes(range(200))
    assert read(page(0, [event(2, long), event(1, DATA)])) == [(2, long), (3, DATA)]


def test_returned_records_are_skipped_and_the_rest_of_a_page_is_empty() -> None:
    taken_back = struct.pack("<II", 29 | 1 << 5, 12) + b"\0" * 8
    end = struct.pack("<I", 29) + b"\xff" * 40
    assert read(page(10, [taken_back, event(1, DATA), end])) == [(11, DATA)]


@pytest.mark.parametrize(
    ("pages", "said"),
    [
        (b"\0" * 4095, "no whole pages"),
        (page(0, [event(0, DATA)], flags=1 << 31), "lost events"),
        (struct.pack("<QQ", 0, 4081) + b"\0" * 4080, "longer than a page"),
        (struct.pack("<QQI", 0, 4080, 28) + b"\0" * 3, "no whole pages"),
        (page(0, [struct.pack("<II", 0, 5000)]), "goes on behind its page"),
        (page(0, [event(0, b"\1" * 4068), struct.pack("<I", 0)]), "goes on behind its page"),
    ],
)
def test_torn_pages_are_refused(pages: bytes, said: str) -> None:
    with pytest.raises(RingError, match=said):
        read(pages)
