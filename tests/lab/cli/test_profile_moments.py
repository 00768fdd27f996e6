# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright profile` at moments: the live memory of sites, changes, pages and marks."""

from pathlib import Path

import pytest

from heapwright.artefacts.profile.asked_moments import AskedMoments
from heapwright.artefacts.profile.document import Profile, Site
from heapwright.artefacts.profile.moments import Held
from heapwright.base.errors import HeapwrightError
from heapwright.base.native import library, program
from heapwright.profile.run import profile_trace
from support.running import ran

from .tools import Heapwright, compile_c

INCLUDE = Path(__file__).parents[3] / "include"
PHASES = """
#include <heapwright/c/mark.h>
#include <stdlib.h>
#include <string.h>
enum { MANY = 20000 };
static void *table[MANY];
static void *big;
__attribute__((noinline)) void load(void) {
    for (int i = 0; i < MANY; ++i) memset(table[i] = malloc(64), 1, 64);
}
__attribute__((noinline)) void thin(void) {
    for (int i = 0; i < MANY; ++i) if (i % 200 != 0) { free(table[i]); table[i] = NULL; }
}
__attribute__((noinline)) void work(void) { memset(big = malloc(3 << 20), 1, 3 << 20); }
__attribute__((noinline)) void text(void) {
    for (int i = 0; i < 5000; ++i) free(malloc(40));
}
int main(void) {
    load();
    heapwright_mark("loaded");
    text();
    work();
    heapwright_mark("worked");
    free(big);
    thin();
    return 0;
}
"""
"""20,000 objects, then a large one; all but each 200th of the 20,000 are freed."""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the program, with stacks."""
    try:
        library("recorder")
        program("profile")
        recorder = program("record")
    except HeapwrightError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    folder = tmp_path_factory.mktemp("phases")
    built = compile_c(folder / "phases", PHASES, f"-I{INCLUDE}")
    path = folder / "T"
    words = [str(recorder), "--trace", str(path), "--preload", str(library("recorder")), "--stacks"]
    done = ran([*words, "--", str(built)])
    assert done.returncode == 0, done.stderr
    return path


def site_of(profile: Profile, name: str) -> Site:
    (found,) = [site for site in profile.sites if site.place.startswith(name)]
    return found


def test_the_summary_has_the_sites_at_marks_and_between_them(
    heapwright: Heapwright, trace: Path, tmp_path: Path
) -> None:
    words = ("--at", "loaded", "--between", "loaded", "worked")
    done = heapwright("profile", trace, *words, "--json", "p.json", "--html", "p.html")
    assert done.status == 0, done.err
    text = " ".join(done.out.split())
    assert "1.22 MiB live in 20,000 objects" in text
    assert "1.22 MiB (100 %) live in 20,000 blocks: load" in text
    assert "loaded to worked +3 MiB in +1 block in all" in text
    assert "+3 MiB in +1 block: work" in text
    assert "At worked" in text
    profile = Profile.from_json((tmp_path / "p.json").read_bytes())
    assert [mark.name for mark in profile.marks] == ["loaded", "worked"]
    assert [moment.name for moment in profile.moments] == ["loaded", "worked"]
    assert profile.between == ((0, 1),)
    assert site_of(profile, "load").at_moments == (Held(20000, 1280000), Held(20000, 1280000))
    assert [change for _, change in profile.changed_between(0, 1)] == [Held(1, 3 << 20)]
    page = (tmp_path / "p.html").read_text("utf-8")
    assert '<section id="moments"' in page
    assert "From loaded to worked" in page


def test_the_sites_add_up_to_the_live_curve_at_each_of_its_points(trace: Path) -> None:
    curve = profile_trace(trace)
    known = [
        point
        for point in curve.timeline[:-1]  # the last includes the calls of its time, as the peak
        if point.operation != curve.peak.operation
    ]
    assert len(known) > 50  # the points are equally far apart in time, and the program may wait
    asked = AskedMoments(tuple(f"{point.time_s:.9f}" for point in known))
    profile = profile_trace(trace, asked=asked)
    by_name = {moment.name: (at, moment) for at, moment in enumerate(profile.moments)}
    for point, name in zip(known, asked.at, strict=True):
        at, moment = by_name[name]
        assert (moment.live_bytes, moment.live_objects) == (point.live_bytes, point.live_objects)
        assert moment.operation == point.operation
        held = [site.held_at(at) for site in profile.sites]
        assert sum(each.bytes for each in held) + moment.other_bytes == point.live_bytes
        assert sum(each.objects for each in held) + moment.other_objects == point.live_objects


def test_the_peak_and_the_end_are_those_of_the_profile(trace: Path) -> None:
    profile = profile_trace(trace, asked=AskedMoments(("peak", "end", "100%")))
    peak, end, last = profile.moments
    assert (peak.live_bytes, peak.live_objects) == (
        profile.peak_live_bytes,
        profile.peak.live_objects,
    )
    assert peak.time_s == profile.peak.time_s
    assert end.live_bytes == profile.timeline[-1].live_bytes
    assert last.time_s == end.time_s
    for site in profile.sites:
        assert site.held_at(0) == Held(site.at_peak, site.at_peak_bytes)
        assert site.held_at(1) == Held(site.never_freed, site.never_freed_bytes)


def test_few_objects_of_a_site_pin_its_pages(
    heapwright: Heapwright, trace: Path, tmp_path: Path
) -> None:
    done = heapwright("profile", trace, "--pins", "--json", "p.json")
    assert done.status == 0, done.err
    profile = Profile.from_json((tmp_path / "p.json").read_bytes())
    peak, end = profile.moments
    assert (peak.name, end.name) == ("peak", "end")
    load = site_of(profile, "load")
    assert load.pins_at(0).held >= 300, "1.2 MiB in full pages"
    assert load.pins_at(0).pinned <= 2
    assert load.pins_at(1).held == load.pins_at(1).pinned >= 90, "100 objects, far apart"
    assert load.pins_at(1).used < load.pins_at(1).released / 40
    assert "Pinned, end" in done.out


def test_temporary_allocations_are_counted_by_site(trace: Path) -> None:
    profile = profile_trace(trace)
    assert site_of(profile, "text").temporary == 5000
    assert site_of(profile, "load").temporary <= 1
    assert profile.totals.temporary == sum(site.temporary for site in profile.sites)
    assert profile.temporary_sites[0] == site_of(profile, "text")


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("--at", "lode"), "the marks of the trace are loaded, worked"),
        (("--at", "101%"), "the moment 101% is not between 0% and 100%"),
        (("--at", "-1"), "there is no moment '-1'"),
        (("--at", "nan"), "there is no moment 'nan'"),
        (("--at", ""), "there is no moment ''"),
        (("--between", "loaded"), "--between"),
    ],
)
def test_what_is_no_moment_is_refused(
    words: tuple[str, ...], complaint: str, heapwright: Heapwright, trace: Path
) -> None:
    done = heapwright("profile", trace, *words)
    assert done.status == 2
    assert complaint in " ".join(done.err.split())


def test_an_impossible_moment_is_refused_before_the_command_runs(
    heapwright: Heapwright, tmp_path: Path
) -> None:
    done = heapwright("profile", "--at", "200%", "--", "touch", tmp_path / "ran")
    assert (done.status, "not between 0% and 100%" in done.err) == (2, True)
    assert not (tmp_path / "ran").exists()


def test_a_document_and_a_comparison_have_no_further_moments(
    heapwright: Heapwright, trace: Path
) -> None:
    heapwright("profile", trace, "-q", "--json", "p.json")
    again = heapwright("profile", "p.json", "--at", "peak")
    assert (again.status, "name the trace" in again.err) == (2, True)
    two = heapwright("profile", "--compare", "p.json", "p.json", "--at", "peak")
    assert (two.status, "not for --compare" in " ".join(two.err.split())) == (2, True)


def test_a_command_is_recorded_with_stacks_for_its_moments(
    heapwright: Heapwright, worker: Path
) -> None:
    done = heapwright("profile", "--at", "peak", "--", worker, "300")
    assert done.status == 0, done.err
    assert "live in 300 blocks: main" in " ".join(done.out.split())


def test_without_stacks_the_sum_is_known_and_no_site(heapwright: Heapwright, worker: Path) -> None:
    heapwright("profile", "-q", "-o", "T", "--", worker, "300")
    done = heapwright("profile", "T", "--at", "peak")
    assert done.status == 0, done.err
    told = " ".join(done.out.split())
    assert "live in 301 objects" in told
    assert "no call site is known: record --stacks" in told
    refused = heapwright("profile", "T", "--pins")
    assert (refused.status, "no call stacks" in refused.err) == (2, True)
