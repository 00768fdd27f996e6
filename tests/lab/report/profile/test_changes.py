# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Changes are reported as more, less, new or gone, and as chance only where it is known."""

import pytest

from heapwright.artefacts.profile.document import Profile, SizeCount, Spread
from heapwright.report.profile.changes import (
    Moved,
    difference_text,
    figure_changes,
    site_changes,
    size_changes,
)


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (100, 112, "+12.0 %"),
        (100, 90, "-10.0 %"),
        (100, 340, "3.4x"),
        (100, 25, "0.25x"),
        (0, 5, "new"),
        (5, 0, "gone"),
        (5, 5, ""),
        (None, 5, ""),
    ],
)
def test_differences(before: float | None, after: float | None, text: str) -> None:
    assert difference_text(before, after) == text


def test_shares_differ_by_points() -> None:
    assert difference_text(0.1, 0.121, is_share=True) == "+2.1 points"
    assert difference_text(0.5, 0.25, is_share=True) == "-25.0 points"


def test_a_profile_does_not_differ_from_itself(profile: Profile) -> None:
    assert [change for change in figure_changes(profile, profile) if change.text] == []
    assert size_changes(profile, profile) == []
    assert site_changes(profile, profile, leaked=False) == []


def repeated(profile: Profile, mean: float, least: float, most: float) -> Profile:
    spread = Spread(figure="totals.allocations", mean=mean, sd=1, least=least, most=most)
    return profile.model_copy(update={"spread": (spread,), "repetitions": 30})


def test_only_ranges_that_lie_apart_are_no_chance(profile: Profile) -> None:
    before = repeated(profile, 1000, 990, 1010)

    def beyond(after: Profile) -> bool | None:
        return {each.figure.path: each for each in figure_changes(before, after)}[
            "totals.allocations"
        ].beyond

    assert beyond(repeated(profile, 1009, 1005, 1015)) is False
    assert beyond(repeated(profile, 1020, 1011, 1030)) is True
    assert beyond(repeated(profile, 980, 970, 989)) is True
    assert beyond(profile) is None


def test_sizes_that_changed_most_come_first(profile: Profile) -> None:
    top = (
        SizeCount(size=24, count=600, share=0.5, bytes=24 * 600),
        SizeCount(size=8192, count=10, share=0.1, bytes=81920),
    )
    after = profile.model_copy(
        update={"sizes": profile.sizes.model_copy(update={"top": top, "distinct": 2})}
    )
    found = size_changes(profile, after)
    assert [each.name for each in found] == [
        "100,000 B",
        "4,096 B",
        "8,192 B",
        "512 B",
        "64 B",
    ]
    assert (found[0].text, found[2].text) == ("gone", "new")


def test_a_size_beyond_the_list_is_not_taken_for_none(profile: Profile) -> None:
    sizes = profile.sizes.model_copy(update={"top": profile.sizes.top[:1], "distinct": 5})
    assert size_changes(profile, profile.model_copy(update={"sizes": sizes})) == []


def test_sites_are_the_same_by_their_calls_not_by_their_numbers(profile: Profile) -> None:
    grown = [
        site.model_copy(update={"stack": site.stack + 100, "never_freed_bytes": 3 << 18})
        for site in profile.sites
        if site.never_freed
    ]
    after = profile.model_copy(update={"sites": (profile.sites[0], *grown)})
    assert site_changes(profile, after, leaked=False) == []
    assert site_changes(profile, after, leaked=True) == [
        Moved("leak<b>() ← main", 1 << 18, 3 << 18)
    ]
