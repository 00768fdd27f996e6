# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The settings that let an allocator return memory, for the allocator in use and the place of the
held memory.

The variables are those that the allocators document: glibc's mallopt(3), jemalloc's MALLOC_CONF
(5.x), gperftools' TCMALLOC_*, mimalloc 2's options. For an allocator without such a setting, the
advice is a call in the program or another allocator.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from heapwright.artefacts.explanation.document import Setting
from heapwright.artefacts.profile.series import HeapPlace, MostHeld
from heapwright.artefacts.run.allocator_settings import TUNABLES, beside_what_is_set, is_in_force
from heapwright.artefacts.run.serving import GLIBC

MMAP_THRESHOLD = 128 * 1024
"""glibc's initial threshold. It rises up to 32 MiB as blocks of that size are freed."""
MORE_THAN_NEEDED = 1.5
"""Share of peak live memory. More than this in arenas would not remain in one arena."""
MANY_ARENAS = 4
KEPT_IN_ARENA = 384 * 1024
"""Bytes. glibc keeps 128 KiB at the top of an arena, and trims when there are 128 KiB more. Free
memory between live blocks is additional."""
KEPT_AT_TOP = 256 * 1024
"""Bytes. What stays free at the top of an arena with the initial trim threshold."""
NO_FASTBINS = "glibc.malloc.mxfast=0"
NO_TCACHE = "glibc.malloc.tcache_count=0"


@dataclass(frozen=True, slots=True)
class Use:
    """The memory of a program and the places of its heap."""

    peak_live: int = 0
    """The most bytes that were live at once."""
    large_share: float = 0.0
    """Of the bytes: what came in blocks of `MMAP_THRESHOLD` or more."""
    held_late: int | None = None
    """Memory that the allocator held late in the run; None: unknown."""


def setting_for(
    allocator: str,
    most_held: MostHeld | None,
    use: Use | None = None,
    environment: Mapping[str, str] | None = None,
) -> Setting:
    """The setting that helps `allocator` with what it held. A setting that is in `environment` did
    not help, so the next one is taken."""
    given = environment or {}
    if allocator == GLIBC:
        choices = _glibc(most_held, use or Use())
    else:
        choices = _others(allocator, most_held)
    taken = [each for each in choices if each.assignments and _in_force(each, given)]
    found = next(each for each in choices if each not in taken)
    assignments = {
        name: beside_what_is_set(name, value, given) for name, value in found.assignments.items()
    }
    already = " and ".join(" ".join(each.assignments) for each in taken)
    why = f"{found.why} ({already} is set already, and is not enough)" if already else found.why
    return found.model_copy(update={"assignments": assignments, "why": why})


def _in_force(setting: Setting, environment: Mapping[str, str]) -> bool:
    return all(is_in_force(name, value, environment) for name, value in setting.assignments.items())


def _others(allocator: str, most_held: MostHeld | None) -> list[Setting]:
    """A setting returns the spans without a live block, and no others."""
    advise = _OTHERS.get(allocator)
    if advise is None:
        return [_none(allocator)]
    places = () if most_held is None else _places(most_held)
    held = sum(map(_held, places))
    if 2 * sum(map(_unpinned, places)) < held:
        return [
            Setting(
                allocator=allocator,
                why="it lies between live blocks, in spans that no setting returns while one block "
                "in them is live; `heapwright compare` shows which allocators hold less",
            )
        ]
    return [advise(), _none(allocator)]


def _places(most_held: MostHeld) -> tuple[HeapPlace, ...]:
    return most_held.program_break, most_held.arenas, most_held.mapped


def _unpinned(place: HeapPlace) -> int:
    """Bytes that a setting may return."""
    if place.pinned_bytes is None:
        return _held(place)
    return max(place.resident_bytes - place.pinned_bytes, 0)


def _none(allocator: str) -> Setting:
    return Setting(
        allocator=allocator,
        why="it has no setting for that; `heapwright compare` shows which allocators hold less",
    )


def _held(place: HeapPlace) -> int:
    return max(place.resident_bytes - place.usable_bytes, 0)


