# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The finalists of a search, and its answer."""

import math
from typing import cast

from heapwright.artefacts.comparison.document import Comparison, Effect, Key
from heapwright.artefacts.tailoring.costs import costs
from heapwright.artefacts.tailoring.document import Beside, Ratio
from heapwright.artefacts.tailoring.folder import Replayed
from heapwright.tailor.judge import (
    FINALISTS,
    RACED_NEIGHBOURS,
    answer_of,
    beside_of,
    finalists,
    front,
    improves,
    improving,
    leanest_near,
)

from .builders import beside, judgement

FASTER = (0.90, 0.88, 0.92)
SAME = (1.0, 0.99, 1.01)
MORE = (1.2, 1.15, 1.25)


def replays(**figures: tuple[float, int]) -> dict[str, Replayed]:
    return {
        name: Replayed(seconds=seconds, peak_bytes=peak)
        for name, (seconds, peak) in figures.items()
    }


def test_the_front_has_what_no_other_beats() -> None:
    found = front(replays(fast=(1.0, 30), both=(1.1, 20), worse=(1.2, 25), lean=(2.0, 10)))
    assert found == ["fast", "both", "lean"]


def test_finalists_are_few_and_near_the_fastest() -> None:
    many = {f"c{n}": (1 + n / 100, 100 - n) for n in range(8)}
    chosen = finalists(replays(**many, slow=(3.0, 1)))
    assert len(chosen) == FINALISTS
    assert chosen[:2] == ["c0", "c7"]


def counted(seconds: float, peak: int, instructions: int | None, faults: int = 0) -> Replayed:
    return Replayed(seconds=seconds, peak_bytes=peak, instructions=instructions, faults=faults)


def test_counts_of_instructions_choose_before_noisy_times() -> None:
    noisy = {"quick": counted(2.0, 20, 1000), "slow": counted(1.0, 20, 2000)}
    assert finalists(noisy) == ["quick"]
    faulting = {"quick": counted(2.0, 20, 1000, faults=1), "slow": counted(1.0, 20, 2000)}
    assert finalists(faulting) == ["slow"], "a page fault costs more than 1,000 instructions"


def test_what_cannot_be_counted_has_its_time_at_the_rate_of_the_others() -> None:
    mixed = {"a": counted(1.0, 20, 1000), "b": counted(2.0, 19, 2000), "c": counted(3.0, 9, None)}
    assert costs(mixed) == {"a": 1000, "b": 2000, "c": 3000}
    one = {"a": counted(1.0, 20, 1000), "b": counted(2.0, 19, None)}
    assert costs(one) == {"a": 1.0, "b": 2.0}, "too few are counted"


def test_a_failed_replay_is_no_finalist() -> None:
    failed = {"broken": Replayed(why_not="it crashed")}
    assert finalists(failed) == []
    assert finalists({**failed, **replays(good=(1.0, 1))}) == ["good"]


def test_neighbours_that_gain_in_one_figure_improve() -> None:
    found = replays(
        winner=(1.0, 1000),
        leaner=(1.01, 900),
        quicker=(0.9, 1100),
        same=(1.0, 999),
        worse=(2, 1000),
    )
    assert improving(found, "winner") == ["leaner", "quicker"], "the least product is first"
    assert improving(replays(winner=(1.0, 1000), slow=(1.3, 10)), "winner") == []
    many = {f"c{n}": (1 - n / 100, 1000 + n) for n in range(1, 9)}
    best = improving(replays(winner=(1.0, 1000), **many), "winner")
    assert best == [f"c{n}" for n in range(8, 8 - RACED_NEIGHBOURS, -1)]


def test_nothing_improves_a_winner_without_figures() -> None:
    failed = {"winner": Replayed(why_not="it crashed"), **replays(good=(1.0, 1))}
    assert improving(failed, "winner") == []


def test_the_leanest_near_the_fastest_wins() -> None:
    ratios = {"fast": (0.9, 1.2), "near": (0.91, 1.1), "lean": (0.95, 0.5), "failed": (math.inf, 1)}
    assert leanest_near(ratios, 0.02) == "near"
    assert leanest_near(ratios, 0.1) == "lean"
    assert leanest_near({"failed": (math.inf, math.inf)}, 0.02) is None
    assert leanest_near({}, 0.02) is None


def test_a_gain_without_an_interval_below_no_change_is_none() -> None:
    same = Ratio(ratio=1.0, low=0.99, high=1.01)
    assert improves(same, Ratio(ratio=0.99, low=0.985, high=0.995))
    assert improves(Ratio(ratio=0.9, low=0.8, high=0.95), None)
    assert not improves(Ratio(ratio=0.9, low=0.8, high=1.01), same)
    assert not improves(same, Ratio(ratio=0.9, low=None, high=None))
    assert not improves(same, Ratio(ratio=0.998, low=0.997, high=0.999)), "it is too small"


