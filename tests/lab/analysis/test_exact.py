# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The verdict of exact counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heapwright.analysis.exact import decide_exact
from heapwright.artefacts.comparison.counts import counted
from heapwright.artefacts.run.exact_counts import INSTRUCTIONS, L1_MISSES, LL_MISSES
from heapwright.artefacts.run.measured import Outcome, Run

GLIBC, LEA, HOARD = ("glibc", ""), ("lea", ""), ("hoard", "")


def runs(allocator: str, *instructions: float, l1: float = 1000.0, ll: float = 100.0) -> list[Run]:
    """A plain run, and one counted run for each number of instructions."""
    plain = Run(
        allocator=allocator, block=0, position=1, warmup=True, outcome=Outcome.OK, wall_s=0.1
    )
    made = [plain]
    for block, count in enumerate(instructions, 1):
        measures = {INSTRUCTIONS: count, L1_MISSES: l1, LL_MISSES: ll}
        made.append(
            Run(
                allocator=allocator,
                block=block,
                position=1,
                outcome=Outcome.OK,
                measures=measures,
            )
        )
    return made


def test_the_fewest_instructions_win() -> None:
    verdict = decide_exact(
        runs("glibc", 1e8, 1e8) + runs("lea", 0.9e8, 0.9e8) + runs("hoard", 0.95e8, 0.95e8),
        [GLIBC, HOARD, LEA],
        0.02,
    )
    assert (verdict.action, verdict.allocator) == ("switch", "lea")
    assert "10 % fewer instructions" in verdict.reason
    assert "2 runs equal" in verdict.reason
    assert any("not time" in note for note in verdict.notes)


def test_a_difference_within_the_margin_does_not_matter() -> None:
    verdict = decide_exact(
        runs("glibc", 1e8, 1e8) + runs("lea", 0.99e8, 0.99e8), [GLIBC, LEA], 0.02
    )
    assert (verdict.action, verdict.allocator) == ("stay", "glibc")
    assert verdict.reason.startswith("No difference that matters")


def test_more_instructions_are_no_reason_to_switch() -> None:
    verdict = decide_exact(runs("glibc", 1e8, 1e8) + runs("lea", 1.5e8, 1.5e8), [GLIBC, LEA], 0.02)
    assert verdict.reason.startswith("Nothing executes fewer instructions: stay with glibc")


def test_counts_that_do_not_repeat_decide_nothing() -> None:
    verdict = decide_exact(
        runs("glibc", 1e8, 1.03e8) + runs("lea", 0.5e8, 0.5e8), [GLIBC, LEA], 0.02
    )
    assert verdict.action == "undecided"
    assert "differ by 3 % in instructions" in verdict.reason
    assert any("without --exact" in note for note in verdict.notes)


def test_fewer_instructions_with_far_more_misses_are_a_trade_off() -> None:
    verdict = decide_exact(
        runs("glibc", 1e8, 1e8, ll=1e5) + runs("lea", 0.9e8, 0.9e8, ll=1e6), [GLIBC, LEA], 0.02
    )
    assert verdict.action == "undecided"
    assert "misses the cache more" in verdict.reason


def test_one_run_cannot_show_that_counts_repeat() -> None:
    verdict = decide_exact(runs("glibc", 1e8) + runs("lea", 0.5e8), [GLIBC, LEA], 0.02)
    assert "one run cannot show" in verdict.reason


def test_the_baseline_alone_is_counted_for_a_later_document() -> None:
    verdict = decide_exact(runs("glibc", 12345678, 12345678), [GLIBC], 0.02)
    assert "Counted: glibc executes 12,345,678 instructions" in verdict.reason


def test_without_counts_of_the_baseline_nothing_is_decided() -> None:
    verdict = decide_exact(runs("glibc") + runs("lea", 1e8, 1e8), [GLIBC, LEA], 0.02)
    assert "nothing was counted under glibc" in verdict.reason


def test_plain_runs_are_not_counted() -> None:
    assert counted(runs("glibc"), GLIBC) is None


@given(
    ratio=st.floats(0.2, 5.0),
    spread=st.floats(0.0, 0.009),
    margin=st.floats(0.0, 0.2),
)
def test_a_switch_requires_a_gain_beyond_margin_and_spread(
    ratio: float, spread: float, margin: float
) -> None:
    made = runs("glibc", 1e8, 1e8 * (1 + spread)) + runs("lea", ratio * 1e8, ratio * 1e8)
    verdict = decide_exact(made, [GLIBC, LEA], margin)
    if verdict.action == "switch":
        assert ratio < 1 - max(margin, 2 * spread)
    if ratio > 1.0 + spread:
        assert verdict.action == "stay"
    assert verdict.action in {"switch", "stay", "undecided"}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_the_order_of_the_runs_does_not_matter(order: tuple[int, ...]) -> None:
    parts = [runs("glibc", 1e8, 1e8), runs("lea", 0.9e8, 0.9e8), runs("hoard", 0.8e8, 0.8e8)]
    made = [run for place in order for run in parts[place]]
    assert decide_exact(made, [GLIBC, HOARD, LEA], 0.02).allocator == "hoard"
