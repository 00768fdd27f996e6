# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A file for DHAT has one point for each stack, and DHAT's own viewer shows its totals."""

import json
import re
import shutil
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from heapwright.artefacts.stacks.profile import Amount, StackProfile
from heapwright.base.errors import HeapwrightError
from heapwright.report.stacks.dhat import dhat_of
from support.running import ran

VIEWERS = (Path("/usr/libexec/valgrind"), Path("/usr/lib/x86_64-linux-gnu/valgrind"))
PAGE = """<!DOCTYPE html><meta charset="utf-8"><script src="{viewer}"></script>
<body><script>
onLoad();
gFilename = "heapwright";
gData = {data};
tryFunc(() => {{ buildTree(); displayTree(0, 0, 0); }});
</script></body>
"""


def document(stacks: StackProfile) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(dhat_of(stacks))
    return found


def test_points_add_up_to_the_totals(stacks: StackProfile) -> None:
    points = document(stacks)["pps"]
    for field, amount in (
        ("tb", Amount.BYTES),
        ("tbk", Amount.ALLOCATIONS),
        ("gb", Amount.AT_PEAK_BYTES),
        ("gbk", Amount.AT_PEAK),
        ("eb", Amount.KEPT_BYTES),
        ("ebk", Amount.KEPT),
    ):
        assert sum(each[field] for each in points) == stacks.total(amount)
    assert all(each["mb"] == max(each["gb"], each["eb"]) for each in points)


def test_a_stack_is_one_point_and_begins_with_its_innermost_function(
    stacks: StackProfile,
) -> None:
    found = document(stacks)
    names = [[found["ftbl"][place] for place in each["fs"]] for each in found["pps"]]
    assert names == [
        ["no stack"],
        ["keep (keep.h:4)", "main (program.c:9)"],
        ["grow;it (grow.c:7)", "keep (keep.h:4)", "main (program.c:9)"],
        ["libx.so.1+0xabc", "keep (keep.h:4)", "main (program.c:9)"],
    ]
    assert found["ftbl"][0] == "[root]"
    assert (found["te"], found["tu"]) == (2_500_000, "µs")


def test_live_memory_alone_is_in_use(stacks: StackProfile) -> None:
    live = replace(stacks, known=frozenset({Amount.KEPT, Amount.KEPT_BYTES}), at_end=False)
    found = document(live)
    assert (found["verb"], found["bklt"]) == ("In use", False)
    assert sum(each["tb"] for each in found["pps"]) == stacks.total(Amount.KEPT_BYTES)
    assert "gb" not in found["pps"][0]


def test_uncounted_blocks_are_refused(stacks: StackProfile) -> None:
    with pytest.raises(HeapwrightError, match="does not count blocks"):
        dhat_of(replace(stacks, known=frozenset({Amount.AT_PEAK_BYTES})))


@pytest.mark.programs
def test_the_viewer_of_dhat_shows_the_totals(stacks: StackProfile, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or pytest.skip("no chromium (package chromium)")
    viewer = next((each / "dh_view.js" for each in VIEWERS if each.is_dir()), None)
    if viewer is None:
        pytest.skip("DHAT's viewer is not there (package valgrind)")
    page = tmp_path / "page.html"
    page.write_text(PAGE.format(viewer=viewer.as_uri(), data=dhat_of(stacks)), encoding="utf-8")
    shown = ran(
        [
            *(browser, "--headless", "--no-sandbox", "--disable-gpu"),
            *(f"--user-data-dir={tmp_path / 'user'}", "--dump-dom", page.as_uri()),
        ],
        timeout=120,
    )
    text = re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]*>", "", shown.stdout)))
    root = text[text.index("PP 1/1") : text.index("PP 1.1")]
    assert "Total: 111,100 bytes (100%" in root
    assert "in 1,110 blocks" in root
    assert "At t-gmax: 10,100 bytes (100%) in 101 blocks" in root
    assert "At t-end: 1,100 bytes (100%) in 11 blocks" in root
    assert "grow;it (grow.c:7)" in text
