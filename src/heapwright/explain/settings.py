# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What makes an allocator give memory back, for the one in use and for where it holds it.

The variables are those that the allocators document: glibc's mallopt(3), jemalloc's MALLOC_CONF
(5.x), gperftools' TCMALLOC_*, mimalloc 2's options. An allocator without such a setting is said to
have none; then a call in the program, or another allocator, is what helps.
"""

from collections.abc import Callable, Iterable
from pathlib import PurePosixPath

from heapwright.artefacts.explanation.document import Setting
from heapwright.artefacts.profile.series import HeapPlace, MostHeld

GLIBC = "glibc"
MMAP_THRESHOLD = 128 * 1024
"""What glibc begins with; it moves up to 32 MiB as blocks of that size are freed."""
MORE_THAN_NEEDED = 1.5
"""Of what was live at most: so much in arenas would not be there in one."""
OURS = "libheapwright-"
NOT_ALLOCATORS = ("recorder", "hold", "witness", "marks", "region", "xalloc", "obstack")


def allocator_in_use(objects: Iterable[str]) -> str:
    """The allocator that the mapped files tell of; the C library's own where none does."""
    for path in objects:
        name = PurePosixPath(path).name
        if name.startswith(OURS):
            ours = name.removeprefix(OURS).split(".so")[0]
            if ours not in NOT_ALLOCATORS:
                return ours
        for known in ("jemalloc", "tcmalloc", "mimalloc", "tbbmalloc"):
            if known in name:
                return known
    return GLIBC


def setting_for(
    allocator: str, most_held: MostHeld | None, *, peak_live: int = 0, large_share: float = 0.0
) -> Setting:
    """The setting that helps `allocator` with what it held. `peak_live` is the most that was live
    at once, `large_share` the share of the bytes that came in blocks of `MMAP_THRESHOLD` or more.
    """
    if allocator == GLIBC:
        return _glibc(most_held, peak_live, large_share)
    advise = _OTHERS.get(allocator)
    if advise is not None:
        return advise()
    return Setting(
        allocator=allocator,
        why="it has no setting for that; `heapwright compare` shows which allocators hold less",
    )


def _held(place: HeapPlace) -> int:
    return max(place.resident_bytes - place.usable_bytes, 0)


def _glibc(most_held: MostHeld | None, peak_live: int, large_share: float) -> Setting:
    if most_held is None:
        return _trim("free memory at the top of the heap then goes back at once")
    in_arenas = _held(most_held.arenas)
    in_break = _held(most_held.program_break)
    held = in_arenas + in_break
    free_top = sum(
        min(place.free_top_bytes, _held(place))
        for place in (most_held.program_break, most_held.arenas)
    )
    if free_top >= held / 2:
        return _trim(
            "most of it is free at the top of the heap, below a threshold that has risen with "
            "the blocks freed"
        )
    if in_arenas > in_break and held >= MORE_THAN_NEEDED * peak_live:
        return Setting(
            allocator=GLIBC,
            assignments={"MALLOC_ARENA_MAX": "1"},
            why=f"it is spread over {most_held.arenas.mappings} regions of the threads' arenas, "
            "more than was ever live at once; in one arena the threads use again what others have "
            "freed",
        )
    if large_share >= 0.5:
        return Setting(
            allocator=GLIBC,
            assignments={"MALLOC_MMAP_THRESHOLD_": str(MMAP_THRESHOLD)},
            why="most of it was large blocks; with a threshold that stays, each is mapped by "
            "itself and goes back when it is freed",
        )
    return Setting(
        allocator=GLIBC,
        why="it lies in holes between live blocks, which no setting returns: call malloc_trim(0) "
        "after the program has freed much, or take an allocator that returns pages from the "
        "middle (`heapwright compare`)",
    )


def _trim(why: str) -> Setting:
    return Setting(
        allocator=GLIBC, assignments={"MALLOC_TRIM_THRESHOLD_": str(MMAP_THRESHOLD)}, why=why
    )


def _jemalloc() -> Setting:
    return Setting(
        allocator="jemalloc",
        assignments={"MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0"},
        why="it keeps freed pages for ten seconds and more before they go back",
    )


def _tcmalloc() -> Setting:
    return Setting(
        allocator="tcmalloc",
        assignments={"TCMALLOC_AGGRESSIVE_DECOMMIT": "1"},
        why="it returns freed spans only slowly",
    )


def _mimalloc() -> Setting:
    return Setting(
        allocator="mimalloc",
        assignments={"MIMALLOC_DECOMMIT_DELAY": "0", "MIMALLOC_PAGE_RESET": "1"},
        why="it waits before it returns freed pages",
    )


_OTHERS: dict[str, Callable[[], Setting]] = {
    "jemalloc": _jemalloc,
    "tcmalloc": _tcmalloc,
    "mimalloc": _mimalloc,
}