class Measured:
    """A comparison whose baseline is the tailored allocator."""

    def __init__(self, **effects: tuple[float, float | None, float | None]) -> None:
        self._effects = effects

    def effect(self, key: Key, response: str) -> Effect | None:
        if response not in self._effects:
            return None
        ratio, low, high = self._effects[response]
        return Effect(
            allocator=key[0], response=response, ratio=ratio, low=low, high=high, group="a", runs=9
        )


def verdict_of(**effects: tuple[float, float | None, float | None]) -> str:
    return beside_of(cast("Comparison", Measured(**effects)), "glibc", "cpu").verdict


def test_a_ratio_is_that_of_the_tailored_to_the_existing_one() -> None:
    measured = Measured(cpu=(1.25, 1.0, 2.0), memory=(0.5, None, 0.8))
    found = beside_of(cast("Comparison", measured), "glibc", "cpu")
    assert found.time is not None
    assert found.memory is not None
    assert (found.time.ratio, found.time.low, found.time.high) == (0.8, 0.5, 1.0)
    assert (found.memory.ratio, found.memory.low, found.memory.high) == (2.0, 1.25, None)


def test_a_gain_must_be_certain_and_the_loss_small() -> None:
    even = (1.0, 0.99, 1.01)
    assert verdict_of(cpu=(1.1, 1.05, 1.2), memory=even) == "better"
    assert verdict_of(cpu=even, memory=(1.1, 1.05, 1.2)) == "better"
    assert verdict_of(cpu=(1.1, 0.9, 1.3), memory=even) == "same"
    assert verdict_of(cpu=(1.1, 1.05, 1.2), memory=(0.9, 0.85, 0.95)) == "trade"
    assert verdict_of(cpu=(0.9, 0.85, 0.95), memory=even) == "worse"
    assert verdict_of(cpu=even) == "failed"


BETTER = beside("mimalloc", FASTER, SAME, "better")


def test_a_certain_gain_without_a_loss_is_worth_it() -> None:
    answer = answer_of("mine", [judgement(BETTER)], inputs=2)
    assert answer.action == "tailored"
    assert answer.reason.startswith("Use mine: -10.0 % (-12.0 to -8.0) processor time")
    assert answer.notes == ()


def test_an_existing_allocator_that_is_as_good_is_preferred() -> None:
    answer = answer_of("mine", [judgement(BETTER, beside("glibc", SAME, SAME, "same"))], inputs=2)
    assert (answer.action, answer.allocator) == ("existing", "glibc")


def test_a_trade_with_the_leanest_is_no_objection_but_with_the_fastest_it_is() -> None:
    trade = beside("glibc", FASTER, MORE, "trade")
    assert answer_of("mine", [judgement(BETTER, trade)], inputs=2).action == "tailored"
    assert answer_of("mine", [judgement(trade, BETTER)], inputs=2).action == "existing"


def test_a_loss_on_one_input_outweighs_a_gain_on_another() -> None:
    found = [judgement(BETTER), judgement(beside("glibc", MORE, SAME, "worse"))]
    answer = answer_of("mine", found, inputs=2)
    assert (answer.action, answer.allocator) == ("existing", "glibc")
    assert "No special allocator is worth it, so use glibc" in answer.reason
    assert "+20.0 %" in answer.reason


def test_an_existing_allocator_that_failed_is_no_answer() -> None:
    failed = Beside(allocator="jemalloc", time=None, memory=None, verdict="failed")
    same = beside("glibc", SAME, SAME, "same")
    answer = answer_of("mine", [judgement(failed, same)], inputs=2)
    assert (answer.action, answer.allocator) == ("existing", "glibc")
    answer = answer_of("mine", [judgement(failed, BETTER)], inputs=2)
    assert (answer.action, answer.allocator) == ("tailored", "mine")
    assert "beside mimalloc" in answer.reason
    assert answer.notes == ("jemalloc gave no complete runs, so it is no answer",)
    assert answer_of("mine", [judgement(failed)], inputs=2).action == "undecided"


def test_a_failure_on_one_input_counts_on_the_others() -> None:
    failed = Beside(allocator="jemalloc", time=None, memory=None, verdict="failed")
    same = beside("jemalloc", SAME, SAME, "same")
    found = [judgement(same, BETTER), judgement(failed, BETTER)]
    assert answer_of("mine", found, inputs=2).action == "tailored"


def test_one_input_gives_a_warning() -> None:
    notes = " ".join(answer_of("mine", [judgement(BETTER, unseen=False)], inputs=1).notes)
    assert "--unseen" in notes
    assert "--input" in notes


def test_nothing_judged_is_undecided() -> None:
    assert answer_of("mine", [], inputs=2).action == "undecided"
