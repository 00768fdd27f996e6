# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The rule: switch, stay or undecided, at its edges and in every odd constellation."""

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heapwright.analysis.ratio_text import Span
from heapwright.analysis.separation import Point, shown_front
from heapwright.analysis.verdict import Entrant, Rule, decide
from heapwright.artefacts.comparison.document import Key, Verdict
from heapwright.artefacts.run.measured import Outcome

MIB = 1 << 20
GOOD = {Outcome.OK: 5}
BASELINE = Entrant(
    ("glibc", ""), Span(1, 1, 1), Span(1, 1, 1), ("z", "z"), peak_bytes=400 * MIB, outcomes=GOOD
)
RULE = Rule(margin=0.02, cap_bytes=None, blocks=5)


def span(low: float, high: float) -> Span:
    return Span(math.sqrt(low * high), low, high)


def entrant(
    name: str,
    time: tuple[float, float] = (0.99, 1.01),
    memory: tuple[float, float] = (0.99, 1.01),
    **more: object,
) -> Entrant:
    usual: dict[str, object] = {"groups": ("a", "a"), "peak_bytes": 400 * MIB, "outcomes": GOOD}
    return Entrant((name, ""), span(*time), span(*memory), **{**usual, **more})  # type: ignore[arg-type]


def front_of(entrants: Sequence[Entrant], rule: Rule) -> tuple[Key, ...]:
    points = [
        Point(e.key, e.time, e.memory)
        for e in entrants
        if e.time and e.memory and not e.bad and e.fits(rule.cap_bytes)
    ]
    return shown_front(points, rule.margin)


def judge(others: Sequence[Entrant], baseline: Entrant = BASELINE, rule: Rule = RULE) -> Verdict:
    return decide(baseline, others, front_of((baseline, *others), rule), rule)


def test_faster_and_leaner_is_a_switch() -> None:
    verdict = judge([entrant("x", (0.90, 0.94), (0.86, 0.90))])
    assert (verdict.action, verdict.allocator) == ("switch", "x")
    assert verdict.reason == ("Switch to x: 8 % faster (6 to 10), 12 % less memory (10 to 14)")


@pytest.mark.parametrize(
    ("time", "memory"),
    [
        ((0.90, 0.94), (0.99, 1.01)),
        ((0.99, 1.01), (0.90, 0.94)),
        ((0.90, 0.9799), (0.5, 1.02)),
    ],
)
def test_one_win_without_a_loss_is_a_switch(
    time: tuple[float, float], memory: tuple[float, float]
) -> None:
    assert judge([entrant("x", time, memory)]).action == "switch"


def test_an_interval_that_touches_the_margin_does_not_win() -> None:
    assert judge([entrant("x", (0.90, 0.98))]).action == "undecided"
    assert judge([entrant("x", (0.90, math.nextafter(0.98, 0)))]).action == "switch"


def test_a_loss_that_touches_the_margin_is_none() -> None:
    win = (0.80, 0.90)
    assert judge([entrant("x", win, (1.00, 1.02))]).action == "switch"
    assert judge([entrant("x", win, (1.02, 1.10))]).action == "undecided"
    assert judge([entrant("x", win, (1.021, 1.10))]).reason.startswith("Undecided: x is faster")


def test_all_within_the_margin_is_no_difference() -> None:
    verdict = judge([entrant("x", (0.98, 1.02)), entrant("y")])
    assert (verdict.action, verdict.allocator) == ("stay", "glibc")
    assert verdict.reason == "No difference that matters: stay with glibc"


def test_worse_or_equal_is_to_stay() -> None:
    verdict = judge([entrant("x", (1.2, 1.3)), entrant("y", (0.98, 1.5), (0.99, 1.2))])
    assert verdict.action == "stay"
    assert verdict.reason == "Nothing is better by more than 2 %: stay with glibc"


def test_a_win_that_costs_the_other_is_a_trade_off() -> None:
    others = [entrant("x", (0.90, 0.94), (1.2, 1.3)), entrant("y", (1.2, 1.3), (0.5, 0.6))]
    verdict = judge(others)
    assert (verdict.action, verdict.allocator) == ("undecided", None)
    assert verdict.reason == (
        "Undecided: x is faster and fatter: 8 % faster (6 to 10), 25 % more memory (20 to 30)"
    )
    assert "Pareto front, fastest first: x, glibc, y" in verdict.notes
    assert any(note.startswith("y: ") for note in verdict.notes)
    assert judge(others[1:]).reason.startswith("Undecided: y is leaner and slower")


