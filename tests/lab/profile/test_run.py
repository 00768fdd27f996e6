# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""From a trace to its profile: every row of the report, on a trace that can be computed by hand."""

from pathlib import Path

import pytest

from heapwright import __version__
from heapwright.artefacts.profile.document import Profile
from heapwright.base.errors import HeapwrightError
from heapwright.profile.reader import read_profile
from heapwright.profile.run import profile_trace


@pytest.fixture
def profile(trace: Path) -> Profile:
    return profile_trace(trace)


def test_where_it_comes_from(profile: Profile, trace: Path) -> None:
    origin = profile.provenance
    assert (origin.trace, origin.events, origin.lost, origin.sampled) == (str(trace), 10, 0, 1)
    assert profile.heapwright_version == __version__
    assert origin.faults == ()


def test_totals_and_sizes(profile: Profile) -> None:
    totals = profile.totals
    assert (totals.allocations, totals.bytes) == (5, 100 + 300 + 100 + 500 + 64)
    assert totals.mean_bytes == pytest.approx(1064 / 5)
    assert (totals.frees, totals.null_frees, totals.unknown_frees) == (5, 1, 1)
    assert (totals.never_freed, totals.never_freed_bytes) == (1, 64)
    assert totals.growth_bytes == 100 + 300 + 100 + 200 + 64
    assert [(each.size, each.count) for each in profile.sizes.top] == [
        (100, 2),
        (64, 1),
        (300, 1),
        (500, 1),
    ]
    assert (profile.sizes.distinct, profile.sizes.top10_share) == (4, 1)
    assert profile.sizes.cumulative == ((64, 0.2), (100, 0.6), (300, 0.8), (500, 1))
    assert [(b.low, b.high, b.count) for b in profile.sizes.histogram] == [
        (32, 64, 1),
        (64, 128, 2),
        (256, 512, 2),
    ]


def test_routines(profile: Profile) -> None:
    routines = profile.routines
    shares = [
        part.share
        for part in (routines.malloc, routines.calloc, routines.realloc, routines.aligned)
    ]
    assert shares == [0.4, 0.2, 0.2, 0.2]
    assert routines.reallocs.moved == 1
    assert routines.detail["free"].calls == 5
    assert routines.detail["memalign"].bytes == 64


def test_retention_and_pattern(profile: Profile) -> None:
    retention = profile.retention
    # 0x1000: 49 ms; 0x2000: 58 ms; 0x3000: 397 ms; 0x4000: 1439 ms; 0x5000: never
    assert (retention.short_count, retention.medium_count, retention.long_count) == (2, 1, 2)
    assert (retention.short, retention.long, retention.never_freed_share) == (0.4, 0.4, 0.2)
    assert sum(bucket.count for bucket in retention.distribution) == 4
    assert profile.pattern.long_lived == ((10, 2),)
    assert profile.pattern.kind == "growing"
    assert "75 %" in profile.pattern.rule


def test_memory_over_time(profile: Profile) -> None:
    assert profile.peak_live_bytes == 100 + 500 + 64
    assert profile.peak_live_objects == 3
    assert (profile.peak.operation, profile.peak.live_objects) == (7, 3)
    assert profile.peak.time_s == pytest.approx(0.080)
    live = {point.operation: point.live_bytes for point in profile.timeline}
    assert live[7] == profile.peak_live_bytes
    assert profile.timeline[-1].live_bytes == 64
    assert len(profile.timeline) <= 1000
    assert max(point.most_live_bytes for point in profile.timeline) == profile.peak_live_bytes
    for series in profile.sizes.over_time:
        assert len(series.allocations) == len(series.live) == len(profile.timeline)
    assert profile.sizes.over_time[0].size == 100
    assert profile.sizes.over_time[0].allocations[-1] == 2


def test_threads(profile: Profile) -> None:
    crossed = profile.cross_thread_frees
    assert (crossed.count, crossed.share) == (2, 0.5)
    assert crossed.pairs == ((0, 1, 2),)
    assert [thread.allocations for thread in profile.threads] == [4, 1]


def test_it_reads_back(profile: Profile) -> None:
    assert Profile.from_json(profile.to_json()) == profile


def test_a_profile_and_its_trace_are_read_alike(trace: Path, tmp_path: Path) -> None:
    profile = read_profile(trace)
    (tmp_path / "p.json").write_text(profile.to_json())
    assert read_profile(tmp_path / "p.json") == profile


def test_one_process_of_the_trace(trace: Path) -> None:
    assert profile_trace(trace, 0).totals == profile_trace(trace).totals
    with pytest.raises(HeapwrightError, match="has no process 5 that made calls"):
        profile_trace(trace, 5)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "byte 0"),
        (b"#!/bin/sh\n", "no trace"),
        (b'{"format": "something else"}', "is not a profile"),
        (b"{", "is not a profile"),
    ],
)
def test_other_files_are_refused(
    content: bytes, complaint: str, trace: Path, tmp_path: Path
) -> None:
    del trace
    other = tmp_path / "other"
    other.write_bytes(content)
    with pytest.raises(HeapwrightError, match=complaint):
        read_profile(other)
    with pytest.raises(HeapwrightError, match="cannot be read"):
        read_profile(tmp_path / "missing")


def test_the_rest_of_a_damaged_trace_is_profiled(trace: Path) -> None:
    data = bytearray(trace.read_bytes())
    block = next(at for at in range(4096, len(data), 4096) if data[at : at + 5] == b"HWBK\x01")
    data[block + 80] ^= 0x10  # among events: the checksum is wrong then
    trace.write_bytes(data)
    profile = profile_trace(trace)
    assert 0 < profile.provenance.events < 10
    assert [fault.offset for fault in profile.provenance.faults] == [block]
