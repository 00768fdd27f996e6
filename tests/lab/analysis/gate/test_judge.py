# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The gate's answer on data whose answer is known."""

import math

import pytest

from heapwright.analysis.gate.documents import Document
from heapwright.analysis.gate.judge import FIRST_BLOCKS, Question, judge
from heapwright.artefacts.gate.document import Change, Gate
from heapwright.base.errors import ExitCode, HeapwrightError

from .made_up import MACHINE, document, logs

QUESTION = Question(margin=0.03)
PLAIN = document("before.json", {("glibc", "time"): logs(0, 0.01)})


def shifted(ratio: float, scatter: float = 0.01, **changes: object) -> Document:
    return document("now.json", {("glibc", "time"): logs(math.log(ratio), scatter)}, **changes)


@pytest.mark.parametrize(
    ("ratio", "scatter", "verdict", "beginning"),
    [
        (1.001, 0.01, Change.SAME, "The same: glibc: as fast ("),
        (1.2, 0.02, Change.SLOWER, "Slower: glibc: 20 % slower ("),
        (0.6, 0.02, Change.FASTER, "Faster: glibc: 40.0 % faster ("),
        (1.02, 0.1, Change.UNDECIDED, "Undecided: glibc: time +2 % ("),
    ],
)
def test_one_figure(ratio: float, scatter: float, verdict: Change, beginning: str) -> None:
    found = judge(PLAIN, shifted(ratio, scatter), QUESTION)
    assert found.verdict is verdict
    assert found.sentence.startswith(beginning)
    assert "margin 3 %" in found.sentence
    assert "\n" not in found.sentence
    assert found.shifts[0].ratio == pytest.approx(ratio)
    assert found.level == pytest.approx(0.9)
    assert Gate.model_validate_json(found.to_json()) == found


def test_undecided_names_the_blocks_that_would_do() -> None:
    found = judge(PLAIN, shifted(1.0, 0.1), QUESTION)
    (shift,) = found.shifts
    assert shift.more_blocks is not None
    assert shift.more_blocks > 10
    assert f"{shift.more_blocks} more blocks in each document would probably tell" in found.sentence


def test_a_change_as_large_as_the_margin_is_never_settled() -> None:
    found = judge(PLAIN, shifted(1.03, 0.05), QUESTION)
    assert found.verdict is Change.UNDECIDED
    assert found.shifts[0].more_blocks is None
    assert "no reasonable number of blocks" in found.sentence


def test_one_block_is_undecided() -> None:
    one = document("now.json", {("glibc", "time"): [0.4]})
    found = judge(PLAIN, one, QUESTION)
    (shift,) = found.shifts
    assert (shift.change, shift.low, shift.high) == (Change.UNDECIDED, None, None)
    assert shift.more_blocks == FIRST_BLOCKS - 1


def test_the_worst_part_is_the_answer() -> None:
    def doc(name: str, **ratios: float) -> Document:
        return document(
            name, {(each, "time"): logs(math.log(ratio), 0.01) for each, ratio in ratios.items()}
        )

    before = doc("before.json", glibc=1, a=1, b=1)
    found = judge(before, doc("now.json", glibc=1.001, a=1.5, b=0.5), QUESTION)
    assert [shift.change for shift in found.shifts] == [Change.SLOWER, Change.FASTER, Change.SAME]
    assert found.verdict is Change.SLOWER
    assert found.level == pytest.approx(1 - 0.1 / 3)
    assert (
        judge(before, doc("now.json", glibc=1, a=1.001, b=0.5), QUESTION).verdict is Change.FASTER
    )
    chosen = Question(margin=0.03, treatments=("b",))
    alone = judge(before, doc("now.json", glibc=1.001, a=1.5, b=0.5), chosen)
    assert [shift.treatment for shift in alone.shifts] == ["b"]


def test_memory_is_larger_not_slower() -> None:
    before = document("before.json", {("glibc", "memory"): logs(0, 0)})
    now = document("now.json", {("glibc", "memory"): logs(math.log(1.5), 0)})
    found = judge(before, now, Question(margin=0.03, responses=("memory",)))
    assert found.verdict is Change.LARGER
    assert found.sentence == "Larger: glibc: 50 % more memory; margin 3 %"


def test_a_measure_is_called_by_its_name() -> None:
    before = document("before.json", {("glibc", "p99_ns"): logs(0, 0.001)})
    now = document("now.json", {("glibc", "p99_ns"): logs(0.5, 0.02)})
    found = judge(before, now, Question(margin=0.03, responses=("p99_ns",)))
    assert found.sentence.startswith("Slower: glibc: `p99_ns` 65 % slower")


