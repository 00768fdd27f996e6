# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Drag on a terminal: its figures in words, at any width."""

import io

import pytest

from heapwright.artefacts.drag.document import Drag
from heapwright.report.console import make_console
from heapwright.report.drag.summary import CURVE, curve, print_summary


def printed(drag: Drag, width: int = 200, *, quiet: bool = False, encoding: str = "utf-8") -> str:
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    print_summary(make_console(stream, width=width), drag, quiet=quiet)
    stream.seek(0)
    return stream.read()


def test_the_figures_are_printed(drag: Drag) -> None:
    text = printed(drag)
    assert "Total drag      3.34: in the mean over what it allocated, 4.98 KiB were held" in text
    assert "Peak            +63.0 %: 15.9 KiB held at most, 9.77 KiB needed at most" in text
    assert "Allocated       64 KiB in 1,234 objects" in text
    assert "Never accessed  3 objects, 300 B" in text


def test_sites_with_drag_skip_wrappers_of_malloc(drag: Drag) -> None:
    lines = printed(drag).splitlines()
    (first,) = [line for line in lines if line.startswith("parse<int> (p.cpp:7) ← main (p.cpp:9)")]
    assert "90.0 %" in first
    assert any(line.startswith("grow (g.c:3)") for line in lines)
    assert not any("prompt" in line for line in lines)


def test_missing_parts_are_noted(drag: Drag) -> None:
    text = printed(drag)
    assert "2 processes that it started were not watched" in text
    assert "1 free of what was not live" in text


def test_one_sentence(drag: Drag, nothing: Drag) -> None:
    assert printed(drag, quiet=True) == (
        "total drag 3.34, peak +63.0 % (15.9 KiB held, 9.77 KiB needed), "
        "over 64 KiB in 1,234 allocations\n"
    )
    assert printed(nothing, quiet=True) == "total drag unknown: it allocated nothing\n"


def test_the_sentence_says_that_a_program_was_killed(nothing: Drag) -> None:
    killed = nothing.provenance.model_copy(update={"signal": 9})
    assert printed(nothing.model_copy(update={"provenance": killed}), quiet=True) == (
        "total drag unknown: it allocated nothing; it was ended by SIGKILL\n"
    )


def test_a_program_without_objects_is_reported(nothing: Drag) -> None:
    assert "unknown: it allocated nothing" in printed(nothing)


@pytest.mark.parametrize("width", [20, 40, 80, 300])
def test_no_line_is_wider_than_the_terminal(drag: Drag, width: int) -> None:
    assert max(map(len, printed(drag, width).splitlines())) <= width


def test_curves_are_left_out_where_they_cannot_be_drawn(drag: Drag) -> None:
    assert "Needed" in printed(drag)
    assert "Needed" not in printed(drag, encoding="ascii")


def test_a_curve_is_drawn_at_its_scale() -> None:
    assert curve((0, 1, 50, 100), 100) == " ▁▄█"
    assert curve((), 1) == ""
    assert len(curve(tuple(range(1000)), 1000)) == CURVE
    assert curve((7,) * 100, 14) == "▄" * CURVE
