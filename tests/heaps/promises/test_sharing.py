# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Granary never puts objects of two threads on one line, as the workloads' own detector sees it.

In two workloads threads end and leave objects. Granary may put objects of a running thread beside
those, and granary-strict may not.

The detector decides from addresses at each allocation (workloads/support/lines.hpp). The program's
later use of its objects has no influence. Not one of them may be shared, actively or passively.
"""

import json
import subprocess

import pytest

from heapwright.artefacts.workload.library import workload_path

from .conftest import preloaded

# Those in which threads use what others have freed or left, and the rest that has threads.
WORKLOADS: dict[str, tuple[str, ...]] = {
    "cache-thrash": ("--writes", "1000"),
    "cache-scratch": ("--writes", "1000"),
    "larson": ("--blocks", "300", "--steps", "2000", "--lives", "5"),
    "t-test1": ("--total", "12", "--actions", "400"),
    "producer-consumer": ("--batch", "100", "--rounds", "100"),
    "round-robin": ("--batch", "100", "--rounds", "100"),
    "threadtest": ("--objects", "3000", "--rounds", "5"),
    "phong": ("--objects", "8000"),
    "shbench": ("--blocks", "6000", "--slots", "600"),
    "barnes-hut": ("--bodies", "500", "--rounds", "2"),
    "uma-test": ("--scale", "0.2"),
    "mixed": ("--scale", "0.3"),
}


ENDING = {"larson", "mixed"}
"""Their threads leave objects to their successors."""


def shared(allocator: str, workload: str, threads: int, *options: str) -> dict[str, int]:
    done = subprocess.run(
        [workload_path(workload), "--observe", "lines", "--threads", str(threads), *options],
        env=preloaded(allocator),
        capture_output=True,
        text=True,
        check=True,
    )
    sharing: dict[str, int] = json.loads(done.stdout)["false_sharing"]
    assert sharing["mallocs"] > 0
    return sharing


@pytest.mark.parametrize("threads", [2, 5, 16])
@pytest.mark.parametrize("workload", WORKLOADS)
def test_granary_shares_no_cache_lines_between_threads(
    granary: str, workload: str, threads: int
) -> None:
    allocator = "granary-strict" if workload in ENDING else granary
    sharing = shared(allocator, workload, threads, *WORKLOADS[workload])
    assert (sharing["active"], sharing["passive"]) == (0, 0), sharing


@pytest.mark.parametrize("workload", ["larson", "mixed"])
def test_a_heap_without_clean_lines_is_found(granary: str, workload: str) -> None:
    assert granary
    # The schedule decides how the threads meet: a single run may contain no passive sharing.
    runs = [shared("hoard", workload, 5, *WORKLOADS[workload]) for _ in range(5)]
    assert any(sharing["active"] > 0 for sharing in runs)
    assert any(sharing["passive"] > 0 for sharing in runs)
