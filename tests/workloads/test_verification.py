# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What --verify promises to find is found, and a good allocator is not accused."""

import pytest

from .conftest import Tiny, result, run

FAULTS = {
    "OVERLAP": "overlaps a live object",
    "TWICE": "overlaps a live object",
    "SKEWED": "is not aligned to",
    "SCRIBBLE": "byte 20 changed when thread",
    "DIRTY": "not zero",
    "FORGETFUL": "byte 0 changed when thread",
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("threads", [1, 3])
def test_a_fault_is_detected_and_reported(fault: str, threads: int, tiny: Tiny) -> None:
    options = ("--total", 4, "--actions", 3000, "--size", 1500, "--verify", "--threads", threads)
    done = run("t-test1", *options, preload=tiny("PLAIN", fault))
    assert done.status == 1
    assert done.err.startswith("heapwright-t-test1: verification failed: ")
    assert FAULTS[fault] in done.err
    assert done.result["verified"] is False
    assert done.result["failure"] in done.err


@pytest.mark.parametrize("fault", ["OVERLAP", "SKEWED"])
@pytest.mark.parametrize("name", ["barnes-hut", "bem"])
def test_places_are_checked_where_contents_are_the_programs(
    name: str, fault: str, tiny: Tiny
) -> None:
    size = ("--bodies", 500) if name == "barnes-hut" else ("--panels", 100)
    done = run(name, *size, "--verify", "--threads", 1, preload=tiny("PLAIN", fault))
    assert done.status == 1
    assert FAULTS[fault] in done.err


@pytest.mark.parametrize("name", ["barnes-hut", "bem"])
def test_a_changed_byte_changes_the_result_of_a_computation(name: str, tiny: Tiny) -> None:
    size = ("--bodies", 500) if name == "barnes-hut" else ("--panels", 100)
    done = run(name, *size, "--verify", "--threads", 1, preload=tiny("PLAIN", "SCRIBBLE"))
    assert done.status != 0  # reported, or dead of a pointer that was changed


@pytest.mark.parametrize("forms", [("PLAIN",), ("PRIVATE",), ("PLAIN", "LEAST=64")])
def test_a_correct_allocator_passes_verification(forms: tuple[str, ...], tiny: Tiny) -> None:
    options = ("--total", 4, "--actions", 2000, "--size", 1500, "--verify", "--threads", 3)
    document = result("t-test1", *options, preload=tiny(*forms))
    assert document["verified"] is True


def test_the_result_omits_verification_unless_requested() -> None:
    assert result("loop", "--iterations", 10)["verified"] is False