def test_a_clean_candidate_beats_a_trade_off() -> None:
    trade = entrant("fat", (0.5, 0.55), (2.0, 2.1))
    verdict = judge([trade, entrant("clean", (0.90, 0.95))])
    assert verdict.allocator == "clean"
    assert any(note.startswith("fat is a trade-off: ") for note in verdict.notes)


def test_the_fastest_clean_one_is_chosen_and_its_ties_are_named() -> None:
    fast = entrant("fast", (0.88, 0.92), groups=("a", "b"))
    tied = entrant("tied", (0.89, 0.93), (0.7, 0.8), groups=("ab", "a"))
    apart = entrant("apart", (0.94, 0.96), groups=("b", "b"))
    lean = entrant("lean", (0.99, 1.01), (0.5, 0.6), groups=("c", "a"))
    verdict = judge([lean, apart, tied, fast])
    assert verdict.allocator == "fast"
    assert [note.split()[0] for note in verdict.notes] == ["tied"]
    assert verdict.notes[0].startswith("tied ties with it in time: 9 % faster (7 to 11)")


def test_without_a_win_in_time_the_leanest_is_chosen() -> None:
    verdict = judge([entrant("x", memory=(0.8, 0.85)), entrant("y", memory=(0.7, 0.75))])
    assert verdict.allocator == "y"
    assert verdict.notes[0].startswith("x ties with it in memory")


def test_wide_intervals_ask_for_more_blocks() -> None:
    verdict = judge([entrant("x", (0.90, 1.02))])
    assert verdict.action == "undecided"
    assert verdict.reason == (
        "Undecided: x needs as much memory (-1 to +1 %), but it is open whether it is faster by "
        "more than 2 %: time -4 % (-10 to +2)"
    )
    assert "blocks (-n " in verdict.notes[0]


@pytest.mark.parametrize(
    ("time", "memory", "said"),
    [
        (
            (3.4, 4.9),
            (0.96, 0.99),
            "x is 4.1 times as slow (3.4 to 4.9), but it is open whether it needs less memory by "
            "more than 2 %: 3 % less memory (1 to 4)",
        ),
        (
            (0.90, 0.94),
            (0.95, 1.05),
            "x is 8 % faster (6 to 10), but it is open whether it needs more memory by more than "
            "2 %: memory 0 % (-5 to +5)",
        ),
        (
            (0.95, 1.05),
            (1.2, 1.3),
            "x needs 25 % more memory (20 to 30), but it is open whether it is faster by more than "
            "2 %: time 0 % (-5 to +5)",
        ),
        (
            (0.95, 1.05),
            (0.7, 0.8),
            "x needs 25 % less memory (20 to 30), but it is open whether it is slower by more than "
            "2 %: time 0 % (-5 to +5)",
        ),
        (
            (0.95, 1.05),
            (0.95, 1.05),
            "the intervals are too wide to say whether x or glibc is better by more than 2 %: "
            "time 0 % (-5 to +5), memory 0 % (-5 to +5)",
        ),
    ],
)
def test_decided_and_open_responses_are_reported_apart(
    time: tuple[float, float], memory: tuple[float, float], said: str
) -> None:
    verdict = judge([entrant("x", time, memory)])
    assert verdict.action == "undecided"
    assert verdict.reason == f"Undecided: {said}"


def test_the_number_of_blocks_follows_the_root_law() -> None:
    """Half-width 0.04 at distance 0.02 from the limit, on the log scale: four times the blocks."""
    centre = math.log(0.98) - 0.02
    wide = (math.exp(centre - 0.04), math.exp(centre + 0.04))
    verdict = judge([entrant("x", wide)])
    assert verdict.notes[0].startswith("about 20 blocks (-n 20)")


def test_a_difference_at_the_margin_itself_is_reported_as_one() -> None:
    exactly = Span(0.98, 0.98 / 1.05, 0.98 * 1.05)
    open_end = Entrant(("x", ""), exactly, span(0.99, 1.01), peak_bytes=1, outcomes=GOOD)
    assert "more than 500 blocks would be needed" in judge([open_end]).notes[0]


