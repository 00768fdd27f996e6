# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Every routine is written down as the program called it, with what it asked and what it got."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from .bench import Bench, Recorded

HUGE = 2**63 - 1


@pytest.fixture(scope="module")
def routines(recording: Bench) -> Recorded:
    run = recording.record([recording.program("routines.c")])
    recording.sound(run)
    return run


def only(run: Recorded, **values: object) -> dict[str, Any]:
    found = run.events()
    for name, value in values.items():
        found = found.filter(pl.col(name) == value)
    assert found.height == 1, found
    return found.row(0, named=True)


@pytest.mark.parametrize(
    ("routine", "size", "alignment"),
    [
        ("malloc", 101, 0),
        ("calloc", 201, 0),
        ("reallocarray", 301, 0),
        ("memalign", 401, 64),
        ("aligned_alloc", 512, 128),
        ("posix_memalign", 601, 256),
        ("valloc", 701, 0),
        ("pvalloc", 801, 0),
    ],
)
def test_an_event_has_the_requested_and_usable_size(
    routines: Recorded, routine: str, size: int, alignment: int
) -> None:
    event = only(routines, routine=routine, size=size)
    assert event["alignment"] == alignment
    assert event["address"] % max(alignment, 16) == 0
    assert size <= event["usable"] < size + 8192


def test_a_realloc_is_one_event_with_both_blocks_and_both_times(routines: Recorded) -> None:
    first = only(routines, routine="realloc", size=301)
    second = only(routines, routine="realloc", size=30000)
    assert first["old"] == 0
    assert second["old"] == first["address"]
    assert second["began"] < second["time"]
    assert first["time"] <= second["began"]


def test_a_failed_call_has_no_address(routines: Recorded) -> None:
    assert only(routines, routine="malloc", size=HUGE)["address"] == 0
    assert only(routines, routine="calloc", size=2**64 - 1)["address"] == 0
    failed = only(routines, routine="realloc", size=HUGE)
    assert failed["address"] == 0
    assert failed["old"] == only(routines, size=901)["address"]


def test_frees_of_null_and_realloc_to_nothing(routines: Recorded) -> None:
    nulls = routines.events().filter((pl.col("routine") == "free") & (pl.col("address") == 0))
    assert nulls.height == 2  # its own, and that of what realloc(block, 0) gave
    assert only(routines, routine="realloc", size=0)["address"] == 0
    assert routines.live() == {}


def test_times_do_not_go_back(routines: Recorded) -> None:
    times = routines.events()["time"]
    assert times.is_sorted()
    assert times[-1] > times[0] > 0


def test_the_operators_of_cxx(recording: Bench) -> None:
    run = recording.record([recording.program("operators.cpp")])
    recording.sound(run)
    assert run.out == "caught\n"
    events = run.events()
    by_size = {
        row["size"]: row["routine"]
        for row in events.iter_rows(named=True)
        if 110 < row["size"] < 120
    }
    assert by_size == {
        111: "new",
        112: "new[]",
        113: "new",
        114: "new[]",
        115: "new",
        116: "new aligned",
        117: "new[] aligned",
        118: "new",
    }
    assert only(run, routine="new", size=HUGE)["address"] == 0
    own = [name for name in run.events()["routine"].to_list() if name.startswith("delete")]
    assert own == [
        "delete",
        "delete[]",
        "delete sized",
        "delete[] sized",
        "delete",
        "delete aligned",
        "delete[] aligned",
        "delete",
    ]


def test_a_program_that_replaces_operators_is_recorded_below_them(recording: Bench) -> None:
    run = recording.record([recording.program("replaced.cpp")])
    recording.sound(run)
    assert not any(name.startswith(("new", "delete")) for name in run.counts())
    assert run.of_size(100000)["routine"].to_list() == ["malloc"]


def test_a_c_program_does_not_get_a_cxx_runtime(recording: Bench, endings: Path) -> None:
    run = recording.record(["/bin/sh", "-c", "cat /proc/self/maps"], "--follow-children")
    assert "libheapwright-recorder" in run.out
    assert "libstdc++" not in run.out
    assert endings.exists()
