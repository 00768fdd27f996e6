# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The detector of false sharing, held against allocators that bring it about or do not."""

import pytest

from .conftest import Tiny, result

ITERATIONS = 100
SMALL = ("--writes", 1000)
SHARERS = {
    "cache-thrash": SMALL,
    "cache-scratch": SMALL,
    "larson": ("--blocks", 100, "--steps", 500, "--lives", 3),
    "threadtest": ("--objects", 600, "--rounds", 3),
    "shbench": ("--blocks", 3000, "--slots", 300),
    "producer-consumer": ("--batch", 50, "--rounds", 10),
    "round-robin": ("--batch", 50, "--rounds", 10),
    "phong": ("--objects", 4000),
    "t-test1": ("--total", 6, "--actions", 200),
    "barnes-hut": ("--bodies", 500, "--rounds", 2),
}


def found(name: str, *options: object, **more: object) -> dict[str, int]:
    document = result(name, "--observe", "lines", *options, **more)
    sharing: dict[str, int] = document["false_sharing"]
    return sharing


def test_adjacent_objects_for_different_threads_share_lines_actively(tiny: Tiny) -> None:
    sharing = found("cache-thrash", *SMALL, "--threads", 4, preload=tiny("PLAIN"))
    # Four objects of 8 bytes live at a time, one for each thread. They come from as many blocks as
    # were ever live at once: 4 beside each other, so all but one of each four find company.
    assert sharing["mallocs"] == 4 * ITERATIONS
    assert 3 * ITERATIONS <= sharing["active"] <= 4 * ITERATIONS
    assert sharing["passive"] == 0
    assert sharing["objects"] == sharing["active"]
    assert sharing["lines"] == 1


def test_a_list_of_what_a_thread_freed_shares_passively(tiny: Tiny) -> None:
    sharing = found("cache-scratch", *SMALL, "--threads", 4, preload=tiny("PRIVATE"))
    # The main thread's four objects are in one line. Each thread gets its own again and again.
    assert sharing["mallocs"] == 4 * ITERATIONS + 4
    assert sharing["active"] == 0
    assert 4 * ITERATIONS - 1 <= sharing["passive"] <= 4 * ITERATIONS
    assert sharing["lines"] == 1


def test_private_pages_are_not_shared_actively(tiny: Tiny) -> None:
    sharing = found("cache-thrash", *SMALL, "--threads", 4, preload=tiny("PRIVATE"))
    assert sharing["active"] == sharing["passive"] == sharing["lines"] == sharing["at_risk"] == 0


@pytest.mark.parametrize("name", SHARERS)
def test_an_object_a_line_shares_nothing(name: str, tiny: Tiny) -> None:
    library = tiny("PLAIN", "LEAST=64")
    sharing = found(name, *SHARERS[name], "--threads", 3, preload=library)
    assert sharing["active"] == sharing["passive"] == sharing["lines"] == sharing["objects"] == 0
    assert sharing["mallocs"] > 0


def test_objects_at_risk_stand_among_those_of_others(tiny: Tiny) -> None:
    sharing = found("cache-thrash", *SMALL, "--threads", 4, preload=tiny("PLAIN", "LEAST=64"))
    assert 3 * ITERATIONS <= sharing["at_risk"] <= 4 * ITERATIONS


# With one line of threads these have several threads nonetheless, one after the other.
FOLLOWING = {"larson", "t-test1", "cache-scratch"}


@pytest.mark.parametrize("name", sorted(SHARERS.keys() - FOLLOWING))
def test_one_thread_never_shares_with_itself(name: str, tiny: Tiny) -> None:
    sharing = found(name, *SHARERS[name], "--threads", 1, preload=tiny("PRIVATE"))
    assert sharing["mallocs"] > 0
    assert sharing["active"] == sharing["passive"] == 0


def test_the_c_library_is_as_published() -> None:
    """Fischer 2018: glibc shares passively, and does not once its thread cache is turned off."""
    assert found("cache-scratch", *SMALL, "--threads", 4)["passive"] > 0
    off = {"GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    sharing = found("cache-scratch", *SMALL, "--threads", 4, environment=off)
    assert sharing["passive"] == 0


def test_successors_that_reuse_what_they_freed_share_passively(tiny: Tiny) -> None:
    sharing = found("larson", *SHARERS["larson"], "--threads", 3, preload=tiny("PRIVATE"))
    assert sharing["passive"] > 0


def test_blocks_from_before_do_not_count(tiny: Tiny) -> None:
    """Two threads in turn have the same line, but never at the same time."""
    options = ("--batch", 1, "--size", 8, "--rounds", 10, "--keep", 0, "--threads", 2)
    sharing = found("round-robin", *options, preload=tiny("PLAIN"))
    assert sharing["mallocs"] == 10
    assert sharing["active"] == sharing["passive"] == sharing["at_risk"] == 0
