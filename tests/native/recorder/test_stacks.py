# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings with stacks: each place that asks for memory by its name, in parent and child."""

import pytest

from heapwright.artefacts.profile.document import Profile, Site
from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.profile.run import profile_trace

from .bench import Bench


@pytest.fixture(scope="module")
def profile(recording: Bench) -> Profile:
    try:
        native.program("profile")
    except HeapwrightError as error:
        pytest.skip(f"needs the compiled parts: {error}")
    program = recording.program("sites.c", "-g")
    recorded = recording.record([program], "--stacks", "--follow-children")
    recording.sound(recorded)
    return profile_trace(recorded.path)


def names(site: Site) -> list[str]:
    return [frame.split(" ")[0] for frame in site.frames]


def test_never_freed_memory_is_at_the_place_that_forgot_it(profile: Profile) -> None:
    left = {
        (site.process, *names(site)[:2]): (site.never_freed, site.never_freed_bytes)
        for site in profile.sites
        if site.never_freed and names(site)[:1] == ["leak"]
    }
    assert left[0, "leak", "main"] == (10, 10_000)
    assert left[1, "leak", "main"] == (1, 5000)


def test_every_stack_reaches_the_start_of_the_program(profile: Profile) -> None:
    depths = sorted(
        names(site).count("deep") for site in profile.sites if names(site)[:1] == ["tidy"]
    )
    assert depths == list(range(1, 11))
    for site in profile.sites:
        if names(site)[:1] in (["tidy"], ["leak"]):
            assert "main" in names(site)
            assert names(site)[-1] in {"_start", "main", "__libc_start_main_impl"} or (
                "+0x" in names(site)[-1]
            )


def test_the_tree_adds_up(profile: Profile) -> None:
    calls = profile.calls
    assert calls is not None
    root = calls.nodes[0]
    assert root.allocations == profile.totals.allocations
    assert root.bytes == profile.totals.bytes
    assert root.never_freed_bytes == profile.totals.never_freed_bytes
    assert root.at_peak_bytes == profile.peak_live_bytes == profile.peak.live_bytes
    assert root.at_peak == profile.peak.live_objects
    assert sum(site.at_peak_bytes for site in profile.holders) == root.at_peak_bytes
    inner = [0] * len(calls.nodes)
    for place, node in enumerate(calls.nodes[1:], 1):
        assert node.parent < place
        inner[node.parent] += node.bytes
    assert all(part <= node.bytes for part, node in zip(inner, calls.nodes, strict=True))


def test_a_library_that_is_loaded_again_has_one_site_for_a_place(recording: Bench) -> None:
    plugin = recording.program("reloads.c", "-shared", "-fPIC", "-DPLUGIN")
    recorded = recording.record([recording.program("reloads.c", "-g"), plugin], "--stacks")
    asked = recorded.of_size(777)
    assert asked["stack"].n_unique() > 1, "it came to several addresses"
    found = [site for site in profile_trace(recorded.path).sites if names(site)[:1] == ["make"]]
    assert [(site.allocations, site.never_freed_bytes) for site in found] == [(10, 7770)]


def test_preloaded_libraries_are_in_no_chain(recording: Bench) -> None:
    program = recording.program("sites.c", "-g")
    recorded = recording.record([program], "--stacks", behind=[native.library("hold")])
    frames = [frame for site in profile_trace(recorded.path).sites for frame in site.frames]
    assert any(frame.startswith("main ") for frame in frames)
    assert not [frame for frame in frames if frame.startswith("libheapwright-")]


def test_without_stacks_there_are_no_sites(recording: Bench) -> None:
    recorded = recording.record([recording.program("sites.c", "-g")])
    found = profile_trace(recorded.path)
    assert found.calls is None
    assert found.sites == ()
