# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A page is printed where a browser is; what goes wrong is said, and an older file stays."""

import re
import shutil
from pathlib import Path

import altair as alt
import pytest

from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.report.pages.frame import frame
from heapwright.report.pages.parts import Charts
from heapwright.report.pages.pdf import browser, write_pdf
from heapwright.report.pages.vega import finished


def page(paragraphs: int) -> str:
    charts = Charts()
    points = alt.Chart(alt.InlineData(values=[{"x": 1, "y": 2}])).mark_bar()
    place = charts.place("one", finished(points.encode(x="x:Q", y="y:Q"), 100), "one")
    return frame("A page", place + "<p>word</p>" * paragraphs, charts)


def script(folder: Path, text: str) -> None:
    """A browser that does as the script says."""
    path = folder / "chromium"
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)


@pytest.mark.programs
def test_a_browser_prints_all_of_it(tmp_path: Path) -> None:
    if shutil.which("chromium") is None:
        pytest.skip("no browser (package chromium)")
    sizes = []
    for paragraphs in (1, 200):
        target = tmp_path / f"{paragraphs}.pdf"
        write_pdf(page(paragraphs), target)
        data = target.read_bytes()
        assert data.startswith(b"%PDF-")
        sizes.append(len(re.findall(rb"/Type\s*/Page\b", data)))
    assert sizes[0] == 1
    assert sizes[1] > 3
    assert sorted(path.name for path in tmp_path.iterdir()) == ["1.pdf", "200.pdf"]


def test_without_a_browser_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HeapwrightError, match="printed by Chromium, and there is none") as raised:
        browser()
    assert "print it" in raised.value.hint


@pytest.mark.parametrize(
    "does",
    [
        "echo no display >&2; exit 1",
        "for a; do case $a in --print-to-pdf=*) echo x "
        '> "${a#*=}";; esac; done; echo no display >&2',
    ],
)
def test_a_browser_that_prints_nothing_leaves_the_older_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, does: str
) -> None:
    script(tmp_path, does)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    target = tmp_path / "page.pdf"
    target.write_bytes(b"older")
    with pytest.raises(HeapwrightError, match="printed nothing") as raised:
        write_pdf("<p>text</p>", target)
    assert raised.value.hint == "no display"
    assert raised.value.exit_code is ExitCode.NOT_WRITTEN
    assert target.read_bytes() == b"older"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["chromium", "page.pdf"]
