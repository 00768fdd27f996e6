# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Threads that take turns: what they do to each other comes about on any number of processors."""

import os
from collections.abc import Iterator

import pytest

from heapwright.base import native

from .conftest import result

Settings = dict[str, str] | None

TIMES = 5
LEAST = 0.002
WORK = ("--objects", 100, "--rounds", 10, "--threads", 8, "--interleave")


@pytest.fixture(scope="module", autouse=True)
def _one_processor() -> Iterator[None]:
    """A thread that yields hands the only processor over. With more of them it may go on itself, if
    other programs keep the other threads from running."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    yield
    os.sched_setaffinity(0, before)


def handed_over(allocator: str, environment: Settings = None) -> float:
    """Hand-overs for each call of the allocator, in turns."""
    library = native.counting_library(allocator)
    document = result("threadtest", *WORK, preload=library, environment=environment)
    assert document["interleave"] is True
    return float(document["events"]["hand_overs"]) / float(document["operations"])


ONE = {"HEAPWRIGHT_PROCESSORS": "1"}
EIGHT = {"HEAPWRIGHT_PROCESSORS": "8"}


@pytest.mark.parametrize(
    ("shared", "private"),
    [
        pytest.param(("kingsley", None), ("private", None), id="one lock, and private heaps"),
        pytest.param(("hoard", ONE), ("hoard", EIGHT), id="eight threads on two heaps, and on 16"),
    ],
)
def test_a_shared_heap_passes_its_lock_between_threads_and_a_private_one_does_not(
    shared: tuple[str, Settings], private: tuple[str, Settings]
) -> None:
    assert handed_over(*shared) > TIMES * handed_over(*private) + LEAST


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
