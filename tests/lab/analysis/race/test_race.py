# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which candidates leave a race, which stay in it, and how it ends."""

from collections.abc import Mapping, Sequence

import pytest

from heapwright.analysis.race.race import Figures, Race, Rules

RULES = Rules(margin=0.02)
WOBBLE = (1.0, 1.004, 0.997, 1.002, 0.999, 1.003, 0.996, 1.001)


def key(name: str) -> tuple[str, str]:
    return (name, "")


def run(
    times: Mapping[str, float],
    memory: Mapping[str, float] | None = None,
    *,
    order: Sequence[str] | None = None,
    blocks: int = 60,
) -> Race:
    """A race whose runs wobble a little, until its end."""
    names = list(order or times)
    race = Race([key(name) for name in names], RULES)
    for block in range(1, blocks + 1):
        figures = {
            key(name): Figures(
                times[name] * WOBBLE[(block * (number + 3)) % len(WOBBLE)],
                None if memory is None else memory[name],
            )
            for number, name in enumerate(sorted(times))
            if key(name) in race.running
        }
        race.observe(block, figures)
        if race.ending:
            break
    return race


def test_a_slow_candidate_leaves_and_the_fast_one_is_named() -> None:
    race = run({"glibc": 1.0, "fast": 0.8, "slow": 1.5})
    assert race.ending is not None
    assert race.ending.named == key("fast")
    assert race.ending.others == ()
    slow = next(each for each in race.departures if each.key == key("slow"))
    assert slow.why == "slower"
    assert slow.block <= race.ending.block
    assert slow.ratio == pytest.approx(1.5 / 0.8, rel=0.05)
    assert slow.leader == key("fast")


def test_the_baseline_is_run_to_the_end_as_the_measure() -> None:
    race = run({"glibc": 1.5, "a": 1.0, "b": 1.01}, blocks=12)
    assert key("glibc") not in race.contenders
    assert key("glibc") in race.running


def test_equal_candidates_end_with_the_baseline() -> None:
    race = run({"glibc": 1.0, "a": 1.0, "b": 1.001, "c": 0.999})
    assert race.ending is not None
    assert race.ending.named == key("glibc")
    assert set(race.ending.others) == {key("a"), key("b"), key("c")}


def test_a_candidate_as_fast_as_the_winner_stays_in_the_race() -> None:
    race = run({"glibc": 1.0, "a": 0.700, "b": 0.702})
    assert race.ending is not None
    assert race.ending.named in {key("a"), key("b")}
    assert len(race.ending.others) == 1
    assert key("glibc") in {each.key for each in race.departures}


def test_a_lean_candidate_stays_on_the_front_but_holds_nothing_up() -> None:
    times = {"glibc": 1.0, "fast": 0.8, "lean": 1.3, "poor": 1.3}
    memory = {"glibc": 100.0, "fast": 110.0, "lean": 60.0, "poor": 120.0}
    race = run(times, memory)
    assert race.ending is not None
    assert race.ending.named == key("fast")
    gone = {each.key for each in race.departures}
    assert key("lean") in race.slower
    assert key("lean") not in gone
    assert key("poor") in gone


def test_a_candidate_no_leaner_than_the_margin_is_not_on_the_front() -> None:
    race = run({"glibc": 1.0, "slow": 1.5}, {"glibc": 100.0, "slow": 99.0})
    assert [each.key for each in race.departures] == [key("slow")]
    assert race.ending is not None
    assert race.ending.named == key("glibc")


def test_one_block_drops_no_candidate_from_a_small_race() -> None:
    race = run({"glibc": 1.0, "a": 3.0, "b": 2.0}, blocks=1)
    assert race.departures == []
    assert race.ending is None


def test_a_disturbed_run_does_not_drop_the_best() -> None:
    race = Race([key("glibc"), key("best")], RULES)
    for block in range(1, 40):
        best = 3.0 if block == 1 else 0.9 * WOBBLE[block % 8]
        race.observe(block, {key("glibc"): Figures(1.0), key("best"): Figures(best)})
        if race.ending:
            break
    assert race.ending is not None
    assert race.ending.named == key("best")


def test_a_candidate_that_fails_leaves_at_once() -> None:
    race = Race([key("glibc"), key("a"), key("b")], RULES)
    race.fail(key("b"), 1)
    race.fail(key("b"), 1)
    assert race.running == (key("glibc"), key("a"))
    (gone,) = race.departures
    assert (gone.why, gone.ratio) == ("failed", None)


def test_the_order_of_listing_does_not_matter() -> None:
    times = {"glibc": 1.0, "a": 0.9, "b": 0.8, "c": 1.2}
    one = run(times, order=["glibc", "a", "b", "c"])
    other = run(times, order=["glibc", "c", "b", "a"])
    assert one.ending == other.ending
    assert set(one.departures) == set(other.departures)


def test_bounds_of_the_named_one_enclose_its_ratio() -> None:
    race = run({"glibc": 1.0, "fast": 0.8})
    found = race.bounds(key("fast"), key("glibc"))
    assert found.high is not None
    assert found.high < 1
    assert race.ratio(key("fast"), key("glibc")) == pytest.approx(0.8, rel=0.02)


def test_the_shortfall_bounds_the_distance_from_the_best() -> None:
    race = run({"glibc": 1.0, "fast": 0.8, "near": 0.81}, blocks=12)
    assert race.leader == key("fast")
    own, others = race.shortfall(key("fast")), race.shortfall(key("near"))
    assert own is not None
    assert others is not None
    assert 0 <= own < 0.02
    assert others > 0.01


def test_the_shortfall_is_unknown_after_few_blocks_and_shrinks_with_more() -> None:
    times = {"glibc": 1.0, "a": 0.99}
    assert run(times, blocks=2).shortfall(key("glibc")) is None
    found = [run(times, blocks=blocks).shortfall(key("glibc")) for blocks in (9, 11)]
    assert found[0] is not None
    assert found[1] is not None
    assert 0.01 < found[1] < found[0]


def test_the_baseline_is_beaten_before_it_is_out() -> None:
    race = Race([key("glibc"), key("a")], RULES)
    beaten: list[bool] = []
    for block in range(1, 100):
        noise = [WOBBLE[(block * step) % len(WOBBLE)] ** 20 for step in (3, 5)]
        figures = {key("glibc"): Figures(noise[0]), key("a"): Figures(0.95 * noise[1])}
        race.observe(block, figures)
        if key("glibc") not in race.contenders:
            break
        beaten.append(race.is_baseline_beaten)
    assert len(beaten) < 98
    assert not beaten[0]
    assert beaten[-1]


def test_an_equal_baseline_is_not_beaten() -> None:
    assert not run({"glibc": 1.0, "a": 1.0}, blocks=12).is_baseline_beaten


@pytest.mark.parametrize("names", [["glibc"], ["glibc", "glibc"]])
def test_a_race_needs_two_different_candidates(names: list[str]) -> None:
    with pytest.raises(ValueError, match="two candidates"):
        Race([key(name) for name in names], RULES)
