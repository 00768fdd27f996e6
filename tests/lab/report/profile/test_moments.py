# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Moments in the summary, on the page, in the flame graph and on the chart of live memory."""

import json
import re
from types import ModuleType

import pytest

from heapwright.artefacts.profile.document import Profile
from heapwright.artefacts.profile.moments import Held, Mark, Moment, Pins
from heapwright.report.profile.page import page
from heapwright.report.profile.summary import entries

KIB = 1024


def moment(name: str, time_s: float, live: Held, pins: Pins | None = None) -> Moment:
    return Moment(
        name=name,
        time_s=time_s,
        operation=100,
        live_bytes=live.bytes,
        live_objects=live.objects,
        other_bytes=0,
        other_objects=0,
        pins=pins,
    )


@pytest.fixture
def asked(profile: Profile) -> Profile:
    """At a mark <b> and at the end: the first site shrinks, and the second grows and pins pages."""
    reads, leaks = profile.sites
    sites = (
        reads.model_copy(
            update={
                "at_moments": (Held(10, 40 * KIB), Held(0, 0)),
                "temporary": 90,
            }
        ),
        leaks.model_copy(
            update={
                "at_moments": (Held(5, 10 * KIB), Held(25, 110 * KIB)),
                "pins": (Pins(0, 0, 0), Pins(30, 20, 1 * KIB)),
            }
        ),
    )
    return profile.model_copy(
        update={
            "sites": sites,
            "marks": (Mark(name="<b>", time_s=0.25, process=0),),
            "moments": (
                moment("<b>", 0.25, Held(15, 50 * KIB), Pins(5, 0, 0)),
                moment("end", 2, Held(25, 110 * KIB), Pins(31, 21, 2 * KIB)),
            ),
            "between": ((0, 1),),
            "totals": profile.totals.model_copy(update={"temporary": 100}),
        }
    )


def test_the_summary_has_moments_changes_pages_and_temporary_allocations(asked: Profile) -> None:
    told = list(entries(asked))
    for entry in (
        ("At <b>", "50 KiB live in 15 objects, 250 ms after the recording began"),
        ("At <b>", "40 KiB (80.0 %) live in 10 blocks: read_file ← main"),
        ("At the end", "110 KiB (100 %) live in 25 blocks: leak<b>() ← main"),
        ("<b> to end", "+60 KiB in +10 blocks in all"),
        ("<b> to end", "+100 KiB in +20 blocks: leak<b>() ← main"),
        ("<b> to end", "-40 KiB in -10 blocks: read_file ← main"),
        ("Pinned, end", "84 KiB in 21 pages for 2 KiB of objects of one call site each"),
        ("Pinned, end", "80 KiB in 20 pages for 1 KiB of objects: leak<b>() ← main"),
        ("Temporary", "100 allocations (10.0 %) ended before their thread allocated again"),
        ("Temporary", "90 allocations (10.0 % of the site's): read_file ← main"),
    ):
        assert entry in told, entry


def test_a_profile_without_moments_has_no_entry_and_no_section(profile: Profile) -> None:
    assert not [name for name, _ in entries(profile) if name.startswith(("At the end", "Pinned"))]
    text = page(profile)
    for name in ("moments", "pins", "temporary"):
        assert f'<section id="{name}"' not in text


def test_the_page_has_tables_of_moments_changes_and_pages(
    asked: Profile, browsing: ModuleType
) -> None:
    text = page(asked)
    assert "From &lt;b&gt; to end" in text
    for row in (
        ("<code>leak&lt;b&gt;()</code>", "110 KiB", "100 %", "25"),
        ("<code>leak&lt;b&gt;()</code>", "+100 KiB", "+20", "10 KiB", "110 KiB"),
        ("<code>read_file</code>", "-40 KiB", "-10", "40 KiB", "0 B"),
        ("<code>leak&lt;b&gt;()</code>", "80 KiB", "20", "1 KiB", "30"),
        ("<code>read_file</code>", "90", "10.0 %", "90.0 %"),
    ):
        head, *cells = row
        inner = "".join(f"<td>{cell}</td>" for cell in cells)
        assert f'<th scope="row">{head}</th>{inner}' in text, row
    assert len(set(browsing.Reader(text).ids)) == len(browsing.Reader(text).ids)


def test_the_flame_graph_has_the_moments_by_name_and_time(asked: Profile) -> None:
    found = re.findall(r'<script type="application/json">(.*?)</script>', page(asked))
    (shown,) = [data for each in found if "live" in (data := json.loads(each))]
    assert list(zip(shown["times"], shown["moments"], strict=True)) == [
        (0.25, "<b>"),
        (0.5, ""),
        (1.0, ""),
        (1.0, "peak"),
        (1.5, ""),
        (2, "end"),
    ]
    assert shown["live"] == [
        [40 * KIB, 0, 0, 0, 0, 0],
        [10 * KIB, 100_000, 200_000, 200_000, 150_000, 110 * KIB],
    ]


def test_the_chart_of_live_memory_has_the_marks(asked: Profile, browsing: ModuleType) -> None:
    before = browsing.marks_of(
        browsing.specs_in(
            page(asked.model_copy(update={"marks": (), "moments": (), "between": ()}))
        )["live-memory"]
    )
    spec = browsing.specs_in(page(asked))["live-memory"]
    assert '"name": "<b>"' in json.dumps(spec)
    assert browsing.marks_of(spec) > before