def test_bad_outcomes_are_never_recommended() -> None:
    crashed = entrant("x", (0.1, 0.2), outcomes={Outcome.OK: 4, Outcome.CRASHED: 1})
    verdict = judge([crashed, entrant("y", (1.1, 1.2))])
    assert (verdict.action, verdict.allocator) == ("stay", "glibc")


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        ("x", "The other allocator failed: stay with glibc"),
        ("xy", "Every other allocator failed: stay with glibc"),
    ],
)
def test_when_all_others_failed_stay(names: str, reason: str) -> None:
    others = [Entrant((name, ""), outcomes={Outcome.TIMEOUT: 3}) for name in names]
    verdict = judge(others)
    assert (verdict.action, verdict.reason) == ("stay", reason)


def test_a_baseline_that_fails_at_times_is_not_advised_either() -> None:
    flaky = Entrant(
        ("glibc", ""),
        Span(1, 1, 1),
        Span(1, 1, 1),
        peak_bytes=1,
        outcomes={Outcome.OK: 4, Outcome.FAILED: 1},
    )
    verdict = judge([entrant("x", (1.1, 1.2))], flaky)
    assert (verdict.action, verdict.allocator) == ("undecided", None)
    assert "but glibc failed too" in verdict.reason
    assert "glibc itself ended badly in 1 of 5 runs" in verdict.notes
    assert judge([entrant("x", (0.8, 0.9))], flaky).action == "switch"


def test_a_baseline_without_a_good_run_decides_nothing() -> None:
    dead = Entrant(("glibc", ""), outcomes={Outcome.CRASHED: 5})
    verdict = judge([Entrant(("x", ""), outcomes=GOOD)], dead)
    assert verdict.action == "undecided"
    assert verdict.reason == "Undecided: glibc, the baseline, has no good run to compare with"


def test_one_treatment_is_no_comparison() -> None:
    assert judge([]).reason == "Undecided: nothing was compared with glibc"


def test_identical_treatments_are_no_difference() -> None:
    same = Entrant(("x", ""), Span(1, 1, 1), Span(1, 1, 1), ("a", "a"), 1, GOOD)
    assert judge([same]).reason == "No difference that matters: stay with glibc"


def test_a_treatment_that_has_not_run_yet_keeps_it_open() -> None:
    verdict = judge([Entrant(("x", "")), entrant("y", (1.1, 1.2))])
    assert verdict.reason == "Undecided: x has no good run to compare with glibc"


def test_one_block_shows_no_scatter() -> None:
    unbounded = Span(0.5, 0.0, math.inf)
    single = Entrant(("x", ""), unbounded, unbounded, peak_bytes=1, outcomes={Outcome.OK: 1})
    verdict = judge([single], rule=Rule(0.02, None, 1))
    assert verdict.reason == "Undecided: 1 block cannot show how much the runs scatter"
    assert "-n 3" in verdict.notes[0]


def test_unknown_memory_is_named() -> None:
    half = Entrant(("x", ""), span(0.8, 0.9), None, ("a", ""), None, GOOD)
    assert judge([half]).reason.startswith("Undecided: the peak memory of x is not known")


def test_the_cap_filters_the_advice() -> None:
    rule = Rule(0.02, 512 * MIB, 5)
    fat = entrant("fat", (0.5, 0.6), peak_bytes=513 * MIB)
    fits = entrant("fits", (0.8, 0.9), peak_bytes=512 * MIB)
    assert judge([fat, fits], rule=rule).allocator == "fits"
    verdict = judge([fat], rule=rule)
    assert (verdict.action, verdict.allocator) == ("stay", "glibc")
    assert verdict.reason == "Nothing else stays under 512 MiB without failing: stay with glibc"


def test_a_baseline_over_the_cap_is_not_advised() -> None:
    rule = Rule(0.02, 300 * MIB, 5)
    slower = entrant("x", (1.1, 1.2), (0.5, 0.6), peak_bytes=200 * MIB)
    verdict = judge([slower], rule=rule)
    assert verdict.action == "undecided"
    assert "glibc peaks at 400 MiB, over the cap of 300 MiB" in verdict.notes
    fat = entrant("x", peak_bytes=301 * MIB)
    assert judge([fat], rule=rule).reason == "Undecided: nothing stays under 300 MiB"
    equal = entrant("x", peak_bytes=299 * MIB)
    assert "but glibc is over the memory cap" in judge([equal], rule=rule).reason


