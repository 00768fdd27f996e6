# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a long run is whole in itself, escapes, and draws every series with its growth."""

from pathlib import Path
from types import ModuleType

import pytest

from heapwright.artefacts.long_run.document import Load, LongRun
from heapwright.report.long_run.page import page


def test_the_page_needs_nothing_else(long_run: LongRun, browsing: ModuleType) -> None:
    found = browsing.Reader(page(long_run))
    assert found.fetched == []
    assert {jump.removeprefix("#") for jump in found.jumps} <= set(found.ids)
    assert len(found.jumps) == 4


def test_figures_are_there_and_names_are_escaped(long_run: LongRun) -> None:
    text = page(long_run).split("<script")[0]
    for part in ("server &lt;b&gt;", "a note with &lt;i&gt;", "+60.0 MiB", "1.25", "mallinfo2"):
        assert part in text
    assert "<b>" not in text


def test_the_chart_has_each_series_and_the_line_of_its_growth(
    long_run: LongRun, browsing: ModuleType
) -> None:
    specs = browsing.specs_in(page(long_run))
    assert list(specs) == ["memory", "client-rate"]
    samples, fits = sorted(specs["memory"]["datasets"].values(), key=len, reverse=True)
    assert {each["of"] for each in samples} == {"resident", "live", "held"}
    (first, last) = fits
    assert first["of"] == last["of"] == "held"
    assert last["y"] - first["y"] == 60.0 * (last["x"] - first["x"])


def test_a_gap_in_the_samples_does_not_move_the_line(
    long_run: LongRun, browsing: ModuleType
) -> None:
    seen = tuple(each for each in long_run.samples if not 1500 < each.time_s < 3300)
    specs = browsing.specs_in(page(long_run.model_copy(update={"samples": seen})))
    _, (first, last) = sorted(specs["memory"]["datasets"].values(), key=len, reverse=True)
    late = sorted(each.time_s / 60 for each in seen if each.time_s >= long_run.settled_s)
    middle = (late[(len(late) - 1) // 2] + late[len(late) // 2]) / 2
    share = (middle / 60 - first["x"]) / (last["x"] - first["x"])
    assert first["y"] + share * (last["y"] - first["y"]) == pytest.approx(35.0)


@pytest.mark.programs
@pytest.mark.parametrize(("width", "dark"), [(390, True), (1280, False)])
def test_a_browser_draws_all_of_it(
    long_run: LongRun, browsing: ModuleType, tmp_path: Path, width: int, dark: bool
) -> None:
    seen = browsing.look(page(long_run, "A sentence."), tmp_path, width, dark=dark)
    assert (seen.undrawn, seen.unnamed) == (0, 0)
    assert seen.overflow <= 0, "nothing makes the page scroll sideways"
    assert set(seen.charts) == {"memory", "client-rate"}
    assert seen.ink(seen.charts["memory"]) > 1000
    assert seen.ink(seen.charts["client-rate"]) > 20


def test_a_load_that_changes_colours_the_client(long_run: LongRun, browsing: ModuleType) -> None:
    load = Load(hours=2.0, vary="word", values=("a", "b"))
    plan = long_run.plan.model_copy(update={"load": load})
    specs = browsing.specs_in(page(long_run.model_copy(update={"plan": plan})))
    assert specs["client-rate"]["encoding"]["color"]["field"] == "of"


def test_nothing_seen_has_a_page_too(long_run: LongRun) -> None:
    empty = long_run.model_copy(update={"samples": (), "rounds": (), "growths": ()})
    assert "Nothing was seen." in page(empty)
