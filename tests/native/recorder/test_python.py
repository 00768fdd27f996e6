# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings of CPython with stacks: sites have the function and the line that requested memory."""

import re
import sys
from pathlib import Path

import pytest

from heapwright.artefacts.profile.document import Profile, Site
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.profile.run import profile_trace
from support.running import ran

from .bench import SOURCES, Bench, Recorded

SCRIPT = SOURCES / "python_sites.py"
SYSTEM = Path("/usr/bin/python3.11")
PYTHON = str(SYSTEM if SYSTEM.exists() else getattr(sys, "_base_executable", sys.executable))
"""The system's has no debug information, which takes long to read."""
SIZES = tuple(700_000 + each + sys.getsizeof(b"") for each in range(40))
HEAPS = ("default", "malloc")


@pytest.fixture(scope="module", params=HEAPS)
def recorded(request: pytest.FixtureRequest, recording: Bench) -> Recorded:
    try:
        native.program("profile")
    except HeapwrightError as error:
        pytest.skip(f"needs the compiled parts: {error}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONMALLOC", request.param)
        found = recording.record([PYTHON, "-I", "-S", SCRIPT], "--stacks")
    recording.sound(found)
    return found


@pytest.fixture(scope="module")
def profile(recorded: Recorded) -> Profile:
    return profile_trace(recorded.path, every_site=True)


def line(mark: str) -> int:
    """The line of the script with a comment."""
    lines = SCRIPT.read_text(encoding="utf-8").splitlines()
    return next(place for place, text in enumerate(lines, 1) if text.endswith(f"  # {mark}"))


def first(site: Site) -> str:
    """The innermost frame that is not the interpreter's."""
    return site.frames[site.own[0]] if site.own else ""


def sums(profile: Profile, frame: str, least: int = 100_000) -> tuple[int, int]:
    """Large allocations of the sites at a frame, and their bytes."""
    found = [each for each in profile.sites if first(each) == frame and each.bytes >= least]
    return sum(each.allocations for each in found), sum(each.bytes for each in found)


def at(function: str, mark: str) -> str:
    return f"{function} ({SCRIPT.name}:{line(mark)})"


def test_sites_have_the_function_and_the_line(profile: Profile) -> None:
    header = sys.getsizeof(b"")
    expected = {
        at("large", "large"): (13, 13 * (1_000_000 + header) + sum(range(10)) + sum(range(3))),
        at("Store.grow", "grow"): (1, 500_000 * 8),
        at("recursive", "recursive"): (2, 2 * (2_000_000 + header)),
        at("Deep.__add__", "deep"): (1, 3_000_000 + header),
        at("over_one_line", "twice"): (2, 830_000 + 2 * header),
        at("naïve", "naïve"): (1, 5_000_000 + header),
    }
    assert {frame: sums(profile, frame) for frame in expected} == expected
    count, bytes_of = sums(profile, at("generator", "generator"))
    assert count == 5
    assert 0 <= bytes_of - 5 * 300_000 <= 5 * 64


def test_callers_are_named_too(profile: Profile) -> None:
    site = next(
        each
        for each in profile.sites
        if first(each) == at("recursive", "recursive") and len(each.frames) < 500
    )
    own = [site.frames[place] for place in site.own]
    assert [frame.split(" ")[0] for frame in own] == ["recursive"] * 51 + ["<module>"]
    assert len(set(own[1:51])) == 1, "the same line called itself"


def test_a_long_chain_is_cut_at_its_outer_end(profile: Profile) -> None:
    site = next(each for each in profile.sites if first(each) == at("Deep.__add__", "deep"))
    assert site.frames[-1] == "(outer calls left out)"
    assert sum(frame.startswith("Deep.__add__ ") for frame in site.frames) > 5


def test_a_thread_has_its_own_chain(profile: Profile) -> None:
    outermost = {
        site.frames[site.own[-1]].split(" ")[0]
        for site in profile.sites
        if first(site) == at("large", "large") and site.bytes >= 1_000_000
    }
    assert outermost == {"<module>", "Thread._bootstrap"}


def test_code_that_was_released_keeps_its_own_name(profile: Profile) -> None:
    found = {}
    for site in profile.sites:
        made = re.fullmatch(r"made_(\d\d) \(file_(\d\d)\.py:2\)", first(site))
        if made and site.bytes >= 700_000:
            assert made[1] == made[2]
            found[int(made[1])] = (site.allocations, site.bytes - sys.getsizeof(b""))
    assert found == {each: (1, 700_000 + each) for each in range(40)}


def test_the_tree_and_the_totals_are_those_of_the_calls(
    profile: Profile, recorded: Recorded
) -> None:
    unnamed = profile_trace(recorded.path, every_site=True, names=False)
    assert profile.calls is not None
    root = profile.calls.nodes[0]
    assert unnamed.totals == profile.totals
    assert root.allocations == profile.totals.allocations
    assert root.bytes == profile.totals.bytes
    assert root.at_peak_bytes == profile.peak.live_bytes
    mapped = sum(bytes_of for size in SIZES for bytes_of in recorded.of_size(size)["size"])
    assert mapped == sum(SIZES)


def test_a_child_keeps_the_names_of_its_parent(recording: Bench, tmp_path: Path) -> None:
    script = tmp_path / "forks.py"
    script.write_text(
        "import os\n"
        "def before():\n"
        "    return bytes(1_500_000)\n"
        "def after():\n"
        "    return bytes(2_500_000)\n"
        "before()\n"
        "child = os.fork()\n"
        "before()\n"
        "after()\n"
        "if child:\n"
        "    os.waitpid(child, 0)\n",
        encoding="utf-8",
    )
    done = recording.record([PYTHON, "-I", "-S", script], "--stacks", "--follow-children")
    for process, count in ((0, 2), (1, 1)):
        found = profile_trace(done.path, process, every_site=True)
        assert sums(found, "before (forks.py:3)", 1_000_000)[0] == count
        assert sums(found, "after (forks.py:5)", 1_000_000)[0] == 1


def test_memory_that_lies_does_not_harm_the_program(recording: Bench) -> None:
    program = recording.program("fake_python.c", "-rdynamic")
    for seed in range(3):
        done = recording.record([program, str(seed)], "--stacks")
        assert done.said["exit_status"] == 0, done.err
        assert done.out == "120\n"
        profile_trace(done.path)


def test_a_recording_without_stacks_names_nothing(recording: Bench) -> None:
    done = recording.record([PYTHON, "-I", "-S", "-c", "x = bytes(1_000_000)"])
    assert profile_trace(done.path).calls is None
    assert ran([PYTHON, "-c", ""]).returncode == 0