def test_relative_takes_out_what_all_treatments_share() -> None:
    own = logs(0, 0.2)
    before = document("b", {("glibc", "time"): own, ("x", "time"): [v + 0.1 for v in own]})
    later = [value + 1.0 for value in own]
    now = document("n", {("glibc", "time"): later, ("x", "time"): [v + 0.1001 for v in later]})
    absolute = judge(before, now, QUESTION)
    assert absolute.verdict is Change.SLOWER
    assert any("--relative" in note for note in absolute.notes)
    relative = judge(before, now, Question(margin=0.03, relative=True))
    assert [shift.treatment for shift in relative.shifts] == ["x"]
    assert relative.verdict is Change.SAME


def test_what_fails_now_is_broken_and_what_failed_before_is_told() -> None:
    good = {("glibc", "time"): logs(0, 0.01), ("x", "time"): logs(0, 0.01)}
    bad = {("glibc", "time"): logs(0.001, 0.01)}
    names = dict.fromkeys(("glibc", "x"), "1 a")
    failing = document("now.json", bad, failures={"x": "crashed once"}, identities=names)
    found = judge(document("before.json", good), failing, QUESTION)
    assert found.verdict is Change.BROKEN
    assert found.sentence == "Broken: x: does not always end well any more: crashed once"
    back = judge(failing, document("now.json", good), QUESTION)
    assert back.verdict is Change.SAME
    assert any("x has no figures" in note and "ends well now" in note for note in back.notes)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"subject": ("./other", "7")}, "not the same was run"),
        ({"subject": ("./program", "8")}, "not the same was run"),
        ({"kind": "replay"}, "one is a comparison, the other a replay"),
        ({"environment": MACHINE.model_copy(update={"cpu": "z"})}, "the processors differ"),
        ({"environment": MACHINE.model_copy(update={"cpus": 64})}, "there were 2 processors"),
        ({"pinned_cpus": (1,)}, "pinned"),
    ],
)
def test_what_cannot_be_compared_is_refused_or_told(changes: dict[str, object], words: str) -> None:
    now = shifted(1.001, **changes)
    with pytest.raises(HeapwrightError, match=words) as refusal:
        judge(PLAIN, now, QUESTION)
    assert "--accept-differences" in refusal.value.hint
    accepted = judge(PLAIN, now, Question(margin=0.03, accept_differences=True))
    assert any(words in note for note in accepted.notes)


def test_another_folder_or_kernel_is_a_note() -> None:
    other = MACHINE.model_copy(update={"kernel": "k2", "settings": {"MALLOC_CONF": "x"}})
    now = shifted(
        1.001,
        environment=other,
        subject=("/tmp/b/program", "7"),
        identities={"glibc": "2 bbbbbbbbbbbb"},
    )
    notes = judge(PLAIN, now, QUESTION).notes
    assert "the command lies in another folder than before" in notes
    assert "another kernel: k, then k2" in notes
    assert "the environment differs in MALLOC_CONF" in notes
    assert "another glibc: 1 (aaaaaaaa), then 2 (bbbbbbbb)" in notes


def test_other_machines_compare_by_ratios_alone() -> None:
    values = {("glibc", "time"): logs(0, 0.01), ("x", "time"): logs(0, 0.02)}
    moved = {pair: [value + 2 for value in own] for pair, own in values.items()}
    moved["x", "time"] = [value + 0.0001 for value in moved["x", "time"]]
    elsewhere = MACHINE.model_copy(update={"cpu": "z", "cpus": 64})
    before = document("before.json", values)
    now = document("now.json", moved, environment=elsewhere)
    with pytest.raises(HeapwrightError) as refusal:
        judge(before, now, QUESTION)
    assert "--relative" in refusal.value.hint
    found = judge(before, now, Question(margin=0.03, relative=True))
    assert found.verdict is Change.SAME
    assert any("ratios may depend on the machine" in note for note in found.notes)


def test_the_same_runs_twice_are_refused() -> None:
    with pytest.raises(HeapwrightError, match="hold the same runs"):
        judge(PLAIN, PLAIN, QUESTION)


def test_nothing_in_common() -> None:
    other = document("now.json", {("x", "time"): logs(0, 0.01)})
    with pytest.raises(HeapwrightError, match="nothing can be compared") as nothing:
        judge(PLAIN, other, QUESTION)
    assert nothing.value.exit_code is ExitCode.NOTHING_COMPARED


@pytest.mark.parametrize(
    "question", [Question(margin=0.03, treatments=("y",)), Question(margin=0.03, responses=("z",))]
)
def test_unknown_names_are_answered_with_the_known_ones(question: Question) -> None:
    with pytest.raises(HeapwrightError, match="there is no") as refusal:
        judge(PLAIN, shifted(1.01), question)
    assert "there are" in refusal.value.hint


def test_drift_is_told() -> None:
    rising = document("now.json", {("glibc", "time"): [0.01 * n for n in range(12)]})
    notes = judge(PLAIN, rising, QUESTION).notes
    assert any("drifts through now.json" in note for note in notes)
