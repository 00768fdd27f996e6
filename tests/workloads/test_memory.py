# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The memory series: exact about what is live, and true about what is resident."""

from .conftest import Tiny, result

KIB = 1024
# What the kernel has not yet added up of each processor's page faults at the time of the query.
UNSEEN = 1024 * KIB


def test_live_bytes_are_exact() -> None:
    options = ("--objects", 1000, "--size", 24, "--rounds", 3, "--threads", 1)
    document = result("threadtest", *options, "--observe", "memory")
    assert document["peak_live"] == 24_000
    operations = [point[0] for point in document["memory"]]
    assert operations == sorted(set(operations))
    assert operations[-1] == document["operations"] == 6000
    assert max(point[1] for point in document["memory"]) <= 24_000
    assert document["memory"][-1][1] == 0


def test_a_long_run_has_a_series_of_bounded_length() -> None:
    options = ("--iterations", 200_000, "--threads", 1, "--observe", "memory")
    assert 100 < len(result("loop", *options)["memory"]) <= 512


def grown(rounds: int, **more: object) -> int:
    """What a producer and its consumer have made resident, for 64 KiB that are live at a time."""
    options = ("--batch", 1024, "--size", 64, "--rounds", rounds, "--threads", 2)
    document = result("producer-consumer", *options, "--observe", "memory", **more)
    assert document["peak_live"] == 64 * KIB
    peak: int = document["peak_resident"]
    before: int = document["resident_before"]
    return peak - before


def test_private_heaps_grow_with_every_batch_and_a_shared_list_does_not(tiny: Tiny) -> None:
    private = {rounds: grown(rounds, preload=tiny("PRIVATE")) for rounds in (50, 250)}
    assert private[50] >= 49 * 64 * KIB - UNSEEN
    assert private[250] - private[50] >= 199 * 64 * KIB - UNSEEN
    shared = grown(200, preload=tiny("PLAIN"))
    assert shared < 8 * 64 * KIB + UNSEEN


def test_the_programs_own_memory_is_not_the_allocators(tiny: Tiny) -> None:
    """Pointers to a million objects are 8 MB of the program's own, and none of the allocator's."""
    options = ("--batch", 1_000_000, "--size", 8, "--rounds", 4, "--threads", 1)
    document = result("round-robin", *options, "--observe", "memory", preload=tiny("PLAIN"))
    assert document["own_bytes"] >= 8_000_000
    grown_by = document["peak_resident"] - document["resident_before"]
    assert 8_000_000 - UNSEEN <= grown_by < 8_000_000 + 2 * UNSEEN


def test_fragmentation_is_what_became_resident_over_what_was_live(tiny: Tiny) -> None:
    options = ("--objects", 400_000, "--size", 64, "--rounds", 2, "--threads", 2)
    document = result("threadtest", *options, "--observe", "memory", preload=tiny("PLAIN"))
    assert document["peak_live"] <= 400_000 * 64
    assert 1 <= document["fragmentation"] < 1.6
    assert "fragmentation" not in result("threadtest", *options)


def test_objects_of_the_first_thread_count_as_fragmentation() -> None:
    """larson fills its arrays before the others begin; that is the allocator's doing as well."""
    options = ("--blocks", 100_000, "--lives", 1, "--steps", 1000, "--threads", 2)
    document = result("larson", *options, "--observe", "memory")
    assert document["resident_before"] > document["peak_live"]
    assert document["fragmentation"] > 1
