# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""By valgrind: programs whose drag is known have exactly that."""

import os
import pty
import sys
from pathlib import Path

import pytest

from heapwright.artefacts.drag.document import Drag, Site
from heapwright.base import native
from heapwright.report.drag.words import place_of

from .conftest import Build, Watch, known_of
from .known import KNOWN, Event, access, allocate, drag_of, free, regions

INCLUDE = Path(__file__).parents[3] / "include"


@pytest.mark.parametrize("name", KNOWN)
def test_drag_is_exactly_what_is_known(name: str, build: Build, watch: Watch) -> None:
    found = watch(build(name))
    assert found.provenance.exit_status == 0
    known = KNOWN[name]
    assert known_of(found) == known
    assert found.total_drag == known.total_drag
    assert found.peak_increase == known.peak_increase
    assert not any(found.oddities.model_dump().values())
    assert sum(site.held_area for site in found.sites) == known.held_area
    assert sum(site.needed_area for site in found.sites) == known.needed_area


def test_drag_of_a_region_as_a_formula(build: Build, watch: Watch) -> None:
    """n objects, each used once, all freed at the end: (n + 1) / 2, and a peak of n objects."""
    found = watch(build("region"))
    assert found.total_drag == 101 / 2
    assert found.peak_increase == 100
    (site,) = found.sites
    assert site.frames[0].startswith("make (region.c:")
    assert site.frames[1].startswith("main (region.c:")
    assert site.objects == 100
    assert site.share == 1
    assert site.idle_bytes == pytest.approx(64 * 99 / 2)
    curves = found.curves
    assert curves.allocated == tuple(range(0, 6400, curves.allocated[1])), (
        "even steps until the end"
    )
    for at, held, needed in zip(curves.allocated, curves.held, curves.needed, strict=True):
        assert held == (at // 64 + 1) * 64
        assert needed == 64


def site_of(found: Drag, function: str) -> list[Site]:
    return [each for each in found.sites if any(function in frame for frame in each.frames)]


def test_threads_use_and_free_what_others_made(build: Build, watch: Watch) -> None:
    events: list[Event] = []
    for i in range(20):
        events += [allocate(f"{i}", 500), access(f"{i}")]
        events += [access(f"{i - 3}")] if i >= 3 else []
    events += [free(f"{i}") for i in range(20)]
    known = drag_of(events)
    found = watch(build("threads"))
    assert found.provenance.exit_status == 0
    assert found.provenance.threads == 2
    (site,) = site_of(found, "makeThem")
    assert (site.objects, site.bytes) == (known.objects, known.allocated_bytes)
    assert site.held_area == known.held_area
    assert site.needed_area == known.needed_area


def test_operators_of_cpp_are_seen_once_each(build: Build, watch: Watch) -> None:
    sizes = (100, 100, 100, 100, 64, 128)
    names = [f"{i}" for i in range(len(sizes))]
    events = [
        each
        for name, size in zip(names, sizes, strict=True)
        for each in (allocate(name, size), access(name))
    ]
    known = drag_of([*events, *map(free, names)])
    found = watch(build("operators"))
    assert found.provenance.exit_status == 0
    sites = site_of(found, "makeThem")
    assert len(sites) == len(sizes)
    assert sum(each.objects for each in sites) == known.objects
    assert sum(each.held_area for each in sites) == known.held_area
    assert sum(each.needed_area for each in sites) == known.needed_area
    assert all(each.never_freed.objects == 0 for each in sites)


def test_code_that_came_later_has_names(build: Build, watch: Watch) -> None:
    library = build("late_library", "-shared", "-fPIC")
    found = watch(build("late"), library)
    assert found.provenance.exit_status == 0
    (site,) = [each for each in found.sites if each.bytes == 12345]
    assert site.frames[0].startswith("makeLate (late_library.c:")
    assert site.frames[1].startswith("main (late.c:")


def test_an_executable_at_a_fixed_place_is_seen(build: Build, watch: Watch) -> None:
    assert known_of(watch(build("prompt", "-no-pie", "-fno-pie"))) == KNOWN["prompt"]


def test_the_same_program_has_the_same_drag_with_another_malloc(
    build: Build, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LD_PRELOAD", str(native.library("kingsley")))
    assert known_of(watch(build("growing"))) == KNOWN["growing"]


def region_libraries() -> tuple[Path, Path]:
    """Regions as they are, and emulated; a skip where they are not built."""
    try:
        return native.library("c"), native.library("c-emulated")
    except native.NativeMissingError as error:
        pytest.skip(f"{error.message}: {error.hint}")


def test_objects_in_regions_are_seen_on_the_emulator(
    build: Build, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of regions as they are only the chunks are: they are used until their end."""
    library, emulated = region_libraries()
    link = [f"-I{INCLUDE}", "-Wl,--no-as-needed", str(library), f"-Wl,-rpath,{library.parent}"]
    program = build("regions", *link)
    chunks = watch(program)
    assert chunks.objects < 50
    monkeypatch.setenv("LD_PRELOAD", str(emulated))
    found = watch(program)
    known = drag_of(list(regions()))
    sites = site_of(found, "made (regions.c:")
    assert sum(each.objects for each in sites) == known.objects
    assert sum(each.held_area for each in sites) == known.held_area
    assert sum(each.needed_area for each in sites) == known.needed_area
    assert found.peak_held.bytes >= known.peak_held
    assert [place_of(each.frames).split(" ")[0] for each in sites] == ["made"] * len(sites)


def test_streams_and_arguments_reach_the_command(
    watch: Watch, capfd: pytest.CaptureFixture[str]
) -> None:
    found = watch("sh", "-c", "echo to stdout; echo to stderr >&2; exit 5")
    out, err = capfd.readouterr()
    assert (out, err) == ("to stdout\n", "to stderr\n")
    assert found.provenance.exit_status == 5


def test_a_command_may_read_from_the_terminal(watch: Watch) -> None:
    """In a process group of its own it would be stopped, and the test would wait for ever."""
    del watch  # it skips where nothing can be watched
    process, terminal = pty.fork()
    if process == 0:
        words = [sys.executable, "-m", "heapwright", "drag", "-q", "--", "head", "-1"]
        os.execv(words[0], words)
    os.write(terminal, b"a line\n")
    said = b""
    while True:
        try:
            read = os.read(terminal, 4096)
        except OSError:  # no process has the terminal open now
            break
        if not read:
            break
        said += read
    os.close(terminal)
    _, status = os.waitpid(process, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert said.count(b"a line") == 2, "what was typed, and what head made of it"
    assert b"total drag " in said
