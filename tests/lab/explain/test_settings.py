# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which setting is named; that they help is shown on programs."""

import pytest

from heapwright.artefacts.profile.series import MostHeld
from heapwright.artefacts.run.serving import allocator_in_use
from heapwright.explain.settings import Use, setting_for

from .profiles import MIB, place


@pytest.mark.parametrize(
    ("objects", "name"),
    [
        ([], "glibc"),
        (["/usr/bin/true", "/lib/libc.so.6"], "glibc"),
        (["/x/libheapwright-recorder.so", "/usr/lib/libjemalloc.so.2"], "jemalloc"),
        (["/usr/lib/libtcmalloc_minimal.so.4"], "tcmalloc"),
        (["/usr/lib/libmimalloc.so.2.0"], "mimalloc"),
        (["/usr/lib/libhardened_malloc.so"], "hardened-malloc"),
        (["/x/libheapwright-recorder.so", "/x/libheapwright-hold.so"], "glibc"),
        (["/x/libheapwright-recorder.so", "/x/libheapwright-hoard.so"], "hoard"),
    ],
)
def test_the_allocator_is_known_by_its_file(objects: list[str], name: str) -> None:
    assert allocator_in_use(objects) == name


def most_held(**where: object) -> MostHeld:
    return MostHeld.model_validate(
        {"time_s": 1, "program_break": place(), "arenas": place(), "mapped": place()} | where
    )


def test_glibc_by_where_it_holds_memory() -> None:
    top = most_held(program_break=place(100 * MIB, MIB, 98 * MIB))
    holes = most_held(program_break=place(100 * MIB, MIB, 0))
    arenas = most_held(arenas=place(100 * MIB, MIB, 0, mappings=8))
    assert setting_for("glibc", top).assignments == {"MALLOC_TRIM_THRESHOLD_": "131072"}
    assert setting_for("glibc", arenas, Use(peak_live=20 * MIB)).assignments == {
        "MALLOC_ARENA_MAX": "1"
    }
    assert setting_for("glibc", arenas, Use(peak_live=90 * MIB)).assignments == {}
    assert setting_for("glibc", holes, Use(large_share=0.9)).assignments == {
        "MALLOC_MMAP_THRESHOLD_": "131072"
    }
    assert setting_for("glibc", holes).assignments == {}
    assert "malloc_trim" in setting_for("glibc", holes).why


