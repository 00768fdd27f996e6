# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The verdict on heaps made by hand."""

from typing import Any

import pytest

from heapwright.artefacts.look.document import (
    Arena,
    Blocks,
    Category,
    Counters,
    Foreign,
    Glibc,
    Kind,
    Leaks,
    LostGroup,
    Parameters,
    Verdict,
)
from heapwright.look.verdict import Seen, judge

MIB = 1 << 20


def arena(live: int, resident: int, *, is_main: bool = True, **more: Any) -> Arena:
    """An arena with one heap. Sizes are in MiB."""
    values: dict[str, Any] = {
        "address": 1,
        "is_main": is_main,
        "is_locked": False,
        "threads": 1,
        "heaps": 1,
        "system_bytes": resident * MIB,
        "resident_bytes": resident * MIB,
        "live": Blocks(blocks=live * 1000, bytes=live * MIB),
        "cached": Blocks(),
        "fast": Blocks(),
        "free": Blocks(),
        "free_page_bytes": 0,
        "top_bytes": 0,
        "top_resident_bytes": 0,
        "released_bytes": 0,
        "lost_bytes": 0,
        "repeats": 0,
    }
    return Arena(**(values | more))


def verdict(
    *arenas: Arena,
    elsewhere: int = 0,
    trim_threshold: int = 128 << 10,
    leaks: Leaks | None = None,
    allocator: str = "glibc",
    environment: dict[str, str] | None = None,
    pid: int | None = None,
    missing: int = 0,
    foreign: Foreign | None = None,
    contained: str = "",
) -> Verdict:
    glibc = Glibc(
        path="/libc.so.6",
        is_whole=True,
        parameters=Parameters(
            trim_threshold=trim_threshold,
            mmap_threshold=trim_threshold,
            arena_max=0,
            is_threshold_fixed=False,
            top_pad=0,
            tcache_count=7,
            mmaps=0,
            mmapped_bytes=0,
        ),
        arenas=arenas,
        mapped=Blocks(),
        mapped_resident_bytes=0,
        thread_caches=1,
    )
    sums = {
        "heap": sum(each.resident_bytes for each in arenas if each.is_main),
        "arenas": sum(each.resident_bytes for each in arenas if not each.is_main),
        "anonymous": elsewhere * MIB,
    }
    categories = tuple(
        Category(
            name=name,
            mappings=1,
            bytes=size,
            resident_bytes=size,
            swapped_bytes=0,
            lazy_free_bytes=0,
        )
        for name, size in sums.items()
    )
    return judge(
        Seen(
            categories,
            allocator,
            glibc if arenas else None,
            None,
            leaks,
            environment or {},
            pid=pid,
            missing_bytes=missing,
            foreign=foreign,
            contained=contained,
        )
    )


def test_a_heap_of_live_blocks_is_live() -> None:
    found = verdict(arena(90, 100))
    assert found.kind is Kind.LIVE
    assert "90.0 MiB of the 100.0 MiB" in found.sentence


def test_a_free_top_below_a_risen_threshold_is_retention_with_that_setting() -> None:
    top: dict[str, Any] = {"released_bytes": 70 * MIB, "top_resident_bytes": 70 * MIB}
    found = verdict(arena(20, 100, **top), trim_threshold=64 * MIB)
    assert found.kind is Kind.RETENTION
    assert "MALLOC_TRIM_THRESHOLD_=131072" in found.remedy
    assert "malloc_trim(0) would release 70.0 MiB" in found.sentence


def test_free_pages_below_live_blocks_need_a_trim() -> None:
    found = verdict(arena(20, 100, released_bytes=70 * MIB))
    assert found.kind is Kind.RETENTION
    assert found.remedy.startswith("Call malloc_trim(0)")


def test_free_memory_in_many_arenas_asks_for_fewer() -> None:
    others = [arena(1, 20, is_main=False, top_resident_bytes=18 * MIB) for _ in range(6)]
    found = verdict(arena(10, 12), *others)
    assert found.kind is Kind.RETENTION
    assert "MALLOC_ARENA_MAX=2" in found.remedy
    already = verdict(arena(10, 12), *others, environment={"MALLOC_ARENA_MAX": "2"})
    assert "MALLOC_ARENA_MAX" not in already.remedy


def test_free_pieces_beside_live_blocks_are_fragmentation() -> None:
    found = verdict(arena(40, 100, released_bytes=5 * MIB))
    assert found.kind is Kind.FRAGMENTATION
    assert "55.0 MiB of it lie on pages with live blocks" in found.sentence


def test_blocks_in_caches_name_the_tunable() -> None:
    cached = Blocks(blocks=50_000, bytes=50 * MIB)
    found = verdict(arena(40, 100, cached=cached))
    assert "glibc.malloc.tcache_count=0" in found.remedy


