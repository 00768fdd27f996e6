# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The terminal has every aspect, at any width, and nothing is cut."""

from io import StringIO

import pytest

from heapwright.artefacts.profile.document import Profile, Spread
from heapwright.report.console import make_console
from heapwright.report.profile.missing_data import remarks
from heapwright.report.profile.summary import CURVE, curve, entries, print_summary
from heapwright.report.profile.words import chain_of


def shown(profile: Profile, width: int | None = None, *, quiet: bool = False) -> str:
    stream = StringIO()
    print_summary(make_console(stream, width=width), profile, quiet=quiet)
    return stream.getvalue()


@pytest.mark.parametrize("width", [None, 100, 40])
def test_the_summary_shows_every_aspect(profile: Profile, width: int | None) -> None:
    text = " ".join(shown(profile, width).split())
    for part in (
        "1,000 allocations, 1.19 MiB in all",
        "5 distinct; the ten commonest make 100 %: 24 B 60.0 %",
        "malloc 80.0 %, calloc 10.0 %, realloc 9.0 %, aligned 1.0 %",
        "never freed: 50 blocks, 256 KiB",
        "short (up to 100 ms) 75.0 %, medium (up to 1 s) 10.0 %, long 15.0 %",
        "growing",
        "1 MiB in 1,024 objects at the most",
        "123 blocks (13.0 %) freed by another, 100 of them from thread 0 to 1",
        "2x at the most, 8x at the end (heap memory taken from the system, A, over live memory, U)",
        "195 KiB (19.1 %) live in 40 blocks: leak<b>()",
        "256 KiB in 50 blocks: leak<b>()",
        "At byte 4,096: a block's checksum is wrong; left out.",
    ):
        assert part in text, part


@pytest.mark.parametrize("width", [40, 72, 100])
def test_no_line_is_too_long(profile: Profile, width: int) -> None:
    lines = shown(profile, width).splitlines()
    assert max(map(len, lines)) <= width
    assert [line for line in lines if line != line.rstrip() and "▁" not in line] == []


def test_the_place_with_most_calls_comes_first(profile: Profile) -> None:
    busy = max(profile.sites, key=lambda site: site.allocations)
    first = next(text for aspect, text in entries(profile) if aspect == "Most calls")
    assert first.startswith(f"{busy.allocations:,} allocations (")
    assert first.endswith(f": {chain_of(busy)}")


def test_the_peak_is_not_later_than_the_last_call(profile: Profile) -> None:
    """A recording begins before the first call: the times of its points count from there."""
    early = 6.0
    moved = profile.model_copy(
        update={
            "peak": profile.peak.model_copy(update={"time_s": profile.peak.time_s + early}),
            "timeline": tuple(
                point.model_copy(update={"time_s": point.time_s + early})
                for point in profile.timeline
            ),
        }
    )
    told = dict(entries(profile))["Live memory"]
    assert told.split(";")[0].endswith(" after the first call")
    assert dict(entries(moved))["Live memory"] == told


def test_remarks_report_an_incomplete_trace(profile: Profile) -> None:
    lines = "\n".join(remarks(profile))
    assert "stopped early" not in lines
    assert "not closed" not in lines
    origin = profile.provenance.model_copy(update={"stopped": "disk-full", "closed": False})
    told = "\n".join(remarks(profile.model_copy(update={"provenance": origin})))
    assert "Recording stopped early: the disk was full; what came later is missing." in told
    assert "not closed" not in told
    origin = profile.provenance.model_copy(update={"closed": False})
    told = "\n".join(remarks(profile.model_copy(update={"provenance": origin})))
    assert "The recording was not closed" in told


def test_quiet_is_one_line(profile: Profile) -> None:
    assert shown(profile, 40, quiet=True).count("\n") == 1


def test_the_curve_rises_and_falls_as_memory_does(profile: Profile) -> None:
    drawn = curve(profile)
    assert len(drawn) == CURVE
    assert drawn[0] == " "
    assert "█" in drawn[CURVE // 2 - 1 : CURVE // 2 + 1]
    assert drawn[-1] in "▂▃"


def test_repetitions_have_a_table(profile: Profile) -> None:
    spread = Spread(figure="totals.allocations", mean=1001.5, sd=2.5, least=998, most=1004)
    text = shown(profile.model_copy(update={"repetitions": 30, "spread": (spread,)}))
    assert "Over 30 repetitions" in text
    (line,) = [line for line in text.splitlines() if line.startswith("total memory, allocations")]
    assert line.split()[-4:] == ["1,002", "2", "998", "1,004"]
