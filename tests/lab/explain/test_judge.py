# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The rules, on profiles whose truth is known; programs are judged in test_programs.py."""

import pytest

from heapwright.artefacts.explanation.document import Ending, Explanation, Kind, Reachability
from heapwright.explain.judge import Facts, explain, held_share

from .profiles import MIB, profile, sample, site, system

RISING = [i * MIB // 10 for i in range(100)]
FLAT = [5 * MIB] * 100
SAWTOOTH = [MIB * (1 + i % 10) for i in range(100)]
EXITED = Facts(ending=Ending.EXITED)


def reach(unreachable: int, of: int) -> Reachability:
    return Reachability(
        blocks=of // 100,
        bytes=of,
        unreachable_blocks=unreachable // 100,
        unreachable_bytes=unreachable,
    )


def test_what_rises_and_is_never_freed_is_a_leak() -> None:
    found = explain(profile(RISING, never_freed_bytes=9 * MIB), EXITED)
    assert found.kind is Kind.LEAK
    assert found.sentence.startswith("Leak: 9.0 MiB in ")
    assert found.rise_bytes == pytest.approx(7.5 * MIB, rel=0.01)


def test_what_rises_and_is_freed_at_the_end_is_growth() -> None:
    down = [10 * MIB - i * MIB for i in range(10)]
    found = explain(profile([*RISING, *down], never_freed_bytes=1000), EXITED)
    assert found.kind is Kind.GROWTH
    assert found.sentence.startswith("Growth: ")


def test_pointers_tell_growth_from_leak_where_nothing_was_freed() -> None:
    risen = profile(RISING, never_freed_bytes=9 * MIB)
    kept = explain(risen, Facts(Ending.EXITED, reach(0, 9 * MIB)))
    lost = explain(risen, Facts(Ending.EXITED, reach(8 * MIB, 9 * MIB)))
    assert (kept.kind, lost.kind) == (Kind.GROWTH, Kind.LEAK)
    assert "no pointer leads any more to 8.0 MiB" in lost.sentence


def test_what_is_lost_at_once_is_a_leak_too() -> None:
    found = explain(
        profile(FLAT, never_freed_bytes=5 * MIB), Facts(Ending.EXITED, reach(2 * MIB, 5 * MIB))
    )
    assert found.kind is Kind.LEAK


def test_of_a_killed_program_forgetful_places_tell() -> None:
    forgets = site(1, allocations=100_000, short=20_000 * 4, never_freed=20_000, size=400)
    keeps = site(2, allocations=20_000, short=0, never_freed=20_000, size=400)
    killed = Facts(ending=Ending.KILLED)
    leak = explain(profile(RISING, never_freed_bytes=8_000_000, sites=[forgets]), killed)
    growth = explain(profile(RISING, never_freed_bytes=8_000_000, sites=[keeps]), killed)
    assert (leak.kind, growth.kind) == (Kind.LEAK, Kind.GROWTH)
    assert "killed" in growth.sentence


def test_a_leak_names_the_place_that_lost_most() -> None:
    small = site(3, allocations=10, short=0, never_freed=10)
    large = site(7, allocations=90_000, short=0, never_freed=90_000)
    found = explain(profile(RISING, never_freed_bytes=9 * MIB, sites=[small, large]), EXITED)
    assert [each.frames[1] for each in found.culprits] == [
        "make_7 (file.cpp:7)",
        "make_3 (file.cpp:3)",
    ]
    assert "make_7 (file.cpp:7)" in found.sentence


def test_places_that_are_not_those_of_a_growth_are_not_named() -> None:
    """What grew was freed before the end: what was not freed comes from elsewhere."""
    kept = site(3, allocations=1, short=0, never_freed=1, size=2048)
    down = [10 * MIB - i * MIB for i in range(10)]
    freed = explain(profile([*RISING, *down], never_freed_bytes=2048, sites=[kept]), EXITED)
    assert freed.kind is Kind.GROWTH
    assert not freed.culprits
    assert "comes from" not in freed.sentence


def test_a_place_with_less_than_half_is_not_called_most() -> None:
    sites = [site(i, allocations=20_000, short=0, never_freed=20_000) for i in range(1, 5)]
    found = explain(profile(RISING, never_freed_bytes=8_000_000, sites=sites), EXITED)
    assert found.kind is Kind.LEAK
    assert "; the largest part comes from make_" in found.sentence


def test_one_block_is_not_several() -> None:
    one = Reachability(blocks=1, bytes=9 * MIB, unreachable_blocks=1, unreachable_bytes=9 * MIB)
    found = explain(profile(RISING, never_freed_bytes=9 * MIB), Facts(Ending.EXITED, one))
    assert found.sentence.startswith("Leak: no pointer leads any more to 9.0 MiB in 1 block;")


def test_what_the_allocator_holds_late_is_retention() -> None:
    samples = [sample(i / 10, 100 * MIB if i < 5 else MIB, 101 * MIB) for i in range(11)]
    found = explain(profile([*[100 * MIB] * 50, *[MIB] * 50], seen=system(samples)), EXITED)
    assert found.kind is Kind.RETENTION
    assert found.setting is not None
    assert found.sentence.startswith("Retention: glibc held 100.0 MiB that the program had freed")


def test_what_the_system_may_take_back_is_not_held() -> None:
    samples = [sample(i / 10, MIB, 101 * MIB, lazy=100 * MIB) for i in range(11)]
    assert explain(profile(FLAT, seen=system(samples)), EXITED).kind is Kind.STEADY


@pytest.mark.parametrize("live", [FLAT, SAWTOOTH, [], [MIB], RISING[:7]])
def test_what_does_not_rise_is_steady(live: list[int]) -> None:
    assert explain(profile(live, never_freed_bytes=1000), EXITED).kind is Kind.STEADY


def test_a_rise_of_a_few_bytes_is_none() -> None:
    assert explain(profile(list(range(100)), never_freed_bytes=99), EXITED).kind is Kind.STEADY


def test_much_memory_that_is_not_mallocs_is_said() -> None:
    samples = [sample(i, MIB, 2 * MIB, other=500 * MIB) for i in range(11)]
    found = explain(profile(FLAT, seen=system(samples)), EXITED)
    assert found.kind is Kind.ELSEWHERE
    assert "500.0 MiB of 502.0 MiB" in found.sentence


def test_the_share_that_is_held_is_that_of_the_last_quarter_of_the_time() -> None:
    late = [sample(t, MIB, 1 * MIB if t < 8 else 11 * MIB) for t in range(11)]
    assert held_share(late) == pytest.approx(10 / 11)
    assert held_share([]) is None
    assert held_share([sample(0, 0, MIB // 2)]) == 0.0, "too little to speak of"


def test_the_document_survives_its_text() -> None:
    samples = [sample(i, MIB, 101 * MIB) for i in range(11)]
    found = explain(profile(FLAT, seen=system(samples)), EXITED)
    assert Explanation.from_json(found.to_json()) == found
