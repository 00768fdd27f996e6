# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The page is whole in itself, escapes what it is given, and none of its charts is empty."""

import base64
import json
import re
from pathlib import Path
from types import ModuleType

import pytest

from heapwright.artefacts.profile.document import CrossThreadFrees, Profile, Spread
from heapwright.report.profile.page import page

CHARTS = {
    "live-memory": 2,
    "live-objects": 1,
    "sizes-over-time": 5,
    "cumulative-sizes": 1,
    "size-histogram": 10,
    "top-sizes": 10,
    "routines": 4,
    "lifetimes": 12,
    "long-lived": 1,
    "system": 4,
    "a-over-u": 1,
}
"""The charts and the least number of marks that each draws."""


def test_the_page_needs_nothing_else(profile: Profile, browsing: ModuleType) -> None:
    text = page(profile)
    assert browsing.Reader(text).fetched == []
    assert "@import" not in text.split("</style>")[0]
    assert "url(" not in text.split("</style>")[0]


def test_links_lead_somewhere(profile: Profile, browsing: ModuleType) -> None:
    found = browsing.Reader(page(profile))
    assert len(found.jumps) > 8
    assert {jump.removeprefix("#") for jump in found.jumps} <= set(found.ids)
    assert len(set(found.ids)) == len(found.ids)


def test_every_place_has_its_chart(profile: Profile, browsing: ModuleType) -> None:
    text = page(profile)
    assert sorted(browsing.specs_in(text)) == sorted(browsing.Reader(text).charts) == sorted(CHARTS)


def test_no_chart_is_empty(profile: Profile, browsing: ModuleType) -> None:
    specs = browsing.specs_in(page(profile))
    drawn = {name: browsing.marks_of(spec) for name, spec in specs.items()}
    assert {name: marks for name, marks in drawn.items() if marks < CHARTS[name]} == {}


@pytest.mark.parametrize("name", sorted(CHARTS))
def test_an_empty_chart_would_be_noticed(profile: Profile, browsing: ModuleType, name: str) -> None:
    spec = json.loads(json.dumps(browsing.specs_in(page(profile))[name]))
    spec["datasets"] = {key: [] for key in spec["datasets"]}
    assert browsing.marks_of(spec) == 0


def test_places_without_frees_come_first(profile: Profile, browsing: ModuleType) -> None:
    found = browsing.Reader(page(profile))
    assert found.jumps[0] == "#leaks"
    assert found.ids.index("leaks") < found.ids.index("memory") < found.ids.index("sites")


def test_the_sites_of_the_peak_are_listed(profile: Profile) -> None:
    (listed,) = re.findall(r'<section id="peak".*?</section>', page(profile), re.DOTALL)
    assert "leak&lt;b&gt;()" in listed
    assert "195 KiB" in listed
    assert "19.1 %" in listed
    older = [site.model_copy(update={"at_peak": 0, "at_peak_bytes": 0}) for site in profile.sites]
    assert 'id="peak"' not in page(profile.model_copy(update={"sites": tuple(older)}))


def test_names_are_escaped(profile: Profile) -> None:
    text = re.sub("<script.*?</script>", "", page(profile), flags=re.DOTALL)
    assert "program --of=&lt;b&gt;" in text
    assert "leak&lt;b&gt;()" in text
    assert not re.search("<b>(?!growing)", text)


def test_the_heap_map_holds_every_cell(profile: Profile) -> None:
    (data,) = re.findall(
        r'id="heap-map".*?<script type="application/json">(.*?)</script>', page(profile), re.DOTALL
    )
    shown = json.loads(data)
    assert shown["regions"] == [[0, 4], [4, 6]]
    assert shown["starts"][4] == "7f0000000000"
    cells = base64.b64decode(shown["cells"])
    assert len(cells) == 6 * 8
    assert cells[8:16] == bytes([128] * 4 + [0] * 4)
    assert cells[40:] == bytes([1] * 8), "what is nearly nothing is not nothing"


def test_a_section_without_data_is_left_out(profile: Profile, browsing: ModuleType) -> None:
    bare = profile.model_copy(
        update={
            "system": None,
            "sites": (),
            "calls": None,
            "heap_map": None,
            "cross_thread_frees": CrossThreadFrees(count=0, share=0),
            "threads": profile.threads[:1],
        }
    )
    text = page(bare)
    found = browsing.Reader(text)
    assert not {"system", "sites", "leaks"} & set(found.ids)
    assert "There is one thread." in text
    assert set(found.charts) == set(CHARTS) - {"system", "a-over-u"}


def test_an_empty_profile_still_has_a_page(profile: Profile, browsing: ModuleType) -> None:
    empty = profile.model_copy(
        update={
            "timeline": (),
            "heap_map": None,
            "sites": (),
            "calls": None,
            "system": None,
            "sizes": profile.sizes.model_copy(
                update={"top": (), "cumulative": (), "histogram": (), "over_time": ()}
            ),
            "pattern": profile.pattern.model_copy(update={"kind": None, "long_lived": ()}),
            "peak_live_bytes": 0,
        }
    )
    text = page(empty)
    assert "Nothing was recorded." in text
    for spec in browsing.specs_in(text).values():
        browsing.marks_of(spec)


def test_the_spread_stands_beside_the_figures(profile: Profile) -> None:
    spread = Spread(figure="totals.allocations", mean=1001.5, sd=2.5, least=998, most=1004)
    text = page(profile.model_copy(update={"repetitions": 30, "spread": (spread,)}))
    assert "30 repetitions" in text
    assert "<td>1,002</td><td>2</td><td>998</td><td>1,004</td>" in text


@pytest.mark.programs
@pytest.mark.parametrize(("width", "dark"), [(390, True), (1280, False)])
def test_a_browser_draws_all_of_it(
    profile: Profile, browsing: ModuleType, tmp_path: Path, width: int, dark: bool
) -> None:
    seen = browsing.look(page(profile), tmp_path, width, dark=dark)
    assert (seen.undrawn, seen.unnamed) == (0, 0)
    assert seen.overflow <= 0, "nothing makes the page scroll sideways"
    assert set(seen.charts) == set(CHARTS)
    assert {name for name, box in seen.charts.items() if seen.ink(box) < 200} == set()
    rows = {
        y: sum(w for _, other, w, _ in seen.charts.values() if abs(other - y) < 60)
        for _, y, _, _ in seen.charts.values()
    }
    assert min(rows.values()) > 0.85 * width, "the charts of a row leave no part of the page empty"
    assert seen.painted == [8 + 8 + 8 + 2 + 8 + 8]
    assert seen.ink(seen.canvases[0]) > 2000
    assert seen.flames == [5 if width == 390 else 6], "one box is a thousandth wide"
    assert seen.ink(seen.flame_boxes[0]) > 2000
    assert seen.said == [
        "start: 879 KiB (100 %, bytes)",
        "0 s, 0x7f0000010000 (64 KiB): 0.39 % live",
    ]
    assert seen.moments == [
        [
            "all: 195 KiB (100 %, live at 1.00 s)",
            "all: 97.7 KiB (100 %, grown from 0.500 s to 1.00 s)",
        ]
    ]
    assert seen.clicked == ["all: 195 KiB (100 %, live at 1.00 s), true"]
    assert seen.focusable > 20
