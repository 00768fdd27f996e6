# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Gates on documents of races, which stopped because of what they showed."""

import math

import numpy as np
import pytest

from heapwright.analysis.gate.documents import Document
from heapwright.analysis.gate.judge import Question, judge, judge_within
from heapwright.analysis.gate.sequential import SequentialDifference, Side
from heapwright.analysis.gate.welch import Difference, Sample
from heapwright.artefacts.gate.document import Change

from .constructed import document, logs

QUESTION = Question(margin=0.03)
RNG = np.random.default_rng(7)


def race(name: str, ratio: float, blocks: int = 25, **changes: object) -> Document:
    noise = RNG.normal(0, 0.005, blocks)
    own = np.asarray(logs(0, 0.05, blocks))
    x = own + math.log(ratio) + noise
    values = {("glibc", "time"): list(own), ("x", "time"): list(x)}
    return document(name, values, **{"raced": True, **changes})


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(1.0, Change.SAME), (1.1, Change.SLOWER), (0.9, Change.FASTER)]
)
def test_one_race_is_judged_with_the_intervals_of_a_race(ratio: float, verdict: Change) -> None:
    found = judge_within(race("both.json", ratio), QUESTION)
    (shift,) = found.shifts
    assert found.verdict is verdict
    assert shift.ratio == pytest.approx(ratio, rel=0.01)
    assert any("both.json is a race" in note and "allow for this" in note for note in found.notes)
    fixed = judge_within(race("both.json", ratio, raced=False), QUESTION)
    assert (shift.high or 0) - (shift.low or 0) > (fixed.shifts[0].high or 0) - (
        fixed.shifts[0].low or 0
    )
    assert not any("race" in note for note in fixed.notes)


def test_a_race_of_few_blocks_is_undecided() -> None:
    found = judge_within(race("both.json", 1.5, blocks=3), QUESTION)
    (shift,) = found.shifts
    assert (found.verdict, shift.low, shift.high) == (Change.UNDECIDED, None, None)


def test_a_race_and_a_fixed_number_of_blocks() -> None:
    found = judge(race("before.json", 1.2, raced=False), race("now.json", 1.5), QUESTION)
    assert found.verdict is Change.SLOWER
    assert any("now.json is a race" in note for note in found.notes)


def test_a_note_warns_of_figures_that_are_no_ratios() -> None:
    plain = document("now.json", {("glibc", "time"): logs(0.5, 0.01)}, raced=True)
    before = document("before.json", {("glibc", "time"): logs(0, 0.01)})
    notes = judge(before, plain, QUESTION).notes
    assert any("do not allow for this" in note for note in notes)


def test_stopping_by_the_results_does_not_raise_the_error() -> None:
    """Equal candidates, stopped after the block that looks worst: Welch's interval errs often."""
    level, wrong, plain = 0.9, 0, 0
    trials = 60
    for _ in range(trials):
        values = RNG.normal(0, 0.02, 30)
        sums = [abs(values[:n].mean()) * math.sqrt(n) for n in range(8, 31)]
        stopped = values[: 8 + int(np.argmax(sums))]
        left, right = SequentialDifference(None, Side(stopped, raced=True)).interval(level)
        wrong += not left <= 0 <= right
        zeros = Sample.of(np.zeros_like(stopped))
        left, right = Difference(zeros, Sample.of(stopped)).interval(level)
        plain += not left <= 0 <= right
    assert wrong <= trials * (1 - level)
    assert plain > trials * (1 - level)
