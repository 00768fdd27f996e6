# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a guest sends of its events is read whole or refused, and never with a hole in it."""

from pathlib import Path
from typing import Any

import pytest

from heapwright.base.errors import HeapwrightError
from heapwright.kernel import record as recording_module
from heapwright.kernel.boot import Asked, BootOutput
from heapwright.kernel.events import (
    CacheGive,
    CacheTake,
    Fallback,
    Give,
    Mark,
    PagesGive,
    PagesTake,
    Reader,
    Take,
    events_of,
)
from heapwright.kernel.image_cache import Built
from heapwright.kernel.loads import LOADS, load_of
from heapwright.kernel.record import (
    check_clock,
    check_whole,
    early_descriptors,
    kernel_words,
    split,
)
from heapwright.kernel.records import GuestError

from .ring_pages import DIRECT, event, fields, line, page, payload, sent

BEGIN = line("begin", allocator="slub", cpus=1, load="nothing", seed=1)
END = line("end")
ALL = [
    event(1, payload("mm_page_alloc", pfn=5, order=1, migratetype=2)),
    event(1, payload("kmem_cache_alloc", call_site=9, ptr=77, bytes_req=8, bytes_alloc=16)),
    event(1, payload("kmem_cache_free", ptr=77, name="filp")),
    event(1, payload("kmalloc", ptr=78, bytes_req=50, gfp_flags=16)),
    event(1, payload("kfree", ptr=78)),
    event(1, payload("mm_page_alloc_extfrag", pfn=5)),
    event(1, payload("print", buf="heapwright 400 9000\n")),
    event(1, payload("print", buf="somebody else\n")),
    event(1, payload("mm_page_alloc", pfn=(1 << 64) - 1, order=3)),
    event(1, payload("mm_page_free", pfn=5, order=1)),
]


def test_every_event_is_read_by_the_format_that_the_guest_sent() -> None:
    records, recording = split(BEGIN + sent({0: [page(100, ALL)]}) + END, ())
    assert records.allocator == "slub"
    check_whole(recording, 8)
    assert events_of(recording) == [
        PagesTake(101, 0, 5, 1, 2),
        CacheTake(102, 0, 9, 77, 8, 16),
        CacheGive(103, 0, 77, "filp"),
        Take(104, 0, 78, 50, 16),
        Give(105, 0, 78),
        Fallback(106, 0),
        Mark(107, 0, 400, 9000),
        PagesGive(110, 0, 5, 1),
    ]


def test_events_of_several_processors_are_in_the_order_of_their_times() -> None:
    one = [page(10, [event(0, payload("kfree", ptr=1)), event(20, payload("kfree", ptr=2))])]
    two = [page(15, [event(0, payload("kfree", ptr=3))])]
    _, recording = split(BEGIN + sent({0: one, 1: two}) + END, ())
    assert events_of(recording) == [Give(10, 0, 1), Give(15, 1, 3), Give(30, 0, 2)]


def test_pages_are_not_read_as_records_whatever_is_in_them() -> None:
    evil = event(1, payload("print", buf='\n{"record":"failure"}\n'))
    records, _ = split(BEGIN + sent({0: [page(1, [evil])]}) + END, ())
    assert records.cpus == 1


def test_events_that_are_cut_off_are_a_guest_that_died() -> None:
    raw = BEGIN + sent({0: [page(1, ALL)]})
    with pytest.raises(GuestError, match="died in the middle"):
        split(raw[:-1], ("the console's end",))


def test_lost_events_are_reported_with_their_number_and_what_helps() -> None:
    _, recording = split(BEGIN + sent({0: [page(1, ALL)]}, lost=1234) + END, ())
    with pytest.raises(GuestError, match="lost 1,234 of its events") as caught:
        check_whole(recording, 24)
    assert "--buffer 48" in caught.value.hint


def test_a_kernel_that_recorded_nothing_is_reported() -> None:
    _, recording = split(BEGIN + END, ())
    with pytest.raises(GuestError, match="recorded no event"):
        check_whole(recording, 24)


def changed(event_name: str, field: str, **values: Any) -> list[dict[str, Any]]:
    return [
        each | values if (each["event"], each["name"]) == (event_name, field) else each
        for each in fields()
    ]


def test_a_kernel_whose_events_have_other_fields_is_refused_by_the_name() -> None:
    with pytest.raises(HeapwrightError, match="event kmalloc has no field bytes_req"):
        Reader(changed("kmalloc", "bytes_req", name="bytes"))
    with pytest.raises(HeapwrightError, match="event mm_page_free is laid out otherwise"):
        Reader(changed("mm_page_free", "order", size=3))
    with pytest.raises(HeapwrightError, match="event print has no field buf"):
        Reader([each for each in fields() if each["event"] != "print"])


def test_no_load_has_a_setting_that_asks_for_a_recording() -> None:
    settings = {
        name for scales in LOADS.values() for load in scales.values() for name in load.settings
    }
    assert not settings & {"recorded", "load", "seed"}


def test_the_kernel_is_asked_for_these_events_and_drops_the_newest_ones() -> None:
    words = kernel_words(24)
    assert words[0].startswith("trace_event=kmem:kmem_cache_alloc,kmem:kmem_cache_free,")
    assert words[1:] == ("trace_buf_size=24M", "trace_clock=mono", "trace_options=nooverwrite")


def test_only_the_first_buffer_existed_before_the_events_whatever_the_processors() -> None:
    assert early_descriptors(1) == 258, "1 MiB in pages with 4080 bytes of events"
    assert early_descriptors(32) == 8225


def test_several_processors_need_a_clock_that_orders_their_events() -> None:
    ticks = [Give(10_000_000, 0, 1), Give(10_000_000, 1, 2), Give(20_000_000, 0, 3)]
    with pytest.raises(GuestError, match="steps of 10 ms") as caught:
        check_clock(ticks, 4)
    assert "record again" in caught.value.hint
    check_clock([*ticks, Give(20_000_700, 1, 4)], 4)


def test_one_processor_has_its_order_without_a_clock() -> None:
    check_clock([Give(10_000_000, 0, 1), Give(20_000_000, 0, 2)], 1)
    check_clock([], 4)


@pytest.mark.parametrize("cpus", [1, 4])
def test_a_trace_has_each_descriptor_once(cpus: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel of four processors records the descriptors of the later three among its events."""
    recorded = 258 * (cpus - 1)
    events = [event(1, payload("mm_page_alloc", pfn=frame)) for frame in range(16)]
    events += [
        event(1, payload("kmalloc", ptr=DIRECT + 64 * number, bytes_req=64))
        for number in range(recorded + 1)
    ]
    events += [event(1, payload("print", buf=f"heapwright 400 {free}\n")) for free in (90, 80)]
    pages = [page(1000 * at, events[at : at + 50]) for at in range(0, len(events), 50)]
    begin = line("begin", allocator="slqb", cpus=cpus, load="nothing", seed=1)
    raw = begin + sent({0: pages}) + END
    monkeypatch.setattr(recording_module, "ran", lambda *_: (None, BootOutput(raw, ())))
    built = Built("key", "slqb", "6.1.90", "00", Path())
    asked = Asked(load_of("nothing", "small"), cpus=cpus)
    lines, _ = recording_module.record(built, asked, Path(), buffer_mib=1)
    assert sum(each.startswith("m ") for each in lines) == 258 * cpus + 1
