# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Of programs that were rebuilt: the drag is what is known, and what valgrind sees."""

import subprocess

import pytest

from heapwright.base import native

from .conftest import Build, Rebuild, Watch, known_of, watch_rebuilt
from .known import KNOWN, access, allocate, drag_of, free


@pytest.mark.parametrize("name", KNOWN)
def test_drag_is_exactly_what_is_known(name: str, rebuild: Rebuild) -> None:
    found = watch_rebuilt(rebuild(name))
    assert found.provenance.exit_status == 0
    assert known_of(found) == KNOWN[name]
    assert not any(found.oddities.model_dump().values())
    assert sum(site.held_area for site in found.sites) == found.held_area
    assert sum(site.needed_area for site in found.sites) == found.needed_area


def test_sites_are_chains_of_calls(rebuild: Rebuild) -> None:
    (site,) = watch_rebuilt(rebuild("region")).sites
    assert site.frames[0].startswith("make (region.c:")
    assert site.frames[1].startswith("main (region.c:")
    assert len(site.frames) == 2


def test_it_is_what_valgrind_sees(rebuild: Rebuild, build: Build, watch: Watch) -> None:
    rebuilt, seen = watch_rebuilt(rebuild("mixture")), watch(build("mixture"))
    assert known_of(rebuilt) == known_of(seen)
    assert rebuilt.curves == seen.curves
    assert rebuilt.total_drag is not None
    assert rebuilt.total_drag > 1.1


def test_threads_use_and_free_what_others_made(rebuild: Rebuild) -> None:
    events = [
        each
        for i in range(20)
        for each in (allocate(f"{i}", 500), access(f"{i}"), *([access(f"{i - 3}")] * (i >= 3)))
    ]
    known = drag_of([*events, *(free(f"{i}") for i in range(20))])
    found = watch_rebuilt(rebuild("threads"))
    assert found.provenance.threads == 2
    (site,) = [each for each in found.sites if each.frames[0].startswith("makeThem")]
    assert (site.objects, site.bytes) == (known.objects, known.allocated_bytes)
    assert (site.held_area, site.needed_area) == (known.held_area, known.needed_area)


def test_operators_of_cpp_are_seen_once_each(rebuild: Rebuild) -> None:
    sizes = (100, 100, 100, 100, 64, 128)
    names = [f"{i}" for i in range(len(sizes))]
    events = [
        each
        for name, size in zip(names, sizes, strict=True)
        for each in (allocate(name, size), access(name))
    ]
    known = drag_of([*events, *map(free, names)])
    found = watch_rebuilt(rebuild("operators"))
    assert found.provenance.exit_status == 0
    assert not any(found.oddities.model_dump().values()), "the exception's object, too"
    sites = [each for each in found.sites if any("makeThem" in frame for frame in each.frames)]
    assert sum(each.objects for each in sites) == known.objects
    assert sum(each.held_area for each in sites) == known.held_area
    assert sum(each.needed_area for each in sites) == known.needed_area


@pytest.mark.parametrize("standard", ["17", "20"])
def test_strings_of_cpp_are_rebuilt_with_the_program(standard: str, rebuild: Rebuild) -> None:
    found = watch_rebuilt(rebuild("text", f"-std=c++{standard}"))
    (text,) = [each for each in found.sites if each.bytes == 1001]
    assert any(frame.startswith("makeText") for frame in text.frames)
    assert text.drag_area == 1001 * 10 * 100


def test_atomic_operations_do_what_they_are_for(rebuild: Rebuild) -> None:
    found = watch_rebuilt(rebuild("atomics"))
    assert found.provenance.exit_status == 0
    assert found.provenance.threads is not None
    assert found.provenance.threads >= 1
    unused = next(each for each in found.sites if each.bytes == 500)
    assert unused.never_accessed.objects == 1


def test_accesses_of_the_c_library_for_the_program_are_counted(rebuild: Rebuild) -> None:
    """Object i is used when 1000 bytes more have been allocated than for the one before it. Only
    the second one, whose address alone is printed, is not used.
    """
    found = watch_rebuilt(rebuild("calls"))
    assert found.provenance.exit_status == 0
    (site,) = [each for each in found.sites if each.objects == 12]
    # What is allocated meanwhile, by the stream, is the same for all that come after it.
    grown = site.needed_area - sum(100 * 100 * (12 - i) for i in range(12))
    fillers = [1, 0, *range(2, 12)]
    streams = grown - 100 * 1000 * sum(fillers)
    assert streams >= 0
    assert streams % 100 == 0
    assert streams < 12 * 100 * 16384
    made = [
        each
        for each in found.sites
        if "makeThem" in str(each.frames) and not each.frames[0].startswith("fill")
    ]
    assert len(made) == 6
    assert not any(found.oddities.model_dump().values())
    for each in made:
        assert each.never_accessed.objects == 0
        assert each.drag_area == 0
        assert each.needed_area >= 2 * 2000, "the shortest has two bytes"


def test_a_library_that_was_rebuilt_takes_part(rebuild: Rebuild) -> None:
    library = rebuild("late_library", "-shared", "-fPIC")
    found = watch_rebuilt(rebuild("late"), library)
    (site,) = [each for each in found.sites if each.bytes == 12345]
    assert site.frames[0].startswith("makeLate (late_library.c:")
    assert site.frames[1].startswith("main (late.c:")


def test_an_allocator_may_be_preloaded_behind(
    rebuild: Rebuild, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_PRELOAD", str(native.library("kingsley")))
    assert known_of(watch_rebuilt(rebuild("growing"))) == KNOWN["growing"]


def test_a_rebuilt_program_runs_as_any_other(rebuild: Rebuild) -> None:
    """Where no reader requests its drag."""
    for name in ("mixture", "operators"):
        assert subprocess.run([rebuild(name)], check=False).returncode == 0
