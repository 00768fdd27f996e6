# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A made-up profile whose every figure is given: threads, a leak, a hole, a name to escape."""

import pytest

from heapwright.artefacts.profile.calls import Call, Calls, CodeObject, Function
from heapwright.artefacts.profile.document import (
    CrossThreadFrees,
    Fault,
    Pattern,
    Peak,
    Profile,
    Provenance,
    Reallocs,
    Retention,
    RetentionBucket,
    RoutineDetail,
    Routines,
    RoutineShare,
    Site,
    SizeBucket,
    SizeCount,
    Sizes,
    Thread,
    Totals,
)
from heapwright.artefacts.profile.series import (
    HeapMap,
    HeapRatio,
    HeapRow,
    Point,
    SizeOverTime,
    System,
    SystemSample,
)
from support.documents import made

KIB, MIB = 1 << 10, 1 << 20
POINTS = 21
SIZES = ((24, 600), (64, 250), (512, 100), (4096, 40), (100_000, 10))
"""Sizes and how many allocations of each: 1,000 in all."""
BYTES = sum(size * count for size, count in SIZES)


def timeline() -> tuple[Point, ...]:
    """Live memory rises to 1 MiB half way, and falls to a quarter of that."""
    points = []
    for at in range(POINTS):
        live = MIB * at // 10 if at <= 10 else MIB - (MIB * 3 // 4) * (at - 10) // 10
        points.append(
            Point(
                time_s=at / 10,
                operation=100 * at,
                live_bytes=live,
                live_objects=live // KIB,
                usable_bytes=live + live // 8,
                most_live_bytes=live,
                allocated_bytes=BYTES // POINTS,
            )
        )
    return tuple(points)


