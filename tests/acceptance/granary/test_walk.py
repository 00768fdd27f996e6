# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A walk over the heap shows what is live, all of it and nothing else."""

from .conftest import Ask


def test_all_that_is_live_is_shown_and_nothing_else(ask: Ask) -> None:
    """Without the background thread: the C library allocates when it starts one."""
    answer = ask("walk", "background=off")
    assert answer["live"] == "7500"
    assert answer["missing"] == "0"
    assert answer["wrong"] == "0"
    assert answer["strange"] == "0", "shown as live, and nobody's"
    assert int(answer["cached"]) > 0
    assert int(answer["large"]) >= 10
    assert answer["agrees"] == "1", "with the figures of the same moment"


def test_the_visitor_of_a_walk_may_allocate_and_stop_it(ask: Ask) -> None:
    answer = ask("walk-and-use")
    assert answer["answer"] == "17"
    assert answer["shown"] == "50"


def test_objects_are_shown_as_large_as_they_may_be_used(ask: Ask, allocator: str) -> None:
    """To the byte where the end of each is guarded. No access to the bytes left by rounding is
    allowed.
    """
    answer = ask("walk")
    assert (answer["exact"] == answer["live"]) == (allocator == "granary-hardened")


def test_a_walk_shows_the_same_while_memory_goes_back(ask: Ask) -> None:
    answer = ask("walk", "background=on,return=at-once")
    assert answer["missing"] == "0"
    assert answer["strange"] == "0"
