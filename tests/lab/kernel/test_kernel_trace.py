# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A kernel's events become a trace: whose pages are whose, which cache an object is of, what the
events do not show."""

from collections.abc import Sequence

import pytest

from heapwright.base.errors import HeapwrightError
from heapwright.kernel.events import (
    CacheGive,
    CacheTake,
    Event,
    Fallback,
    Give,
    Mark,
    PagesGive,
    PagesTake,
    Take,
)
from heapwright.kernel.kernel_trace import Block, Counts, Head, Writer, in_pieces
from heapwright.kernel.object_caches import described, general_size, reclaimable_general

from .ring_pages import DIRECT

HEAD = Head("6.1.90", "slub", "churn small seed 1", 1)
SITE = 0x10


def at(frame: int, offset: int = 0) -> int:
    return DIRECT + (frame << 12) + offset


def slab_page(time: int, frame: int) -> list[Event]:
    """A page of the object allocator's with one object that stays."""
    return [PagesTake(time, 0, frame, 0, 0), Take(time, 0, at(frame), 100, 0)]


def traced(events: Sequence[Event], head: Head = HEAD) -> tuple[list[str], list[str], Counts]:
    """Head and events of the trace, the end looked at; and what was counted."""
    writer = Writer(events, head)
    lines = list(writer.lines())
    middle = lines.index("events")
    assert lines[-1] == f"end {len(lines) - middle - 2}"
    return lines[:middle], lines[middle + 1 : -1], writer.counts


def marked(*events: Event) -> list[Event]:
    """Between two marks, with a page of slab before."""
    return [*slab_page(1, 7), Mark(10, 0, 40, 4000), *events, Mark(90, 0, 80, 3900)]


def test_time_counts_from_the_first_mark() -> None:
    events = [Fallback(3, 0), *marked(Take(20, 0, at(7, 128), 50, 0), Fallback(30, 0))]
    head, lines, _ = traced(events)
    assert head[:4] == [
        "heapwright-kernel-trace 1",
        "kernel 6.1.90 slub churn small seed 1",
        "cpus 1",
        "memory 16 1001",
    ]
    assert lines == [
        f"m 0 0 {at(7):x} 100",
        "k 1 10 0",
        f"m 10 0 {at(7, 128):x} 50",
        "k 80 20 1",
    ]


def test_the_allocators_own_pages_are_left_out_and_those_of_others_are_not() -> None:
    large: list[Event] = [
        PagesTake(20, 0, 64, 2, 0),
        Take(21, 0, at(64), 9000, 0),
        Give(22, 0, at(64)),
    ]
    other: list[Event] = [
        PagesTake(23, 0, 80, 1, 1),
        PagesGive(24, 0, 64, 2),
        PagesGive(25, 0, 80, 1),
    ]
    _, lines, counts = traced(marked(*large, *other))
    assert lines[2:-1] == [
        f"m 11 0 {at(64):x} 9000",
        f"f 12 0 {at(64):x}",
        "p 13 0 50 1 m",
        "f 15 0 50",
    ]
    assert (counts.own_blocks, counts.blocks) == (2, 1)


def test_an_object_is_of_the_cache_that_its_end_says_or_that_others_from_its_place_are_of() -> None:
    one, two = at(7, 256), at(7, 512)
    _, lines, _ = traced(
        marked(
            CacheTake(20, 0, SITE, one, 190, 192),
            CacheGive(21, 0, one, "dentry"),
            CacheTake(22, 0, SITE, two, 190, 192),
            CacheTake(23, 0, SITE + 8, at(7, 1024), 33, 40),
        )
    )
    head, _, _ = traced(marked(CacheTake(20, 0, SITE, one, 190, 192), CacheGive(21, 0, one, "x")))
    assert head[-1] == "cache 0 190 8 -- x"
    assert [line.split()[-1] for line in lines[2:-1] if line.startswith("a")] == ["0", "0", "1"]


def test_general_caches_by_their_names_are_sizes_and_reclaimable_ones_are_caches() -> None:
    events = marked(
        CacheTake(20, 0, SITE, at(7, 256), 64, 64),
        CacheGive(21, 0, at(7, 256), "kmalloc-64"),
        Take(22, 0, at(7, 512), 100, 0x10),
    )
    head, lines, _ = traced(events)
    assert head[-1] == "cache 0 128 8 -r kmalloc-rcl-128"
    assert lines[2] == f"m 10 0 {at(7, 256):x} 64"
    assert lines[4] == f"a 12 0 {at(7, 512):x} 0"