def sizes() -> Sizes:
    cumulative, below = [], 0
    for size, count in SIZES:
        below += count
        cumulative.append((size, below / 1000))
    return Sizes(
        distinct=len(SIZES),
        top10_share=1,
        top=tuple(
            SizeCount(size=size, count=count, share=count / 1000, bytes=size * count)
            for size, count in SIZES
        ),
        cumulative=tuple(cumulative),
        histogram=tuple(
            SizeBucket(low=high // 2, high=high, count=count, bytes=size * count)
            for (size, count), high in zip(SIZES, (32, 64, 512, 4096, 131072), strict=True)
        ),
        over_time=tuple(
            SizeOverTime(
                size=size,
                allocations=tuple(count * at // POINTS for at in range(POINTS)),
                live=(None, *(count * at // POINTS // 2 for at in range(1, POINTS))),
            )
            for size, count in SIZES
        ),
    )


def routines() -> Routines:
    def share(count: int) -> RoutineShare:
        return RoutineShare(count=count, share=count / 1000, bytes=100 * count)

    return Routines(
        malloc=share(800),
        calloc=share(100),
        realloc=share(90),
        aligned=share(10),
        detail={
            "malloc": RoutineDetail(calls=700, bytes=70_000),
            "operator new": RoutineDetail(calls=100, bytes=10_000),
            "calloc": RoutineDetail(calls=101, bytes=10_000, failed=1),
        },
        reallocs=Reallocs(of_null=10, grown_in_place=20, moved=60, shrunk_in_place=5),
    )


def retention() -> Retention:
    buckets = ((0, 1e-6, 300), (1e-6, 1e-3, 400), (1e-3, 0.1, 50), (0.1, 1, 100), (1, 10, 100))
    return Retention(
        short=0.75,
        medium=0.1,
        long=0.15,
        short_count=750,
        medium_count=100,
        long_count=150,
        never_freed_share=0.05,
        distribution=tuple(
            RetentionBucket(low_s=low, high_s=high, count=count, bytes=1000 * count)
            for low, high, count in buckets
        ),
    )


def heap_map() -> HeapMap:
    """Two regions; in the lower one a row is emptied half way, and one is used late."""
    rows = [HeapRow(start=0x10000 + 4096 * at, bytes=4096) for at in range(4)]
    rows += [HeapRow(start=0x7F0000000000 + 65536 * at, bytes=65536) for at in range(2)]
    full, emptied = (1.0,) * 8, (0.5,) * 4 + (0.0,) * 4
    late, scarce = (0.0,) * 6 + (1.0, 1.0), (0.001,) * 8
    return HeapMap(
        times_s=tuple(at / 4 for at in range(8)),
        rows=tuple(rows),
        cells=(full, emptied, full, late, full, scarce),
    )


def system() -> System:
    return System(
        samples=tuple(
            SystemSample(
                time_s=point.time_s,
                live_bytes=point.live_bytes,
                waste_bytes=point.live_bytes // 8,
                held_bytes=MIB // 4,
                other_bytes=2 * MIB,
                heap_mapped_bytes=2 * MIB,
                heap_resident_bytes=point.live_bytes + point.live_bytes // 8 + MIB // 4,
                resident_bytes=4 * MIB,
            )
            for point in timeline()
        ),
        a_over_u=HeapRatio(peak=2.0, at_end=8.0),
    )


def threads() -> tuple[Thread, ...]:
    return tuple(
        Thread(
            thread=at,
            process=0,
            allocations=allocations,
            bytes=100 * allocations,
            frees=300,
            freed_elsewhere=elsewhere,
            freed_of_others=others,
            started_s=0.1 * at,
            ended_s=2,
        )
        for at, allocations, elsewhere, others in (
            (0, 700, 120, 3),
            (1, 200, 3, 100),
            (2, 100, 0, 20),
        )
    )


def sites() -> tuple[Site, ...]:
    leak = ("operator new(unsigned long)", "std::vector<int>::grow()", "leak<b>()", "main")
    fine = ("malloc", "read_file", "main")
    return (
        made(Site, stack=7, frames=fine, allocations=900, bytes=900_000, short=700),
        Site(
            process=0,
            stack=9,
            frames=leak,
            allocations=100,
            bytes=BYTES - 900_000,
            short=50,
            never_freed=50,
            never_freed_bytes=MIB // 4,
            at_peak=40,
            at_peak_bytes=200_000,
            call=2,
            live_over_time=(100_000, 200_000, 150_000),
        ),
    )


def calls() -> Calls:
    """main calls leak from two lines, and something without a name; main is inlined into start."""
    return Calls(
        objects=(CodeObject(path="/usr/bin/program"), CodeObject(path="/lib/libx.so.1")),
        nodes=(
            Call(0, 0, 0, 1000, 900_000, 50, 5_000),
            Call(0, 0, 0x10, 1000, 900_000, 50, 5_000),
            Call(1, 0, 0x20, 300, 100_000, 30, 3_000),
            Call(1, 0, 0x28, 200, 200_000, 20, 2_000),
            Call(1, 1, 0xABC, 100, 500_000, 0, 0),
            Call(2, 3, 0, 10, 1_000, 0, 0),
        ),
        functions=(Function(name="start"), Function(name="main"), Function(name="leak<b>()")),
        frames=((), (0, 1), (2,), (2,), (), ()),
    )


@pytest.fixture
def profile() -> Profile:
    return Profile(
        heapwright_version="0",
        provenance=Provenance(
            trace="p.trace",
            command=("program", "--of=<b>"),
            began="2026-01-02T03:04:05Z",
            duration_s=2,
            events=2000,
            stacks=True,
            faults=(Fault(offset=4096, what="a block's checksum is wrong"),),
        ),
        totals=Totals(
            allocations=1000,
            bytes=BYTES,
            mean_bytes=BYTES / 1000,
            frees=960,
            null_frees=10,
            null_free_share=10 / 960,
            never_freed=50,
            never_freed_bytes=MIB // 4,
            failed=1,
            unknown_frees=2,
            freed_bytes=BYTES - MIB // 4,
        ),
        sizes=sizes(),
        routines=routines(),
        retention=retention(),
        pattern=Pattern(
            kind="growing",
            rule="no third of the operations made three quarters of them",
            long_lived=tuple((100 * at, 7 * at) for at in range(POINTS)),
            step=100,
        ),
        peak_live_bytes=MIB,
        site_times_s=(0.5, 1.0, 1.5),
        peak_live_objects=KIB,
        peak=Peak(
            time_s=1, operation=1000, live_bytes=MIB, live_objects=KIB, usable_bytes=MIB + MIB // 8
        ),
        timeline=timeline(),
        threads=threads(),
        cross_thread_frees=CrossThreadFrees(
            count=123, share=0.13, pairs=((0, 1, 100), (0, 2, 20), (1, 0, 3))
        ),
        heap_map=heap_map(),
        system=system(),
        sites=sites(),
        calls=calls(),
    )
