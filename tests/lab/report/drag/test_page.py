# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The page is whole in itself, escapes what it is given, and its chart has both curves."""

from types import ModuleType

from heapwright.artefacts.drag.document import Drag
from heapwright.report.drag.page import page


def test_the_page_needs_nothing_else(drag: Drag, browsing: ModuleType) -> None:
    found = browsing.Reader(page(drag))
    assert found.fetched == []
    assert {jump.removeprefix("#") for jump in found.jumps} <= set(found.ids)
    assert len(found.jumps) == 4


def test_names_are_escaped(drag: Drag) -> None:
    text = page(drag)
    assert "<title>Drag of ./program &lt;b&gt;</title>" in text
    assert "parse&lt;int&gt; (p.cpp:7)" in text
    assert "<b>" not in text.split("<script")[0]


def test_figures_and_sites_are_there(drag: Drag) -> None:
    text = page(drag).split("<script")[0]
    for part in ("3.34", "+63.0 %", "15.9 KiB", "90.0 %", "And 4 more sites", "not watched"):
        assert part in text
    assert "prompt (g.c:4)" not in text


def test_the_chart_has_both_curves(drag: Drag, browsing: ModuleType) -> None:
    specs = browsing.specs_in(page(drag))
    assert list(specs) == ["curves"]
    assert browsing.marks_of(specs["curves"]) >= 2
    ((values,),) = [specs["curves"]["datasets"].values()]
    of = {name: [each["y"] for each in values if each["of"] == name] for name in ("held", "needed")}
    assert [need / held for held, need in zip(of["held"][1:], of["needed"][1:], strict=True)] == [
        0.5
    ] * 15
    assert values[-1]["x"] == 60
    assert max(of["held"]) == 15


def test_a_program_without_objects_has_a_page(nothing: Drag, browsing: ModuleType) -> None:
    text = page(nothing)
    assert browsing.specs_in(text) == {}
    assert "It allocated nothing." in text
