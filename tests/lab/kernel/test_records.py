# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Records of a guest become samples and figures; a guest that did not end is said to have died."""

import json
from typing import Any

import pytest

from heapwright.kernel.records import GuestError, read_records, responses

SAMPLE = {
    "total_kib": 100000,
    "free_kib": 60000,
    "slab_kib": 5000,
    "slab_reclaimable_kib": 2000,
    "slab_unreclaimable_kib": 3000,
    "stacks_kib": 300,
    "page_tables_kib": 100,
    "anonymous_kib": 50,
    "cached_kib": 70,
    "oom_kill": 0,
    "pgalloc_dma32": 9,
    "compact_stall": 0,
    "pgsteal_kswapd": 0,
    "pgsteal_direct": 0,
    "fragmentation_events": 0,
    "fragmentation_orders": "",
}
BEGIN = {"record": "begin", "at_ns": 1, "allocator": "slub", "load": "churn", "seed": 1, "cpus": 1}
END = {"record": "end", "at_ns": 99}


def sample(at_ns: int, **changed: object) -> dict[str, Any]:
    return {"record": "sample", "at_ns": at_ns, "where": "churn", **SAMPLE, **changed}


def raw(*records: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in records)


def test_samples_become_figures() -> None:
    later = sample(9, slab_kib=7000, fragmentation_events=12, fragmentation_orders="0:10,3:2")
    churn = {"record": "churn", "at_ns": 8, "ns": 2_500_000_000, "made": 7, "removed": 6}
    records = read_records(raw(BEGIN, sample(2), churn | {"refused": 1}, later, END), ())
    assert (records.allocator, records.cpus) == ("slub", 1)
    found = responses(records)
    assert found["time_s"] == 2.5
    assert found["slab_begin_kib"] == 5000
    assert found["slab_peak_kib"] == found["slab_end_kib"] == 7000
    assert found["kernel_peak_kib"] == 7400
    assert found["fragmentation_events"] == 12
    assert found["refused"] == 1


def test_time_and_events_of_sysbench_are_parsed() -> None:
    lines = ("    total time:                          0.5560s", "    total number of events: 2000")
    output = [
        {"record": "output", "at_ns": 5, "program": "sysbench", "line": each} for each in lines
    ]
    phase = {"record": "phase", "at_ns": 6, "phase": "run", "ns": 600_000_000}
    found = responses(read_records(raw(BEGIN, *output, phase, END), ()))
    assert (found["time_s"], found["events"], found["run_s"]) == (0.556, 2000, 0.6)


def test_paths_are_microseconds_of_a_pair() -> None:
    pipe = {"record": "path", "at_ns": 5, "object": "pipe", "times": 1000, "ns": 11_650_000}
    fork = {"record": "path", "at_ns": 6, "object": "fork", "times": 10, "ns": 1_600_000}
    found = responses(read_records(raw(BEGIN, pipe, fork, END), ()))
    assert (found["pipe_us"], found["fork_us"]) == (11.65, 160)
    assert found["time_s"] == pytest.approx(0.01325)


def test_a_guest_that_says_nothing_did_not_boot_and_its_console_is_shown() -> None:
    with pytest.raises(GuestError, match="did not boot") as caught:
        read_records(b"", ("Kernel panic - not syncing",))
    assert "Kernel panic - not syncing" in caught.value.hint


def test_a_guest_without_an_end_died() -> None:
    with pytest.raises(GuestError, match="died in the middle; its last record is 'sample'"):
        read_records(raw(BEGIN, sample(2)) + b'{"record":"en', ())


def test_a_guest_that_failed_says_what_and_why() -> None:
    failure = {"record": "failure", "at_ns": 5, "what": "mounting ext4", "why": "No such device"}
    with pytest.raises(GuestError, match="the guest failed: mounting ext4: No such device"):
        read_records(raw(BEGIN, failure), ())


def test_a_record_that_lacks_a_figure_is_an_error() -> None:
    broken = sample(2)
    del broken["slab_kib"]
    with pytest.raises(GuestError, match="cannot be read"):
        read_records(raw(BEGIN, broken, END), ())


@pytest.mark.parametrize("phase", ["served", "compiled"])
def test_the_phase_that_is_a_whole_load_is_its_time(phase: str) -> None:
    made = {"record": "phase", "at_ns": 5, "phase": phase, "ns": 1_500_000_000}
    found = responses(read_records(raw(BEGIN, sample(2), made, END), ()))
    assert found["time_s"] == found[f"{phase}_s"] == 1.5


def test_what_a_failed_program_printed_is_shown() -> None:
    printed = {"record": "output", "at_ns": 5, "program": "gcc", "line": "stdio.h: no such file"}
    failed = {"record": "failure", "at_ns": 6, "what": "gcc", "phase": "-c", "status": 1}
    with pytest.raises(GuestError, match="the guest failed: gcc: -c") as caught:
        read_records(raw(BEGIN, printed, failed), ("reboot",))
    assert "stdio.h: no such file" in caught.value.hint
    assert "reboot" in caught.value.hint