def _glibc(most_held: MostHeld | None, use: Use) -> list[Setting]:
    """The remedies, the best first; the last one is no setting."""
    if most_held is None:
        return [_trim("free memory at the top of the heap is then returned at once"), _HOLES]
    in_arenas = _held(most_held.arenas)
    in_break = _held(most_held.program_break)
    held = in_arenas + in_break
    number = most_held.arenas.mappings
    stays = in_arenas if use.held_late is None else min(in_arenas, use.held_late)
    scattered = number >= MANY_ARENAS and stays <= number * KEPT_IN_ARENA
    choices: list[Setting] = []
    if in_arenas > in_break and scattered:
        choices.append(
            _one_arena(
                f"it is spread over the arenas of {number} threads; the top of each keeps up to "
                "256 KiB, which no threshold returns"
            )
        )
    if (kept := _kept_below_freed_blocks(most_held)) is not None:
        choices.append(kept)
    elif _returned_by_trim(most_held) >= held / 2:
        choices.append(
            _trim(
                "most of it is free at the top of the heap, below a threshold that has risen with "
                "the blocks freed"
            )
        )
    if in_arenas > in_break and held >= MORE_THAN_NEEDED * use.peak_live:
        choices.append(
            _one_arena(
                f"it is spread over {number} regions of the threads' arenas, more than was ever "
                "live at once. In one arena, threads reuse memory that others have freed"
            )
        )
    if use.large_share >= 0.5:
        choices.append(
            Setting(
                allocator=GLIBC,
                assignments={"MALLOC_MMAP_THRESHOLD_": str(MMAP_THRESHOLD)},
                why="most of it was large blocks; with a threshold that stays, each is mapped by "
                "itself and returned when it is freed",
            )
        )
    return [*choices, _HOLES]


def _kept_below_freed_blocks(most_held: MostHeld) -> Setting | None:
    """The setting for free memory at the tops of heaps, below freed blocks that glibc does not
    merge with it."""
    places = (most_held.program_break, most_held.arenas)
    enough = sum(map(_held, places)) / 2
    fast = sum(min(place.fast_top_bytes, _held(place)) for place in places) >= enough
    cached = sum(min(place.cached_top_bytes, _held(place)) for place in places) >= enough
    if not fast and not cached:
        return None
    tunables = [*([NO_FASTBINS] if fast else []), *([NO_TCACHE] if cached else [])]
    kinds = [
        *(["of at most 120 bytes in fastbins"] if fast else []),
        *(["in the caches of threads (tcache)"] if cached else []),
    ]
    assignments = {TUNABLES: ":".join(tunables)}
    if _threshold_rose(most_held):
        assignments["MALLOC_TRIM_THRESHOLD_"] = str(MMAP_THRESHOLD)
    return Setting(
        allocator=GLIBC,
        assignments=assignments,
        why=f"most of it is free at the top of the heap, below freed blocks {' and '.join(kinds)}, "
        "which glibc does not merge with it",
    )


def _threshold_rose(most_held: MostHeld) -> bool:
    """Whether the program freed a block that had a mapping of its own. glibc trims tops from the
    start; the threshold then rises."""
    largest = most_held.largest_unmapped_bytes
    return largest is None or largest >= MMAP_THRESHOLD


def _returned_by_trim(most_held: MostHeld) -> int:
    """The bytes at the tops of heaps that a fixed trim threshold returns.

    Free memory remains there only after the threshold has risen. Otherwise a live block lies above
    it.
    """
    if not _threshold_rose(most_held):
        return 0
    places = (most_held.program_break, most_held.arenas)
    return sum(
        max(min(place.free_top_bytes, _held(place)) - KEPT_AT_TOP * place.mappings, 0)
        for place in places
    )


_HOLES = Setting(
    allocator=GLIBC,
    why="it lies in holes below live blocks, or below freed blocks in the caches of threads, which "
    "no setting returns. Call malloc_trim(0) after the program has freed much, or take an "
    "allocator that returns pages from the middle (`heapwright compare`)",
)


def _one_arena(why: str) -> Setting:
    return Setting(allocator=GLIBC, assignments={"MALLOC_ARENA_MAX": "1"}, why=why)


def _trim(why: str) -> Setting:
    return Setting(
        allocator=GLIBC, assignments={"MALLOC_TRIM_THRESHOLD_": str(MMAP_THRESHOLD)}, why=why
    )


def _jemalloc() -> Setting:
    return Setting(
        allocator="jemalloc",
        assignments={"MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0"},
        why="it keeps freed pages for ten seconds or more before it returns them",
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