def test_an_object_without_a_free_ends_when_its_place_is_reused_or_unmapped() -> None:
    place = at(64, 128)
    _, lines, counts = traced(
        marked(
            PagesTake(20, 0, 64, 0, 0),
            Take(21, 0, place, 10, 0),
            Take(22, 0, place, 20, 0),
            PagesGive(23, 0, 64, 0),
            PagesTake(24, 0, 80, 0, 1),
            PagesTake(25, 0, 80, 0, 1),
        )
    )
    assert counts.unseen_objects == 2
    assert counts.unseen_blocks == 1
    assert [line.split()[0] for line in lines[2:-1]] == ["m", "f", "m", "f", "p", "f", "p"]


def test_earlier_objects_that_end_are_left_out_and_counted() -> None:
    events = marked(
        Give(20, 0, at(3)), Give(21, 0, 0), Give(22, 0, 16), CacheGive(23, 0, at(4), "maple_node"),
        PagesGive(24, 0, 3, 0),
    )  # fmt: skip
    _, lines, counts = traced(events)
    assert len(lines) == 3
    assert counts.unknown_objects == {"kmalloc": 1, "maple_node": 1}
    assert counts.unknown_blocks == 1


def test_a_block_that_goes_back_in_pieces_is_taken_in_these() -> None:
    _, lines, _ = traced(
        marked(PagesTake(20, 0, 64, 2, 1), PagesGive(21, 0, 66, 1), PagesGive(22, 0, 64, 0))
    )
    assert lines[2:-1] == [
        "p 10 0 40 0 m",
        "p 10 0 41 0 m",
        "p 10 0 42 1 m",
        "f 11 0 42",
        "f 12 0 40",
    ]
    assert in_pieces(Block(64, 2)) == [(64, 2)]
    assert in_pieces(Block(64, 2, pieces=[(64, 1)])) == [(64, 1), (66, 0), (67, 0)]


def test_nothing_is_taken_for_an_object_that_was_refused_or_has_no_bytes() -> None:
    _, lines, counts = traced(marked(Take(20, 0, 0, 8, 0), Take(21, 0, 16, 0, 0)))
    assert len(lines) == 3
    assert counts.objects == 1


def test_the_descriptors_of_the_recording_itself_were_there_before() -> None:
    _, lines, _ = traced(marked(), Head("6.1.90", "slub", "x", 1, descriptors=2))
    assert lines[:2] == [f"m 0 0 {(1 << 60) + number:x} 64" for number in range(2)]


def test_without_marks_or_without_slab_there_is_no_trace() -> None:
    with pytest.raises(HeapwrightError, match="no marks"):
        Writer(slab_page(1, 7), HEAD)
    with pytest.raises(HeapwrightError, match="no object"):
        Writer([Mark(1, 0, 4, 4), Take(2, 0, at(9), 8, 0), Mark(3, 0, 4, 4)], HEAD)


@pytest.mark.parametrize(
    ("seen", "align", "flags"),
    [
        (("dentry", 192, 192, "slub"), 8, "-r"),
        (("filp", 232, 256, "slub"), 32, "--"),
        (("filp", 232, 232, "slob"), 64, "--"),
        (("cred_jar", 24, 24, "slob"), 32, "--"),
        (("inode_cache", 560, 568, "slub"), 8, "cr"),
        (("inode_cache", 560, 568, "slqb"), 8, "cr"),
        (("inode_cache", 560, 560, "slab"), 8, "cr"),
        (("sock_inode_cache", 640, 704, "slub"), 64, "cr"),
        (("maple_node", 256, 256, "slab"), 8, "--"),
        (("strange", 100, 77, "slub"), 8, "--"),
        (("kmem_cache", 0, 96, "slob"), 8, "--"),
    ],
)
def test_alignment_and_flags_of_a_cache(
    seen: tuple[str, int, int, str], align: int, flags: str
) -> None:
    cache = described(*seen)
    assert (cache.align, cache.flags) == (align, flags)


def test_general_caches_have_the_kernels_sizes() -> None:
    assert general_size("kmalloc-2k") == 2048
    assert general_size("kmalloc-96") == 96
    assert general_size("kmalloc-rcl-96") is None
    assert [reclaimable_general(size)[1] for size in (1, 9, 65, 97, 129, 193, 1025)] == [
        *(8, 16, 96, 128, 192, 256, 2048)
    ]
