# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Blowup as the theory has it: Hoard's is constant, private heaps' has no bound, owners' grows.

Memory is what the workload brought about, as its own samples tell; live memory is the same in all
runs that are compared. `heapwright taxonomy` fits whole curves; here stand their ends, with room.
"""

import json
import os
import subprocess

import pytest

from heapwright.artefacts.workload.library import workload_path
from heapwright.base import native


def taken(allocator: str, workload: str, *options: str) -> float:
    """The most resident memory over the most live memory."""
    plain = {key: value for key, value in os.environ.items() if not key.startswith("LD_")}
    done = subprocess.run(
        [workload_path(workload), "--observe", "memory", *options],
        env=plain | {"LD_PRELOAD": str(native.library(allocator))},
        capture_output=True,
        check=True,
    )
    line = json.loads(done.stdout)
    return float((line["peak_resident"] - line["resident_before"]) / line["peak_live"])


def over_time(allocator: str) -> float:
    """How much more memory is taken when one thread has allocated for another ten times as long."""
    short, long = (
        taken(allocator, "producer-consumer", "--threads", "2", "--rounds", str(rounds))
        for rounds in (100, 1000)
    )
    return long / short


def over_threads(allocator: str) -> float:
    """How much more memory is taken when the same work goes round 16 threads instead of 2."""
    few, many = (taken(allocator, "round-robin", "--threads", str(threads)) for threads in (2, 16))
    return many / few


def test_private_heaps_grow_without_bound() -> None:
    assert over_time("private") > 7


@pytest.mark.parametrize("allocator", ["hoard", "hoard-3.8", "thresholds", "miser"])
def test_calls_that_return_memory_do_not_count(allocator: str) -> None:
    assert over_time(allocator) < 2.5


def test_memory_of_owners_grows_with_the_threads() -> None:
    assert over_threads("ptmalloc2") > 4


@pytest.mark.parametrize("allocator", ["hoard", "thresholds"])
def test_memory_of_hoard_does_not(allocator: str) -> None:
    assert over_threads(allocator) < 1.5
