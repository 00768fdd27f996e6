# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which setting is named; that they help is shown on programs."""

import pytest

from heapwright.artefacts.profile.series import MostHeld
from heapwright.explain.settings import allocator_in_use, setting_for

from .profiles import MIB, place


@pytest.mark.parametrize(
    ("objects", "name"),
    [
        ([], "glibc"),
        (["/usr/bin/true", "/lib/libc.so.6"], "glibc"),
        (["/x/libheapwright-recorder.so", "/usr/lib/libjemalloc.so.2"], "jemalloc"),
        (["/usr/lib/libtcmalloc_minimal.so.4"], "tcmalloc"),
        (["/usr/lib/libmimalloc.so.2.0"], "mimalloc"),
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
    assert setting_for("glibc", arenas, peak_live=20 * MIB).assignments == {"MALLOC_ARENA_MAX": "1"}
    assert setting_for("glibc", arenas, peak_live=90 * MIB).assignments == {}
    assert setting_for("glibc", holes, large_share=0.9).assignments == {
        "MALLOC_MMAP_THRESHOLD_": "131072"
    }
    assert setting_for("glibc", holes).assignments == {}
    assert "malloc_trim" in setting_for("glibc", holes).why


def test_an_allocator_without_a_setting_is_said_to_have_none() -> None:
    assert setting_for("kingsley", None).assignments == {}
    assert "MALLOC_CONF" in setting_for("jemalloc", None).assignments
