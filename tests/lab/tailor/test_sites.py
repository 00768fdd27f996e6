# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The lives of the objects of call sites, of calls that are known."""

import pytest

from heapwright.tailor import sites
from heapwright.tailor.sites import YOUNG, Place, SiteKey, SiteLives, sites_of_events, worst_of

Event = tuple[int, str, int, int, int, int]
ONE, OTHER = Place("job", "00ff", 0x100), Place("libc.so.6", "ff00", 0x200)
PLACES = {1: ONE, 2: OTHER, 3: ONE}
NOWHERE = 9
"""A stack whose innermost call is in no file."""


def made(stack: int, address: int, size: int, routine: str = "malloc", thread: int = 0) -> Event:
    return thread, routine, stack, address, 0, size


def freed(address: int) -> Event:
    return 0, "free", 0, address, 0, 0


def lives(*events: Event) -> dict[SiteKey, SiteLives]:
    return sites_of_events(events, PLACES)


def test_an_object_is_young_while_little_is_requested_after_it() -> None:
    found = lives(
        made(1, 16, 24),
        made(NOWHERE, 32, YOUNG),
        freed(16),
        made(2, 64, 100),
        made(NOWHERE, 128, YOUNG + 1),
        freed(64),
    )
    assert found[SiteKey(ONE, 32)] == SiteLives(1, 1, 24, 1.0, 0.0, 0)
    assert found[SiteKey(OTHER, 112)] == SiteLives(1, 1, 100, 0.0, 0.0, 1)
    assert len(found) == 2


def test_what_is_never_freed_lasts() -> None:
    found = lives(made(1, 16, 24), made(1, 64, 24), made(1, 128, 24), freed(64))
    assert found[SiteKey(ONE, 32)] == SiteLives(3, 3, 72, 1 / 3, 2 / 3, 2)


def test_stacks_with_one_innermost_call_are_one_site_and_blocks_are_apart() -> None:
    found = lives(made(1, 16, 24), made(3, 64, 20), made(3, 128, 25))
    assert {key.block: each.allocations for key, each in found.items()} == {32: 2, 48: 1}


def test_threads_count_apart() -> None:
    events = [made(1, 16 * each, 8, thread=each % 3 > 0) for each in range(1, 10)]
    assert lives(*events)[SiteKey(ONE, 16)].by_one_thread == 6


def test_only_objects_that_were_live_at_once_count_as_such() -> None:
    events = []
    for round_ in range(5):
        events += [made(1, 16 + each, 24) for each in range(2)]
        events += [made(NOWHERE, 1024 + round_, 2 * YOUNG), freed(16), freed(17)]
    assert lives(*events)[SiteKey(ONE, 32)].old_at_once == 2


def test_a_site_with_many_old_objects_has_no_such_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sites, "MOST_OLD", 3)
    few = [made(1, 16 + each, 24) for each in range(2)]
    assert lives(*few)[SiteKey(ONE, 32)].old_at_once == 2
    assert lives(*few, made(3, 64, 24))[SiteKey(ONE, 32)].old_at_once is None


@pytest.mark.parametrize(
    ("routine", "is_site"),
    [
        ("malloc", True),
        ("calloc", True),
        ("new", True),
        ("new[]", True),
        ("memalign", False),
        ("new aligned", False),
    ],
)
def test_only_routines_that_give_their_caller_are_sites(routine: str, is_site: bool) -> None:
    assert bool(lives(made(1, 16, 24, routine))) == is_site


def test_a_reallocation_ends_an_object_and_begins_one_that_is_no_site() -> None:
    moved: Event = (0, "realloc", 2, 4096, 16, 5000)
    failed: Event = (0, "realloc", 2, 0, 4096, 1 << 60)
    found = lives(made(1, 16, 24, "realloc"), moved, failed, freed(4096))
    assert found == {SiteKey(ONE, 32): SiteLives(1, 1, 24, 1.0, 0.0, 0)}


def test_a_site_is_as_good_as_in_its_worst_input() -> None:
    one, other = SiteKey(ONE, 32), SiteKey(OTHER, 32)
    found = worst_of(
        [
            {one: SiteLives(10, 8, 100, 1.0, 0.5, 1)},
            {one: SiteLives(20, 20, 200, 0.9, 0.25, 3), other: SiteLives(1, 1, 8, 1.0, 0.0, 0)},
        ]
    )
    assert found[one] == SiteLives(30, 28, 300, 0.9, 0.25, 3)
    assert found[other] == SiteLives(1, 1, 8, 1.0, 0.0, 0)
    unknown = worst_of([found, {one: SiteLives(1, 1, 8, 1.0, 0.0, None)}])
    assert unknown[one].old_at_once is None
