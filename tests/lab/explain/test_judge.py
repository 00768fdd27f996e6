# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The rules, on profiles whose truth is known; programs are judged in test_programs.py."""

import dataclasses
import math

import pytest

from heapwright.artefacts.explanation.document import Ending, Explanation, Kind, Reachability
from heapwright.artefacts.profile.document import Profile, Site
from heapwright.artefacts.run.coverage import Cause, Coverage, CoveredProcess
from heapwright.explain.evidence import Facts, Lost
from heapwright.explain.judge import explain, weight

from .profiles import MIB, profile, sample, site, system

RISING = [i * MIB // 10 for i in range(100)]
DOWN = [9 * MIB - i * MIB for i in range(10)]
FLAT = [5 * MIB] * 100
SAWTOOTH = [MIB * (1 + i % 10) for i in range(100)]
TEETH = [MIB * (1 + i % 40) for i in range(100)]
NOISE = [5 * MIB + int(MIB * math.sin(i * i)) for i in range(100)]
CACHE = [min(i, 33) * MIB // 4 for i in range(100)]
EXITED = Facts(ending=Ending.EXITED)


def searched(*lost: tuple[int, Lost], of: int = 9 * MIB, ending: Ending = Ending.EXITED) -> Facts:
    """A search that found these blocks lost, by stack."""
    return Facts(
        ending=ending,
        reachability=Reachability(
            blocks=of // 100,
            bytes=of,
            unreachable_blocks=sum(each.blocks for _, each in lost),
            unreachable_bytes=sum(each.bytes for _, each in lost),
        ),
        lost={(0, stack): each for stack, each in lost},
    )


def with_origin(own: Profile, **changes: object) -> Profile:
    """The profile of another command, or another recording."""
    return own.model_copy(update={"provenance": own.provenance.model_copy(update=changes)})


def kinds(found: Explanation) -> list[Kind]:
    return [each.kind for each in found.findings]


def test_memory_that_rises_until_the_end_is_growth() -> None:
    found = explain(profile(RISING, never_freed_bytes=9 * MIB), searched())
    assert kinds(found) == [Kind.GROWTH]
    assert found.rise_bytes == pytest.approx(9.9 * MIB, rel=0.01)
    assert found.findings[0].rate_bytes_per_s == pytest.approx(10 * MIB, rel=0.03)
    assert "about 10.0 MiB/s (1 GiB in 102 s)" in found.sentence
    assert "nothing was lost: it was never freed, and pointers still led to it" in found.sentence


def test_a_teardown_at_the_end_is_no_part_of_the_course() -> None:
    found = explain(profile([*RISING, *DOWN, 0], never_freed_bytes=0), searched())
    assert kinds(found) == [Kind.GROWTH]
    assert "it was freed at the end" in found.sentence


def test_calls_after_the_search_are_teardown() -> None:
    facts = searched()
    ended = Facts(facts.ending, facts.reachability, facts.lost, end_s=1.0)
    assert explain(profile([*RISING, *[0] * 80]), ended).kind is Kind.GROWTH


def test_a_fall_after_which_the_run_goes_on_is_no_teardown() -> None:
    assert explain(profile([*RISING, *DOWN, *[0] * 100]), searched()).kind is Kind.STEADY


def test_a_fall_that_began_in_the_first_half_is_part_of_the_course() -> None:
    """A hill whose top is just before the middle of the run. Most of it rises in the first half."""
    up = [i * MIB // 4 for i in range(70)]
    down = [up[-1] * (50 - i) // 50 for i in range(50)]
    assert explain(profile([*up, *down, *[0] * 30]), searched()).kind is Kind.STEADY
    assert explain(profile([*up, *up[-1:] * 30, *down]), searched()).kind is Kind.STEADY
    assert explain(profile([*up, *down[::10]]), searched()).kind is Kind.GROWTH


def test_a_minor_leak_beside_a_cache_is_a_leak_with_its_place() -> None:
    """The cache is larger, has stopped growing, and is not what is lost."""
    cache = site(
        1,
        allocations=25_000,
        short=20_000,
        never_freed=3200,
        size=3000,
        live=lambda t: min(t, 1 / 3) * 27 * MIB,
    )
    leaks = site(
        2, allocations=3025, short=0, never_freed=3025, size=1024, live=lambda t: t * 3 * MIB
    )
    live = [int(min(i, 33) * 0.27 * MIB + i * 0.03 * MIB) for i in range(100)]
    both = profile(live, never_freed_bytes=12 * MIB, sites=[cache, leaks])
    found = explain(both, searched((2, Lost(3025, 3_097_600, 0.0, 0.99))))
    assert kinds(found) == [Kind.LEAK]
    assert found.sentence.startswith("Leak: no pointer leads to 3.0 MiB in 3,025 blocks")
    assert "all of it comes from make_2 (file.cpp:2)" in found.sentence
    assert "not lost" not in found.sentence
    assert "nothing was lost" not in found.sentence
    assert [each.place for each in found.culprits] == ["make_2 (file.cpp:2)"]


def test_a_slow_leak_beside_a_large_base_is_a_leak() -> None:
    base = site(1, allocations=100, short=0, never_freed=100, size=MIB, live=lambda _: 100 * MIB)
    leaks = site(
        2, allocations=375, short=0, never_freed=375, size=1000, live=lambda t: t * 375_000
    )
    live = [100 * MIB + i * 3750 for i in range(100)]
    found = explain(
        profile(live, never_freed_bytes=live[-1], sites=[base, leaks]),
        searched((2, Lost(374, 374_000, 0.0, 0.98)), of=101 * MIB),
    )
    assert kinds(found) == [Kind.LEAK]
    assert [each.place for each in found.culprits] == ["make_2 (file.cpp:2)"]


def test_a_leak_and_a_growth_are_both_reported() -> None:
    grows = site(
        1, allocations=9000, short=0, never_freed=9000, size=1000, live=lambda t: t * 9 * MIB
    )
    leaks = site(2, allocations=1000, short=0, never_freed=1000, size=1000, live=lambda t: t * MIB)
    found = explain(
        profile(RISING, never_freed_bytes=10 * MIB, sites=[grows, leaks]),
        searched((2, Lost(1000, 1_000_000, 0.0, 0.99))),
    )
    assert kinds(found) == [Kind.LEAK, Kind.GROWTH]
    assert [each.kind for each in found.culprits] == [Kind.LEAK, Kind.GROWTH]
    assert "make_1 (file.cpp:1)" in found.findings[1].sentence
    assert "nothing was lost" not in found.sentence


def test_a_single_lost_block_follows_continuing_leaks() -> None:
    grows = site(
        1, allocations=9000, short=0, never_freed=9000, size=1000, live=lambda t: t * 9 * MIB
    )
    found = explain(
        profile(RISING, never_freed_bytes=9 * MIB, sites=[grows]),
        searched((2, Lost(1, 9000, 0.0, 0.0))),
    )
    assert kinds(found) == [Kind.GROWTH, Kind.LEAK]
    assert "8.8 KiB in 1 block; none was lost later" in found.sentence


@pytest.mark.parametrize("live", [FLAT, RISING])
def test_a_tiny_loss_that_happened_once_is_reported_and_is_no_leak(live: list[int]) -> None:
    found = explain(profile(live), searched((2, Lost(1, 72, 0.0, 0.0))))
    assert Kind.LEAK not in kinds(found)
    assert "Lost once: no pointer leads to 72 B in 1 block." in found.sentence
    assert "nothing was lost" not in found.sentence
    again = explain(profile(live), searched((2, Lost(9, 72, 0.0, 0.9))))
    assert again.kind is Kind.LEAK


def test_of_the_places_of_a_leak_those_that_go_on_come_first() -> None:
    once = site(1, allocations=1, short=0, never_freed=1, size=50 * MIB, live=lambda _: 50 * MIB)
    again = site(2, allocations=300, short=0, never_freed=300, live=lambda t: t * 30_000)
    found = explain(
        profile(FLAT, sites=[once, again]),
        searched((1, Lost(1, 50 * MIB, 0.0, 0.0)), (2, Lost(300, 30_000, 0.0, 0.99))),
    )
    assert [each.place for each in found.culprits] == [
        "make_2 (file.cpp:2)",
        "make_1 (file.cpp:1)",
    ]


def test_the_largest_part_of_a_leak_is_named_beside_the_place_that_goes_on() -> None:
    once = site(1, allocations=1, short=0, never_freed=1, size=50 * MIB, live=lambda _: 50 * MIB)
    again = site(2, allocations=300, short=0, never_freed=300, live=lambda t: t * 30_000)
    found = explain(
        profile(FLAT, sites=[once, again]),
        searched((1, Lost(1, 50 * MIB, 0.0, 0.0)), (2, Lost(300, 30_000, 0.0, 0.99))),
    )
    assert found.sentence.startswith("Leak: no pointer leads to 50.0 MiB in 301 blocks")
    assert found.sentence.endswith(
        "in 301 blocks; make_2 (file.cpp:2) goes on losing about 29.5 KiB/s (1 GiB in 10 hours); "
        "nearly all of what was lost comes from make_1 (file.cpp:1)."
    )


@pytest.mark.parametrize(("found", "said"), [(555, True), (748, False), (300, False)])
def test_blocks_that_the_allocator_may_hide_are_reported(found: int, said: bool) -> None:
    """Its caches keep old pointers; but what a place keeps for the most part is in use."""
    leaks = site(2, allocations=750, short=0, never_freed=750, live=lambda t: t * 75_000)
    answer = explain(
        profile(FLAT, sites=[leaks, site(3, allocations=1, short=0, never_freed=0)]),
        searched((2, Lost(found, 100 * found, 0.0, 0.99))),
    )
    hint = "Perhaps 73.2 KiB in 750 blocks are lost: the same places never freed the others either"
    assert (hint in answer.sentence) == said


def through(number: int, *calls: str) -> Site:
    """A site whose blocks were never freed, with these calls."""
    made = site(number, allocations=300, short=0, never_freed=300, live=lambda t: t * 30_000)
    return made.model_copy(update={"frames": ("malloc", *calls)})


def test_the_place_is_not_a_wrapper_that_others_use() -> None:
    lost = Lost(300, 30_000, 0.0, 0.99)
    bad = through(1, "take (a.c:1)", "lose (a.c:5)", "main (a.c:9)")
    good = through(2, "take (a.c:1)", "work (a.c:7)", "main (a.c:9)")
    again = through(3, "take (a.c:1)", "lose (a.c:6)", "main (a.c:9)")
    alone = explain(profile(FLAT, sites=[bad]), searched((1, lost)))
    beside = explain(profile(FLAT, sites=[bad, good]), searched((1, lost)))
    both = explain(profile(FLAT, sites=[bad, good]), searched((1, lost), (2, lost)))
    line = explain(profile(FLAT, sites=[bad, again]), searched((1, lost)))
    assert alone.culprits[0].place == "take (a.c:1)"
    assert beside.culprits[0].place == "lose (a.c:5)"
    assert "all of it comes from lose (a.c:5)" in beside.sentence
    assert {each.place for each in both.culprits} == {"take (a.c:1)"}
    assert line.culprits[0].place == "take (a.c:1)", "the same function calls it elsewhere"


def test_a_place_that_goes_on_and_lost_most_is_named_once() -> None:
    """Two callers of one line are two sites."""
    first = site(1, allocations=400, short=0, never_freed=400, live=lambda t: t * 40_000)
    second = site(2, allocations=300, short=0, never_freed=300, live=lambda t: t * 30_000)
    same = second.model_copy(update={"frames": (*first.frames[:2], "serve", "main")})
    found = explain(
        profile(FLAT, sites=[first, same]),
        searched((1, Lost(400, 40_000, 0.0, 0.1)), (2, Lost(300, 30_000, 0.0, 0.99))),
    )
    assert found.sentence.endswith("; all of it comes from make_1 (file.cpp:1)."), found.sentence


@pytest.mark.parametrize("live", [FLAT, SAWTOOTH, TEETH, NOISE, CACHE, [MIB], RISING[:7]])
def test_memory_that_stops_rising_is_steady(live: list[int]) -> None:
    assert explain(profile(live, never_freed_bytes=1000), searched()).kind is Kind.STEADY


def test_a_sawtooth_that_becomes_higher_grows() -> None:
    live = [(i // 10) * 2 * MIB + (i % 10) * MIB // 4 for i in range(100)]
    assert explain(profile(live), searched()).kind is Kind.GROWTH


def test_a_table_that_doubles_grows() -> None:
    live = [2 ** (i + 1).bit_length() * 10_000 for i in range(100)]
    assert explain(profile(live), searched()).kind is Kind.GROWTH


def test_a_table_whose_copies_are_live_together_grows_until_its_end() -> None:
    doublings = (17, 34, 69, 138, 276)
    sizes = [MIB << sum(i >= at for at in doublings) for i in range(300)]
    live = [sizes[i] * 3 // 2 if {i, i - 1} & {*doublings} else sizes[i] for i in range(300)]
    found = explain(profile([*live, 0]), searched())
    assert kinds(found) == [Kind.GROWTH]
    assert found.rise_bytes == 31 * MIB, "the last doubling is no part of the teardown"


def test_tables_of_threads_that_double_one_after_the_other_grow() -> None:
    """Four of them: the last one adds less than a fifth to their sum."""

    def live(i: int) -> int:
        return sum(10_000 << max(i - thread, 1).bit_length() for thread in range(0, 8, 2))

    assert explain(profile([live(i) for i in range(160)]), searched()).kind is Kind.GROWTH


def test_a_small_growth_beside_a_large_noise_is_found_by_its_place() -> None:
    grows = site(
        1, allocations=100, short=0, never_freed=100, size=1000, live=lambda t: t * 100_000
    )
    noise = site(
        2,
        allocations=100_000,
        short=1,
        never_freed=1,
        live=lambda t: MIB * (5 + math.sin(t * t * 1e6)),
    )
    found = explain(profile(NOISE, sites=[noise, grows]), searched())
    assert kinds(found) == [Kind.GROWTH]
    assert [each.place for each in found.culprits] == ["make_1 (file.cpp:1)"]


def test_memory_that_changes_hands_does_not_grow() -> None:
    rises = site(1, allocations=100, short=0, never_freed=100, live=lambda t: t * MIB)
    falls = site(2, allocations=100, short=0, never_freed=0, live=lambda t: (1 - t) * MIB)
    assert explain(profile(FLAT, sites=[rises, falls]), searched()).kind is Kind.STEADY


def test_a_program_that_ends_at_once_does_not_grow() -> None:
    """A shell that starts allocates as long as it runs."""

    def kind(live: list[int], seconds: float) -> Kind:
        made = profile(live)
        points = [p.model_copy(update={"time_s": p.time_s * seconds}) for p in made.timeline]
        return explain(made.model_copy(update={"timeline": tuple(points)}), searched()).kind

    little = [each // 100 for each in RISING]
    assert kind(little, 0.05) is Kind.STEADY
    assert kind(little, 1) is Kind.GROWTH
    assert kind(RISING, 0.05) is Kind.GROWTH


def test_a_rise_of_a_few_bytes_is_none() -> None:
    assert explain(profile(list(range(100)), never_freed_bytes=99), EXITED).kind is Kind.STEADY


def test_a_rest_does_not_end_a_growth_but_long_use_does() -> None:
    """In a rest there are no calls; without a rest the program works on with what it has."""
    rested = profile([*RISING, *[9 * MIB] * 60])
    last = rested.timeline[99]
    still = tuple(
        each if i < 100 else each.model_copy(update={"operation": last.operation})
        for i, each in enumerate(rested.timeline)
    )
    assert explain(rested.model_copy(update={"timeline": still}), searched()).kind is Kind.GROWTH
    assert explain(rested, searched()).kind is Kind.STEADY


def test_memory_built_long_before_the_end_of_a_program_is_no_growth() -> None:
    """It only reads its table. A process that still runs may wait for requests instead."""
    built = profile(RISING)
    end = 4 * built.timeline[-1].time_s
    exited = dataclasses.replace(EXITED, end_s=end)
    assert explain(built, exited).kind is Kind.STEADY
    running = dataclasses.replace(EXITED, ending=Ending.RUNNING, end_s=end)
    assert explain(built, running).kind is Kind.GROWTH


def test_a_table_filled_in_one_place_and_updated_in_another_is_no_growth() -> None:
    """The first place loses in the later half what the second gains."""
    size = 9 * MIB
    fills = site(
        1,
        allocations=9000,
        short=0,
        never_freed=2000,
        live=lambda t: int(size * min(t / 0.45, 1.0 - max(t - 0.45, 0.0) / 0.8)),
    )
    replaces = site(
        2,
        allocations=9000,
        short=0,
        never_freed=7000,
        live=lambda t: int(size * max(t - 0.45, 0.0) / 0.8),
    )
    flat = [min(i * size // 45, size) for i in range(100)]
    found = explain(profile(flat, sites=[fills, replaces]), EXITED)
    assert found.kind is Kind.STEADY


def test_a_program_that_was_stopped_does_not_grow_by_what_it_did_before() -> None:
    """It filled a window at its pace, stood still, and made most of its calls in a moment."""
    filled = profile([*RISING, *[9 * MIB] * 60])
    burst = tuple(
        each
        if i < 100
        else each.model_copy(
            update={"operation": 100_000 if i < 155 else 100_000 + 100_000 * (i - 154)}
        )
        for i, each in enumerate(filled.timeline)
    )
    stopped = filled.model_copy(update={"timeline": burst})
    assert explain(stopped, searched()).kind is Kind.STEADY


@pytest.mark.parametrize("ending", list(Ending))
def test_without_a_search_it_is_not_said_whether_it_was_lost(ending: Ending) -> None:
    keeps = site(
        1, allocations=9000, short=0, never_freed=9000, size=1000, live=lambda t: t * 9 * MIB
    )
    found = explain(profile(RISING, never_freed_bytes=9 * MIB, sites=[keeps]), Facts(ending=ending))
    assert found.kind is Kind.GROWTH
    assert "perhaps it is a leak" in found.sentence
    assert "heapwright explain -- COMMAND" in found.sentence
    assert "nothing was lost" not in found.sentence


def test_unfreed_blocks_of_other_places_are_not_part_of_the_growth() -> None:
    """The library of C++ keeps a buffer for exceptions."""
    frees = site(1, allocations=90, short=0, never_freed=0, live=lambda t: min(t, 0.95) * MIB)
    buffer = site(2, allocations=1, short=0, never_freed=1, size=MIB, live=lambda _: MIB)
    rise = [each // 9 + MIB for each in RISING]
    found = explain(profile(rise, never_freed_bytes=MIB, sites=[frees, buffer]), searched())
    assert "it was freed at the end, or pointers still led to it" in found.sentence


def test_a_growing_place_that_was_freed_at_the_end_has_what_was_live_before() -> None:
    frees = site(1, allocations=9000, short=0, never_freed=0, live=lambda t: min(t, 0.95) * 9 * MIB)
    found = explain(profile([*RISING, *DOWN, 0], sites=[frees]), searched())
    assert found.culprits[0].blocks == 0
    assert found.culprits[0].bytes == pytest.approx(8.5 * MIB, rel=0.1), "not only the later half"


def test_a_growth_that_was_freed_at_the_end_is_known_without_a_search() -> None:
    frees = site(
        1,
        allocations=9000,
        short=0,
        never_freed=0,
        live=lambda t: min(t * 10, 9.9 * (1 - t) * 10) * MIB,
    )
    found = explain(profile([*RISING, *DOWN, 0], sites=[frees]), EXITED)
    assert found.sentence.endswith("it was freed at the end.")


def test_memory_held_late_is_retention() -> None:
    samples = [sample(i / 10, 100 * MIB if i < 5 else MIB, 101 * MIB) for i in range(11)]
    found = explain(profile([*[100 * MIB] * 50, *[MIB] * 50], seen=system(samples)), EXITED)
    assert found.kind is Kind.RETENTION
    assert found.setting is not None
    assert found.sentence.startswith("Retention: glibc held 100.0 MiB that the program had freed")


def test_memory_that_a_sawtooth_reuses_is_not_retained() -> None:
    samples = [sample(i / 100, MIB * (1 + i % 10), 10 * MIB) for i in range(100)]
    assert explain(profile(SAWTOOTH, seen=system(samples)), EXITED).kind is Kind.STEADY


def test_half_of_a_large_heap_in_holes_is_retention() -> None:
    live = [48 * MIB] * 10 + [24 * MIB] * 90
    samples = [sample(i / 100, live[i], 48 * MIB) for i in range(100)]
    found = explain(profile(live, seen=system(samples), objects_of=1000), EXITED)
    assert found.kind is Kind.RETENTION


def test_memory_that_the_program_never_used_is_not_retained() -> None:
    """A reserve of the allocator, or a mapping of the program's own beside the heap."""
    samples = [sample(i / 100, 24 * MIB, 88 * MIB) for i in range(100)]
    found = explain(profile([24 * MIB] * 100, seen=system(samples), objects_of=1000), EXITED)
    assert found.kind is Kind.STEADY


def test_headers_of_small_blocks_are_not_retained() -> None:
    samples = [sample(i / 10, 24 * MIB, 42 * MIB) for i in range(11)]
    found = explain(profile([24 * MIB] * 100, seen=system(samples), objects_of=24), EXITED)
    assert found.kind is Kind.STEADY


def test_reclaimable_pages_are_not_held() -> None:
    samples = [sample(i / 10, MIB, 101 * MIB, lazy=100 * MIB) for i in range(11)]
    assert explain(profile(FLAT, seen=system(samples)), EXITED).kind is Kind.STEADY


def test_a_growth_and_a_larger_retention_are_both_reported() -> None:
    samples = [sample(i / 100, RISING[i], 100 * MIB) for i in range(100)]
    churning = profile(RISING, seen=system(samples), objects_of=1000, churn=100 * MIB)
    assert kinds(explain(churning, searched())) == [Kind.RETENTION, Kind.GROWTH]


def test_much_memory_that_is_not_mallocs_is_reported() -> None:
    samples = [sample(i / 10, MIB, 2 * MIB, other=500 * MIB) for i in range(11)]
    found = explain(profile(FLAT, seen=system(samples)), EXITED)
    assert found.kind is Kind.ELSEWHERE
    assert "500.0 MiB of 502.0 MiB" in found.sentence


def test_an_interpreter_whose_own_heap_grows_more_than_malloc() -> None:
    live = [i * 3_000 for i in range(100)]
    samples = [sample(i / 100, live[i], MIB, other=(4 + i * 38 // 100) * MIB) for i in range(100)]
    found = explain(
        profile(live, seen=system(samples), command=["/usr/bin/python3", "script.py"]), searched()
    )
    assert found.kind is Kind.ELSEWHERE
    assert found.runtime == "CPython"
    assert "It grew by 37.0 MiB" in found.sentence
    assert "PYTHONMALLOC=malloc" in found.sentence


@pytest.mark.parametrize(("share", "kind"), [(1.0, Kind.ELSEWHERE), (0.3, Kind.STEADY)])
def test_a_small_rise_elsewhere_has_to_go_on(share: float, kind: Kind) -> None:
    """Six megabytes: over all of the run, or when an interpreter starts."""
    rise = [int(6 * MIB * min(i / (100 * share), 1)) for i in range(100)]
    samples = [sample(i / 100, MIB, 2 * MIB, other=4 * MIB + rise[i]) for i in range(100)]
    assert explain(profile(FLAT, seen=system(samples)), EXITED).kind is kind


def test_code_that_is_loaded_is_no_growth_elsewhere() -> None:
    samples = [
        sample(i / 10, MIB, 2 * MIB, other=(4 + 4 * i) * MIB, code=(2 + 4 * i) * MIB)
        for i in range(11)
    ]
    assert explain(profile(FLAT, seen=system(samples)), EXITED).kind is Kind.STEADY


def uncalled() -> Profile:
    """A profile without calls."""
    blank = profile([])
    return blank.model_copy(update={"totals": blank.totals.model_copy(update={"allocations": 0})})


def test_a_program_whose_calls_were_not_seen_is_not_called_steady() -> None:
    found = explain(uncalled(), EXITED)
    assert found.kind is Kind.UNKNOWN
    assert found.sentence.startswith("Cannot tell, because the recorder saw no call of malloc")


def test_a_recording_whose_sample_is_empty_does_not_say_that_malloc_was_not_called() -> None:
    found = explain(with_origin(uncalled(), sampled=1000), EXITED)
    assert found.kind is Kind.UNKNOWN
    assert "no sample was taken: one block in 1,000 is recorded" in found.sentence
    assert "saw no call" not in found.sentence


def test_the_places_of_an_interpreter_come_with_the_tool_that_names_lines() -> None:
    growing = site(1, allocations=900, short=0, never_freed=900, live=lambda part: part * MIB)
    for command, told in (("python3", True), ("./server", False)):
        found = explain(profile(RISING, sites=[growing], command=[command, "x"]), searched())
        assert kinds(found) == [Kind.GROWTH]
        assert ("tracemalloc (python3 -X tracemalloc) names lines" in found.sentence) is told
    steady = site(1, allocations=900, short=0, never_freed=0, live=lambda _: MIB)
    flat = profile(FLAT, sites=[steady], command=["python3", "x"])
    assert "tracemalloc" not in explain(flat, searched()).sentence


def test_a_gap_in_the_recording_qualifies_every_answer() -> None:
    process = CoveredProcess(
        pid=1,
        parent_pid=0,
        executable="/opt/browser",
        cpu_s=9,
        recorded=False,
        cause=Cause.OWN_MALLOC,
    )
    seen = CoveredProcess(pid=2, parent_pid=1, executable="/opt/helper", cpu_s=1, recorded=True)
    part = {"coverage": Coverage(cpu_s=10, processes=(process, seen))}
    steady = explain(profile(FLAT).model_copy(update=part), searched())
    growth = explain(profile(RISING).model_copy(update=part), searched())
    assert steady.kind is Kind.UNKNOWN
    assert steady.sentence.startswith("Cannot tell, because 90.0% of the processor time was not")
    assert growth.kind is Kind.GROWTH
    assert "There may be more, because 90.0%" in growth.sentence


def test_of_several_processes_the_one_that_leaks_is_more_important() -> None:
    leak = explain(profile(FLAT), searched((2, Lost(10, 1000, 0.0, 0.9))))
    growth = explain(profile(RISING), searched())
    steady = explain(profile(FLAT), searched())
    assert sorted([steady, growth, leak], key=weight) == [steady, growth, leak]


def test_the_document_survives_its_text() -> None:
    samples = [sample(i / 10, MIB, 101 * MIB) for i in range(11)]
    found = explain(profile(FLAT, seen=system(samples)), searched((2, Lost(9, 900, 0, 0.9))))
    assert Explanation.from_json(found.to_json()) == found


def test_a_document_of_the_first_version_is_read() -> None:
    culprit = '{"frames": ["f"], "blocks": 1, "bytes": 2}'
    text = f'{{"kind": "steady", "sentence": "Steady.", "culprits": [{culprit}]}}'
    found = Explanation.from_json(text)
    assert found.findings == ()
    assert found.culprits[0].place == ""


def test_a_process_that_lived_for_a_moment_has_no_rate() -> None:
    """What it lost in milliseconds is no pace for hours."""
    leaks = site(1, allocations=300, short=0, never_freed=300, live=lambda t: t * 30_000)
    lost = searched((1, Lost(300, 30_000, 0.7, 0.99)))
    late = Facts(lost.ending, lost.reachability, lost.lost, begin_s=0.8)
    found = explain(profile(FLAT, sites=[leaks]), late)
    assert found.kind is Kind.LEAK
    assert found.findings[0].rate_bytes_per_s is None
    assert "/s" not in found.sentence
    assert "none was lost later" not in found.sentence
    assert "/s" in explain(profile(FLAT, sites=[leaks]), lost).sentence
    grown = explain(profile(RISING), Facts(ending=Ending.EXITED, begin_s=0.8))
    assert grown.kind is Kind.GROWTH
    assert "/s" not in grown.sentence


def test_of_processes_without_a_finding_the_one_with_most_memory_counts() -> None:
    small, large = explain(profile([MIB] * 100), EXITED), explain(profile(FLAT), EXITED)
    assert weight(large) > weight(small)


@pytest.mark.parametrize(
    ("command", "tool"),
    [
        ("/usr/bin/python3", "tracemalloc"),
        ("perl", "Devel::MAT"),
        ("node", "--heap-prof"),
        ("ruby3.1", "ObjectSpace"),
        ("php8.2", "memprof"),
    ],
)
def test_a_function_of_an_interpreter_is_called_one(command: str, tool: str) -> None:
    rises = site(1, allocations=100, short=0, never_freed=100, live=lambda t: t * MIB)
    found = explain(profile(RISING, sites=[rises], command=(command, "script")), EXITED)
    assert "make_1 is native code of the interpreter" in found.sentence
    assert tool in found.sentence
    other = explain(profile(RISING, sites=[rises], command=("./server",)), EXITED)
    assert "interpreter" not in other.sentence


def test_a_place_without_a_name_has_a_hint() -> None:
    rises = site(1, allocations=100, short=0, never_freed=100, live=lambda t: t * MIB)
    bare = rises.model_copy(update={"frames": ("malloc", "server+0x10c3", "main")})
    found = explain(profile(RISING, sites=[bare]), EXITED)
    assert "server+0x10c3" in found.sentence
    assert "The debug symbols of server would name the function" in found.sentence
    assert "debug symbols" not in explain(profile(RISING, sites=[rises]), EXITED).sentence
