# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Profiles made by hand: a live curve, what the system saw, what was never freed."""

from collections.abc import Callable, Sequence

from heapwright.artefacts.profile.document import (
    CrossThreadFrees,
    Pattern,
    Peak,
    Profile,
    Provenance,
    Retention,
    Routines,
    RoutineShare,
    Site,
    Sizes,
    Totals,
)
from heapwright.artefacts.profile.series import (
    HeapPlace,
    HeapRatio,
    MostHeld,
    Phase,
    Point,
    System,
    SystemSample,
)
from support.documents import made

MIB = 1 << 20


def phases(live: Sequence[int]) -> tuple[Phase, ...]:
    """Live bytes after each of as many even steps of 1,000 calls."""
    return tuple(
        made(
            Phase,
            operation=1000 * (i + 1),
            time_s=0.01 * i,
            allocations=500,
            bytes=50_000,
            frees=500,
            live_bytes=each,
            live_objects=each // 100,
        )
        for i, each in enumerate(live)
    )


STEP_S = 0.01


def timeline(live: Sequence[int], churn: int = 0) -> tuple[Point, ...]:
    """The same at even times. What falls was freed, and what rises was allocated; in each step
    `churn` bytes are both."""
    before = (0, *live)
    return tuple(
        made(
            Point,
            time_s=STEP_S * (i + 1),
            operation=1000 * (i + 1),
            live_bytes=each,
            live_objects=each // 100,
            most_live_bytes=max(each, before[i]),
            allocated_bytes=max(each - before[i], 0) + churn,
        )
        for i, each in enumerate(live)
    )


def sample(
    time: float,
    live: int,
    heap: int,
    *,
    other: int = 4 * MIB,
    lazy: int = 0,
    code: int | None = None,
) -> SystemSample:
    """What the system saw: so much live, so much resident in heaps."""
    return SystemSample(
        time_s=time,
        live_bytes=live,
        waste_bytes=0,
        held_bytes=max(heap - live, 0),
        lazy_bytes=lazy,
        other_bytes=other,
        code_bytes=code,
        heap_mapped_bytes=heap,
        heap_resident_bytes=heap,
        resident_bytes=heap + other,
    )


def place(
    resident: int = 0, usable: int = 0, free_top: int = 0, mappings: int = 1, **more: int
) -> HeapPlace:
    return HeapPlace(
        mappings=mappings,
        mapped_bytes=resident,
        resident_bytes=resident,
        usable_bytes=usable,
        free_top_bytes=free_top,
        **more,
    )


def system(
    samples: Sequence[SystemSample],
    objects: Sequence[str] = (),
    most_held: MostHeld | None = None,
) -> System:
    return System(
        samples=tuple(samples),
        a_over_u=HeapRatio(peak=None, at_end=None),
        most_held=most_held,
        objects=tuple(objects),
    )


MOMENTS = 40
"""Of the sites, over the whole run."""


def site(
    stack: int,
    *,
    allocations: int,
    short: int,
    never_freed: int,
    size: int = 100,
    live: Callable[[float], float] | None = None,
) -> Site:
    """`live` gives the site's live bytes at a part of the run, from 0 to 1."""
    course = () if live is None else tuple(int(live((i + 1) / MOMENTS)) for i in range(MOMENTS))
    return Site(
        process=0,
        stack=stack,
        frames=("operator new(unsigned long)", f"make_{stack} (file.cpp:{stack})", "main"),
        allocations=allocations,
        bytes=allocations * size,
        short=short,
        never_freed=never_freed,
        never_freed_bytes=never_freed * size,
        live_over_time=course,
    )


def profile(
    live: Sequence[int],
    *,
    seen: System | None = None,
    never_freed_bytes: int = 0,
    sites: Sequence[Site] = (),
    command: Sequence[str] = (),
    objects_of: int = 100,
    churn: int = 0,
) -> Profile:
    """A profile whose live memory went as `live` says."""
    none = RoutineShare(count=0, share=0, bytes=0)
    most = max(live, default=0)
    return made(
        Profile,
        provenance=Provenance(duration_s=1, events=1000 * len(live), command=tuple(command)),
        totals=made(
            Totals,
            allocations=500 * len(live),
            bytes=50_000 * len(live),
            mean_bytes=100,
            frees=500 * len(live),
            never_freed=never_freed_bytes // 100,
            never_freed_bytes=never_freed_bytes,
        ),
        sizes=Sizes(distinct=1, top10_share=1, top=(), cumulative=(), histogram=()),
        routines=Routines(malloc=none, calloc=none, realloc=none, aligned=none),
        retention=made(Retention, short=1, short_count=1),
        pattern=Pattern.model_validate({"class": None, "rule": "none", "long_lived": ()}),
        peak_live_bytes=most,
        peak_live_objects=most // 100,
        peak=Peak(time_s=0, operation=0, live_bytes=most, live_objects=most // objects_of),
        timeline=timeline(live, churn),
        site_times_s=tuple(STEP_S * len(live) * (i + 1) / MOMENTS for i in range(MOMENTS)),
        cross_thread_frees=CrossThreadFrees(count=0, share=0),
        phases=phases(live),
        system=seen,
        sites=tuple(sites),
    )
