# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The summary and the page of another tool's file have its totals and its largest holders."""

from dataclasses import replace
from io import StringIO

import pytest
from rich.console import Console

from heapwright.artefacts.stacks.profile import Amount, Moment, StackProfile
from heapwright.report.stacks.holders import Holder, holders
from heapwright.report.stacks.page import stacks_page
from heapwright.report.stacks.summary import curve, entries, print_stacks, sentence

from ..browser import Reader, marks_of, specs_in


@pytest.fixture
def massif(stacks: StackProfile) -> StackProfile:
    """A profile that knows the bytes at the peak alone."""
    return replace(
        stacks,
        source="massif",
        known=frozenset({Amount.AT_PEAK_BYTES}),
        timeline=(Moment(0, 0), Moment(1, 10_100), Moment(2, 5_000)),
        notes=("A <note>",),
    )


def test_holders_are_the_largest_stacks_first(stacks: StackProfile) -> None:
    found = holders(stacks, Amount.BYTES)
    assert [(each.bytes, each.blocks) for each in found] == [
        (50_000, 500),
        (50_000, 100),
        (10_000, 500),
        (1_100, 10),
    ]
    assert sum(each.bytes for each in found) == stacks.total(Amount.BYTES)
    assert found[0].own == ("grow;it (grow.c:7)", "keep (keep.h:4)", "main (program.c:9)")


def test_functions_of_libraries_hold_nothing_themselves(stacks: StackProfile) -> None:
    libc = stacks.calls.objects[0].model_copy(update={"path": "/lib/libc.so.6"})
    calls = stacks.calls.model_copy(update={"objects": (libc, stacks.calls.objects[1])})
    (largest, _) = holders(replace(stacks, calls=calls), Amount.AT_PEAK_BYTES)
    assert largest.frames[0] == "libc.so.6+0xabc"
    assert largest.place == "keep (keep.h:4)"
    assert isinstance(largest, Holder)


def test_the_summary_has_totals_and_holders(stacks: StackProfile, massif: StackProfile) -> None:
    told = dict(entries(replace(stacks, sampling="one in 7")))
    assert told["All allocations"] == "108 KiB (111,100 bytes) in 1,110 blocks"
    assert told["Never freed"] == "1.07 KiB (1,100 bytes) in 11 blocks"
    assert told["Sampled"] == "one in 7"
    rows = [text for name, text in entries(massif) if name == "Live at the peak"]
    assert rows[:2] == [
        "9.86 KiB (10,100 bytes)",
        "9.77 KiB (99.0 %): libx.so.1+0xabc ← keep (keep.h:4) ← main (program.c:9)",
    ]
    assert sentence(massif) == "9.86 KiB (10,100 bytes) live at the peak"


def test_the_summary_fits_any_width(massif: StackProfile) -> None:
    out = StringIO()
    print_stacks(Console(file=out, width=40), massif)
    assert max(map(len, out.getvalue().splitlines())) <= 40
    assert "A <note>" in out.getvalue()


def test_the_curve_is_as_high_as_the_peak() -> None:
    drawn = curve([Moment(0, 0), Moment(1, 50), Moment(2, 100), Moment(4, 100)])
    assert drawn[0] == " "
    assert drawn[-1] == "█"
    assert drawn.index("█") == len(drawn) // 2


def test_the_page_needs_no_network_and_draws_its_chart(massif: StackProfile) -> None:
    page = stacks_page(massif, "massif.out.7")
    read = Reader(page)
    assert not read.fetched
    assert read.charts == ["live-memory"]
    assert marks_of(specs_in(page)["live-memory"]) > 0
    assert set(read.jumps) <= {f"#{name}" for name in read.ids}
    assert 'class="flame"' in page
    assert "A &lt;note&gt;" in page
    assert "live at the peak, bytes" in page
    assert "never freed" not in page
    assert "10,100" in page or "9.86 KiB" in page


def test_the_page_calls_live_memory_of_a_running_program_in_use(stacks: StackProfile) -> None:
    known = frozenset({Amount.KEPT, Amount.KEPT_BYTES})
    page = stacks_page(replace(stacks, known=known, at_end=False), "heap")
    assert "in use, bytes" in page
    assert "never freed" not in page
