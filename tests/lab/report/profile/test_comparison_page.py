# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Both profiles are in every chart of the page, under their names."""

from pathlib import Path
from types import ModuleType

import pytest

from heapwright.artefacts.profile.document import Profile
from heapwright.report.profile.comparison_page import comparison_page

NAMES = ("old<b>.json", "new.json")
CHARTS = {
    "live-memory": 2,
    "live-objects": 2,
    "cumulative-sizes": 2,
    "size-histogram": 10,
    "routines": 8,
    "lifetimes": 12,
    "long-lived": 2,
    "a-over-u": 2,
}


@pytest.fixture
def after(profile: Profile) -> Profile:
    """Twice as many bytes, a leak that grew, and less live."""
    return profile.model_copy(
        update={
            "totals": profile.totals.model_copy(update={"bytes": 2 * profile.totals.bytes}),
            "timeline": tuple(
                at.model_copy(update={"live_bytes": at.live_bytes // 2}) for at in profile.timeline
            ),
            "pattern": profile.pattern.model_copy(update={"kind": "peak"}),
            "sites": tuple(
                site.model_copy(update={"never_freed_bytes": 3 * site.never_freed_bytes})
                for site in profile.sites
            ),
        }
    )


def test_every_chart_has_marks_of_both(
    profile: Profile, after: Profile, browsing: ModuleType
) -> None:
    text = comparison_page(profile, after, NAMES)
    specs = browsing.specs_in(text)
    assert sorted(specs) == sorted(browsing.Reader(text).charts) == sorted(CHARTS)
    drawn = {name: browsing.marks_of(spec) for name, spec in specs.items()}
    assert {name: marks for name, marks in drawn.items() if marks < CHARTS[name]} == {}


def test_the_page_needs_nothing_else(
    profile: Profile, after: Profile, browsing: ModuleType
) -> None:
    found = browsing.Reader(comparison_page(profile, after, NAMES))
    assert found.fetched == []
    assert {jump.removeprefix("#") for jump in found.jumps} <= set(found.ids)
    assert len(set(found.ids)) == len(found.ids)


def test_the_comparison_page_shows_every_change(profile: Profile, after: Profile) -> None:
    text = comparison_page(profile, after, NAMES)
    assert '<td><span class="more">2x</span></td>' in text
    assert "<b>growing</b> in old&lt;b&gt;.json, <b>peak</b> in new.json" in text
    assert "leak&lt;b&gt;() ← main" in text
    assert "+512 KiB" in text
    assert "old<b>" not in text.split("<script")[0]


def test_two_files_of_one_name_are_kept_apart(
    profile: Profile, after: Profile, browsing: ModuleType
) -> None:
    text = comparison_page(profile, after, ("same", "same"))
    drawn = browsing.marks_of(browsing.specs_in(text)["live-memory"])
    assert drawn == 2
    assert "same (2)" in text


@pytest.mark.programs
@pytest.mark.parametrize("width", [390, 1280])
def test_a_browser_draws_all_of_it(
    profile: Profile, after: Profile, browsing: ModuleType, tmp_path: Path, width: int
) -> None:
    text = comparison_page(profile, after, NAMES)
    seen = browsing.look(text, tmp_path, width, dark=width > 390)
    assert (seen.undrawn, seen.unnamed) == (0, 0)
    assert seen.overflow <= 0
    assert {name for name, box in seen.charts.items() if seen.ink(box) < 200} == set()
    assert seen.painted == [42, 42]
