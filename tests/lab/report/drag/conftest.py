# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A made-up drag whose every figure is given: two sites, a name to escape, a child."""

import pytest

from heapwright.artefacts.drag.document import (
    Curves,
    Drag,
    Oddities,
    OtherSites,
    Peak,
    Provenance,
    Site,
    Some,
)

KIB = 1 << 10


def site(frames: tuple[str, ...], drag: int, share: float, objects: int = 10) -> Site:
    return Site(
        frames=frames,
        objects=objects,
        bytes=100 * objects,
        never_freed=Some(objects=1, bytes=100),
        never_accessed=Some(),
        held_area=drag + 1000,
        needed_area=1000,
        drag_area=drag,
        share=share,
        idle_bytes=drag / (100 * objects),
    )


@pytest.fixture
def drag() -> Drag:
    points = range(0, 64 * KIB, 4 * KIB)
    return Drag(
        provenance=Provenance(
            heapwright_version="0.1.0",
            command=("./program", "<b>"),
            means="valgrind",
            began="2026-01-01T00:00:00+00:00",
            seconds=2.5,
            exit_status=0,
            children=2,
            threads=1,
        ),
        total_drag=3.34,
        peak_increase=1.63,
        allocated_bytes=64 * KIB,
        objects=1234,
        held_area=334_000_000,
        needed_area=100_000_000,
        peak_held=Peak(bytes=163 * 100, at=60 * KIB),
        peak_needed=Peak(bytes=100 * 100, at=30 * KIB),
        never_freed=Some(objects=2, bytes=200),
        never_accessed=Some(objects=3, bytes=300),
        curves=Curves(
            allocated=tuple(points),
            held=tuple(at // 4 for at in points),
            needed=tuple(at // 8 for at in points),
        ),
        sites=(
            site(("malloc", "xmalloc (x.c:1)", "parse<int> (p.cpp:7)", "main (p.cpp:9)"), 900, 0.9),
            site(("grow (g.c:3)",), 100, 0.1),
            site(("prompt (g.c:4)",), 0, 0.0),
        ),
        other_sites=OtherSites(sites=4, objects=9, bytes=90, held_area=1, needed_area=1),
        oddities=Oddities(unknown_frees=1),
    )


@pytest.fixture
def nothing(drag: Drag) -> Drag:
    """Of a program that allocated nothing."""
    return drag.model_copy(
        update={
            "total_drag": None,
            "peak_increase": None,
            "allocated_bytes": 0,
            "objects": 0,
            "held_area": 0,
            "needed_area": 0,
            "peak_held": Peak(bytes=0, at=0),
            "peak_needed": Peak(bytes=0, at=0),
            "curves": Curves(allocated=(), held=(), needed=()),
            "sites": (),
        }
    )