SMALL_ARENAS = most_held(
    program_break=place(MIB // 8), arenas=place(15 * 140_000, 0, 15 * 140_000, mappings=15)
)
TRIM = {"MALLOC_TRIM_THRESHOLD_": "131072"}


def test_small_rests_in_many_arenas_are_helped_by_fewer_arenas() -> None:
    found = setting_for("glibc", SMALL_ARENAS, Use(peak_live=9 * MIB))
    assert found.assignments == {"MALLOC_ARENA_MAX": "1"}
    assert "15 threads" in found.why
    few = most_held(arenas=place(40 * MIB, 0, 40 * MIB, mappings=15))
    assert setting_for("glibc", few, Use(peak_live=90 * MIB)).assignments == TRIM


def test_a_threshold_that_never_rose_leaves_nothing_to_trim() -> None:
    """glibc trims the tops of its heaps from the start: a live block lies above what is held."""

    def advised(largest: int | None) -> dict[str, str]:
        top = most_held(
            arenas=place(40 * MIB, 0, 40 * MIB, mappings=15), largest_unmapped_bytes=largest
        )
        return setting_for("glibc", top, Use(peak_live=20 * MIB)).assignments

    assert advised(None) == advised(MIB) == TRIM
    assert advised(0) == {"MALLOC_ARENA_MAX": "1"}


def test_the_trim_threshold_is_advised_only_for_more_than_it_leaves() -> None:
    """With the initial threshold 256 KiB stay at the top of each arena."""

    def advised(held: int) -> dict[str, str]:
        arenas = most_held(arenas=place(held, 0, held, mappings=15), largest_unmapped_bytes=MIB)
        return setting_for("glibc", arenas, Use(peak_live=90 * MIB, held_late=held)).assignments

    assert advised(12 * MIB) == TRIM
    assert advised(6 * MIB) == {}


NO_FASTBINS = {"GLIBC_TUNABLES": "glibc.malloc.mxfast=0"}


def test_freed_blocks_that_glibc_does_not_merge_have_a_setting_of_their_own() -> None:
    def advised(fast: int, cached: int, largest: int = 0) -> dict[str, str]:
        top = place(20 * MIB, 0, 20 * MIB, fast_top_bytes=fast, cached_top_bytes=cached)
        where = most_held(program_break=top, largest_unmapped_bytes=largest)
        return setting_for("glibc", where).assignments

    assert advised(19 * MIB, 0) == NO_FASTBINS
    assert advised(0, 19 * MIB) == {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    assert advised(19 * MIB, 19 * MIB) == {
        "GLIBC_TUNABLES": "glibc.malloc.mxfast=0:glibc.malloc.tcache_count=0"
    }
    assert advised(19 * MIB, 0, MIB) == NO_FASTBINS | TRIM, "the threshold has risen as well"
    assert advised(5 * MIB, 5 * MIB) == {}, "most of it lies above them"


def test_other_tunables_are_kept() -> None:
    top = place(20 * MIB, 0, 20 * MIB, fast_top_bytes=19 * MIB)
    where = most_held(program_break=top, largest_unmapped_bytes=0)
    given = {"GLIBC_TUNABLES": "glibc.malloc.arena_max=1:glibc.malloc.mxfast=64"}
    kept = setting_for("glibc", where, environment=given).assignments
    assert kept == {"GLIBC_TUNABLES": "glibc.malloc.arena_max=1:glibc.malloc.mxfast=0"}
    assert setting_for("glibc", where, environment=kept).assignments == {}


@pytest.mark.parametrize("allocator", ["jemalloc", "tcmalloc", "mimalloc"])
def test_a_setting_returns_only_spans_without_a_live_block(allocator: str) -> None:
    def advised(pinned: int | None) -> bool:
        mapped = place(60 * MIB, 8 * MIB).model_copy(update={"pinned_bytes": pinned})
        return bool(setting_for(allocator, most_held(mapped=mapped)).assignments)

    assert advised(10 * MIB)
    assert advised(None), "an older profile"
    assert not advised(60 * MIB)
    pinned = place(60 * MIB, 8 * MIB, pinned_bytes=60 * MIB)
    assert "spans" in setting_for(allocator, most_held(mapped=pinned)).why


@pytest.mark.parametrize(
    "given",
    [
        TRIM,
        {"MALLOC_TRIM_THRESHOLD_": "65536"},
        {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0:glibc.malloc.trim_threshold=131072"},
    ],
)
def test_a_setting_that_is_in_force_is_not_advised_again(given: dict[str, str]) -> None:
    top = most_held(program_break=place(100 * MIB, MIB, 98 * MIB))
    assert setting_for("glibc", top, environment={"MALLOC_ARENA_MAX": "4"}).assignments == TRIM
    found = setting_for("glibc", top, environment=given)
    assert found.assignments == {}
    assert "malloc_trim" in found.why
    assert "MALLOC_TRIM_THRESHOLD_ is set already" in found.why


def test_other_options_of_a_variable_are_kept() -> None:
    ours = setting_for("jemalloc", None).assignments["MALLOC_CONF"]
    kept = setting_for("jemalloc", None, environment={"MALLOC_CONF": "narenas:1,dirty_decay_ms:9"})
    assert kept.assignments == {"MALLOC_CONF": f"narenas:1,{ours}"}
    again = setting_for("jemalloc", None, environment=kept.assignments)
    assert again.assignments == {}


def test_an_allocator_without_a_setting_is_reported_without_settings() -> None:
    assert setting_for("kingsley", None).assignments == {}
    assert "MALLOC_CONF" in setting_for("jemalloc", None).assignments