def test_a_trade_off_that_another_beats_is_passed_over() -> None:
    traded = entrant("fat", (0.90, 0.94), (1.1, 1.3))
    unsettled = entrant("open", (0.80, 0.84), (0.99, 1.1))
    verdict = judge([traded, unsettled])
    assert verdict.reason.startswith("Undecided: open is 18 % faster (16 to 20), but it is open")


RATIOS = st.tuples(st.floats(0.5, 2), st.floats(0, 0.3)).map(
    lambda pair: Span(pair[0], pair[0] / (1 + pair[1]), pair[0] * (1 + pair[1]))
)


@st.composite
def fields(draw: st.DrawFn) -> list[Entrant]:
    number = draw(st.integers(0, 5))
    return [
        Entrant(
            (f"t{n}", draw(st.sampled_from(["", "X=1"]))),
            draw(st.none() | RATIOS),
            draw(st.none() | RATIOS),
            (draw(st.sampled_from("abc")), draw(st.sampled_from("abc"))),
            draw(st.integers(100, 900)) * MIB,
            {Outcome.OK: 5, **draw(st.sampled_from([{}, {}, {Outcome.CRASHED: 1}]))},
        )
        for n in range(number)
    ]


RULES = st.builds(
    Rule, st.sampled_from([0.0, 0.02, 0.1]), st.none() | st.just(500 * MIB), st.just(5)
)


@given(fields(), RULES, st.randoms())
def test_the_order_does_not_matter(others: list[Entrant], rule: Rule, draw: object) -> None:
    shuffled = list(others)
    draw.shuffle(shuffled)  # type: ignore[attr-defined]
    assert judge(others, rule=rule) == judge(shuffled, rule=rule)


@given(fields(), RULES)
def test_advice_is_given_only_for_a_real_gain(others: list[Entrant], rule: Rule) -> None:
    verdict = judge(others, rule=rule)
    assert verdict.reason
    if verdict.action == "switch":
        chosen = next(e for e in others if e.key == (verdict.allocator, verdict.level))
        assert not chosen.bad
        assert chosen.fits(rule.cap_bytes)
        assert rule.standing(chosen) == "clean"
        front = front_of((BASELINE, *others), rule)
        assert BASELINE.key not in front
        assert chosen.time is None or chosen.memory is None or chosen.key in front
    else:
        assert not any(
            rule.standing(e) == "clean" and not e.bad and e.fits(rule.cap_bytes) for e in others
        )
    if verdict.action == "stay":
        assert verdict.allocator == "glibc"
        for e in others:
            if not e.bad and e.fits(rule.cap_bytes):
                assert e.time is not None
                assert e.memory is not None
                assert min(e.time.low, e.memory.low) >= 1 - rule.margin
    if verdict.action == "undecided":
        assert verdict.allocator is None


@given(fields(), RULES)
def test_a_failed_newcomer_changes_nothing(others: list[Entrant], rule: Rule) -> None:
    failed = Entrant(
        ("zz", ""), Span(0.1, 0.1, 0.1), Span(0.1, 0.1, 0.1), outcomes={Outcome.FAILED: 1}
    )
    before, after = judge(others, rule=rule), judge([*others, failed], rule=rule)
    if others:
        assert (before.action, before.allocator) == (after.action, after.allocator)


def test_where_memory_is_not_judged_time_alone_decides() -> None:
    rule = Rule(margin=0.02, cap_bytes=None, blocks=5, judges_memory=False)
    faster = replace(entrant("x", (0.90, 0.94)), memory=None)
    slower = replace(entrant("y", (1.1, 1.2)), memory=None)
    unknown = replace(entrant("z", (0.90, 1.2)), memory=None)
    assert judge([faster], rule=rule).reason == "Switch to x: 8 % faster (6 to 10)"
    assert judge([slower], rule=rule).action == "stay"
    wide = judge([unknown], rule=rule)
    assert wide.action == "undecided"
    assert "too wide" in wide.reason
    assert "memory" not in " ".join([wide.reason, *wide.notes])