def test_lost_blocks_come_first() -> None:
    group = LostGroup(
        block_bytes=200, blocks=9, bytes=20 * MIB, example=4096, first_word=0, object=""
    )
    leaks = Leaks(
        is_complete=True,
        searched_blocks=1000,
        searched_bytes=90 * MIB,
        blocks=9,
        bytes=20 * MIB,
        groups=(group,),
    )
    found = verdict(arena(90, 100), leaks=leaks)
    assert found.kind is Kind.LEAK
    assert "20.0 MiB in 9 blocks" in found.sentence


def test_memory_outside_of_the_heap_is_elsewhere() -> None:
    found = verdict(arena(9, 10), elsewhere=300)
    assert found.kind is Kind.ELSEWHERE
    assert "300.0 MiB are other anonymous memory" in found.sentence
    assert "mremap COMMAND`" in found.remedy
    assert "mremap -p 4711`" in verdict(arena(9, 10), elsewhere=300, pid=4711).remedy


@pytest.mark.parametrize(("elsewhere", "kind"), [(4, Kind.LIVE), (5, Kind.ELSEWHERE)])
def test_less_than_4_mib_outside_of_the_heap_is_live(elsewhere: int, kind: Kind) -> None:
    assert verdict(arena(1, 1), elsewhere=elsewhere).kind is kind


def bounds(most: int, lazy: int = 0) -> Foreign:
    """What another allocator has, in MiB."""
    return Foreign(file="/x.so", most_resident_bytes=most * MIB, lazy_free_bytes=lazy * MIB)


@pytest.mark.parametrize("name", ["jemalloc", "mimalloc", "hoard", "tcmalloc"])
def test_another_allocator_is_named_with_its_bound(name: str) -> None:
    found = verdict(elsewhere=100, allocator=name, foreign=bounds(90))
    assert found.kind is Kind.UNKNOWN
    assert f"{name} serves malloc and has at most 90.0 MiB of the 100.0 MiB" in found.sentence
    assert "may take" not in found.sentence
    assert found.remedy


def test_memory_that_the_system_may_take_is_named() -> None:
    found = verdict(elsewhere=100, allocator="jemalloc", foreign=bounds(90, lazy=7))
    assert "of which the system may take 7.0 MiB that are free;" in found.sentence


def test_the_counters_of_another_allocator_have_a_call_in_a_process() -> None:
    found = verdict(elsewhere=9, allocator="jemalloc", foreign=bounds(9), pid=4711)
    assert "gdb -p 4711 --batch -ex 'call (void)malloc_stats_print(0, 0, 0)'" in found.remedy
    assert "MALLOC_CONF=stats_print:true" in found.remedy
    assert "gdb" not in verdict(elsewhere=9, allocator="jemalloc", foreign=bounds(9)).remedy


def test_memory_outside_of_another_allocator_is_elsewhere() -> None:
    found = verdict(elsewhere=100, allocator="jemalloc", foreign=bounds(40))
    assert found.kind is Kind.ELSEWHERE
    assert "at least 60.0 MiB of the 100.0 MiB resident are outside of jemalloc's" in found.sentence


def test_memory_elsewhere_may_belong_to_an_allocator_in_the_program() -> None:
    found = verdict(arena(9, 10), elsewhere=300, contained="mimalloc")
    assert found.kind is Kind.ELSEWHERE
    assert found.remedy.startswith("The program contains mimalloc beside glibc's malloc. ")
    assert "MIMALLOC_SHOW_STATS=1" in found.remedy


def test_a_program_without_a_heap_of_glibc_is_unknown() -> None:
    found = verdict(elsewhere=50)
    assert found.kind is Kind.UNKNOWN
    assert "another C library" in found.remedy


def test_a_core_without_its_heap_is_called_truncated() -> None:
    found = verdict(elsewhere=50, missing=MIB)
    assert found.kind is Kind.UNKNOWN
    assert "truncated before the heap" in found.remedy
    assert "another C library" not in found.remedy


@pytest.mark.parametrize(
    ("live", "free", "resident", "kind"),
    [
        (80, 5, 90, Kind.LIVE),
        (30, 50, 90, Kind.FRAGMENTATION),
        (30, 5, 90, Kind.RETENTION),
        (30, 5, 40, Kind.ELSEWHERE),
        (200, 5, 90, Kind.LIVE),  # untouched blocks
    ],
)
def test_counters_of_another_allocator_decide(
    live: int, free: int, resident: int, kind: Kind
) -> None:
    counters = Counters(
        version="2.0.9",
        live=Blocks(blocks=3, bytes=live * MIB),
        free_bytes=free * MIB,
        resident_bytes=resident * MIB,
    )
    counted = bounds(95).model_copy(update={"counters": counters})
    found = verdict(elsewhere=100, allocator="mimalloc", foreign=counted)
    assert found.kind is kind
    assert f"mimalloc 2.0.9 has {live}.0 MiB in 3 live blocks" in found.sentence
