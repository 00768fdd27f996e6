# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Kernels that are in the cache boot; twice with one seed they record the same bytes."""

import os

import pytest

from heapwright.kernel.booting import Asked, boot
from heapwright.kernel.cache import Built, every
from heapwright.kernel.loads import load_of
from heapwright.kernel.places import cache_home
from heapwright.kernel.records import GuestError

CACHE = cache_home(os.environ)
KERNELS = list(every(CACHE))


def test_a_cached_kernel_boots_and_runs_its_own_allocator() -> None:
    built = KERNELS[0]
    found = boot(built, Asked(load_of("nothing", "small")), CACHE)
    assert found.kernel.allocator == built.allocator
    assert found.samples[0].slab_kib > 0
    assert found.responses["oom_kill"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("built", KERNELS, ids=lambda built: built.key)
def test_two_boots_with_one_seed_record_the_same_bytes(built: Built) -> None:
    asked = Asked(load_of("churn", "small"), seed=5)
    first, second = boot(built, asked, CACHE), boot(built, asked, CACHE)
    assert first == second
    assert first.responses["fragmentation_events"] > 0
    assert first.responses["oom_kill"] == 0
    other = boot(built, Asked(load_of("churn", "small"), seed=6), CACHE)
    assert other.records_sha256 != first.records_sha256


@pytest.mark.slow
@pytest.mark.parametrize("built", KERNELS, ids=lambda built: built.key)
@pytest.mark.parametrize("load", ["fileio", "memory"])
def test_sysbench_runs_in_the_guest(built: Built, load: str) -> None:
    found = boot(built, Asked(load_of(load, "small")), CACHE)
    assert found.responses["time_s"] > 0
    assert found.responses["events"] > 0


@pytest.mark.slow
def test_a_guest_that_takes_too_long_is_ended_and_shown() -> None:
    asked = Asked(load_of("churn", "published"), timeout_s=2)
    with pytest.raises(GuestError, match="not done after 2 s"):
        boot(KERNELS[0], asked, CACHE)
