# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Threads that take turns: what they do to each other comes about on any number of processors."""

import pytest

from heapwright.base import native

from .conftest import result

# A thread that yields to another program may go on itself. Other work then lowers the turns.
OFTEN = 0.1
SELDOM = 0.02
WORK = ("--objects", 1000, "--rounds", 10, "--threads", 8, "--interleave")


def handed_over(allocator: str, environment: dict[str, str] | None = None) -> float:
    """Hand-overs for each call of the allocator, in turns."""
    library = native.counting_library(allocator)
    document = result("threadtest", *WORK, preload=library, environment=environment)
    assert document["interleave"] is True
    return float(document["events"]["hand_overs"]) / float(document["operations"])


def test_a_locked_heap_passes_its_lock_between_threads() -> None:
    assert handed_over("kingsley") > OFTEN


def test_private_heaps_stay_with_their_threads() -> None:
    assert handed_over("private") < SELDOM


def test_as_many_processors_as_the_environment_says() -> None:
    crowded = handed_over("hoard", {"HEAPWRIGHT_PROCESSORS": "1"})
    spacious = handed_over("hoard", {"HEAPWRIGHT_PROCESSORS": "8"})
    assert crowded > OFTEN, "eight threads on two heaps"
    assert spacious < SELDOM, "and each on its own"


def test_events_of_a_preparation_are_left_out() -> None:
    library = native.counting_library("serial")
    options = ("--panels", 100, "--threads", 4, "--interleave", "--phase")
    whole = result("bem", *options, "all", preload=library)
    solver = result("bem", *options, "solver", preload=library)
    verified = result("bem", *options, "solver", "--verify", preload=library)
    takes = [each["events"]["lock_takes"] for each in (solver, verified, whole)]
    assert 100 < takes[0] <= takes[1] < takes[2]
    assert takes[0] < takes[2] / 10


@pytest.mark.parametrize("observer", ["lines", "memory"])
def test_it_goes_together_with_the_observers(observer: str) -> None:
    document = result(
        "larson", "--blocks", 50, "--steps", 200, "--lives", 2, "--interleave", "--observe",
        observer, "--verify",
    )  # fmt: skip
    assert document["interleave"] is True
    assert document["verified"] is True
