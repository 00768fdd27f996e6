# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The gate's answer on data whose answer is known."""

import math
from dataclasses import replace

import pytest

from heapwright.analysis.gate.documents import Document
from heapwright.analysis.gate.judge import FIRST_BLOCKS, Question, judge, judge_within
from heapwright.artefacts.gate.document import Change, Gate
from heapwright.base.errors import ExitCode, HeapwrightError

from .constructed import MACHINE, document, logs

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
    total = min(shift.runs) + shift.more_blocks
    assert any(
        note.startswith(f"to decide: measure both again with -n {total}.") for note in found.notes
    )


def test_a_change_as_large_as_the_margin_is_never_settled() -> None:
    found = judge(PLAIN, shifted(1.03, 0.05), QUESTION)
    assert found.verdict is Change.UNDECIDED
    assert found.shifts[0].more_blocks is None
    assert "no reasonable number of blocks" in found.sentence
    assert any(note.startswith("to decide: judge with a smaller") for note in found.notes)


def test_a_decided_gate_has_no_next_step() -> None:
    assert not any("to decide" in note for note in judge(PLAIN, shifted(1.3), QUESTION).notes)


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
    assert [shift.change for shift in found.shifts] == [Change.SLOWER, Change.FASTER]
    assert [shift.treatment for shift in found.shifts] == ["a", "b"]
    assert found.verdict is Change.SLOWER
    assert found.level == pytest.approx(1 - 0.1 / 2)
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


def beside(glibc: float, x: float, name: str, **changes: object) -> Document:
    """A library and glibc, which share what changes from block to block; the factors of both."""
    own = logs(0, 0.05)
    return document(
        name,
        {
            ("glibc", "time"): [value + math.log(glibc) for value in own],
            ("x", "time"): [
                value + math.log(x) + noise
                for value, noise in zip(own, logs(0, 0.005), strict=True)
            ],
        },
        **changes,
    )


BESIDE = beside(1, 1.2, "before.json")


def test_a_slower_machine_raises_no_alarm() -> None:
    """The same library was measured twice; all became slower in between."""
    now = beside(1.094, 1.2 * 1.11, "now.json")
    found = judge(BESIDE, now, QUESTION)
    assert found.verdict is Change.SAME
    assert [(each.treatment, each.relative_to) for each in found.shifts] == [("x", "glibc")]
    assert "relative to glibc" in found.sentence
    assert found.sentence.endswith("time of glibc itself is 9.4 % more")
    assert found.relative
    assert any("is itself 9.4 % more" in note for note in found.notes)
    assert any("compare --baseline old -a old=" in note for note in found.notes)


@pytest.mark.parametrize("machine", [0.9, 1.0, 1.2])
def test_a_slower_library_is_seen_on_any_machine(machine: float) -> None:
    found = judge(BESIDE, beside(machine, 1.2 * 1.13 * machine, "now.json"), QUESTION)
    assert found.verdict is Change.SLOWER
    assert found.shifts[0].ratio == pytest.approx(1.13)


def test_absolute_figures_raise_no_alarm_where_the_common_baseline_moved_as_well() -> None:
    absolute = Question(margin=0.03, relative=False)
    now = beside(1.3, 1.2 * 1.5, "now.json")
    found = judge(BESIDE, now, absolute)
    assert {shift.change for shift in found.shifts} == {Change.UNDECIDED}
    assert found.sentence.startswith("Undecided: x: 50 % slower")
    assert "glibc moved as well, the common baseline" in found.sentence
    assert [shift.doubted_by for shift in found.shifts] == ["glibc", "glibc"]
    remedy = "--absolute -a glibc"
    assert f"margin 3 %, and more blocks would not tell, but {remedy} would" in found.sentence
    steps = [note for note in found.notes if note.startswith("to decide")]
    assert steps == [f"to decide: judge glibc itself with {remedy}."]
    asked = replace(absolute, treatments=("glibc",))
    assert judge(BESIDE, now, asked).verdict is Change.SLOWER
    assert judge(BESIDE, beside(1, 1.2 * 1.5, "n"), absolute).verdict is Change.SLOWER
    assert judge(BESIDE, beside(0.7, 1.2 * 1.5, "n"), absolute).verdict is Change.SLOWER


def test_the_baseline_is_judged_if_it_is_asked_for() -> None:
    now = beside(1.5, 1.8, "now.json")
    found = judge(BESIDE, now, Question(margin=0.03, treatments=("glibc",)))
    assert [(each.treatment, each.change) for each in found.shifts] == [("glibc", Change.SLOWER)]


def test_a_baseline_that_is_another_one_now_is_no_common_measure() -> None:
    names = {"glibc": "2 bbbb", "x": "1 aaaaaaaaaaaa"}
    now = beside(1, 1.8, "now.json", identities=names)
    found = judge(BESIDE, now, QUESTION)
    assert [each.relative_to for each in found.shifts] == ["", ""]
    assert found.verdict is Change.SLOWER


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [(1.0, Change.SAME), (1.07, Change.SLOWER), (0.9, Change.FASTER), (1.03, Change.UNDECIDED)],
)
def test_one_document_compares_with_its_own_baseline(ratio: float, verdict: Change) -> None:
    found = judge_within(beside(1, ratio, "both.json"), QUESTION)
    (shift,) = found.shifts
    assert found.verdict is verdict
    assert shift.ratio == pytest.approx(ratio)
    assert (shift.treatment, shift.relative_to, shift.runs) == ("x", "glibc", (10, 10))


def test_one_document_with_one_treatment_has_nothing_to_compare() -> None:
    with pytest.raises(HeapwrightError, match="nothing can be compared"):
        judge_within(PLAIN, QUESTION)


def test_a_new_failure_breaks_and_an_old_failure_is_reported() -> None:
    good = {("glibc", "time"): logs(0, 0.01), ("x", "time"): logs(0, 0.01)}
    bad = {("glibc", "time"): logs(0.001, 0.01)}
    names = dict.fromkeys(("glibc", "x"), "1 a")
    failing = document("now.json", bad, failures={"x": "crashed once"}, identities=names)
    found = judge(document("before.json", good), failing, QUESTION)
    assert found.verdict is Change.BROKEN
    assert found.sentence == "Broken: x: no longer always ends well: crashed once"
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
def test_incomparable_documents_are_refused_or_reported(
    changes: dict[str, object], words: str
) -> None:
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


def test_drift_is_reported() -> None:
    rising = document("now.json", {("glibc", "time"): [0.01 * n for n in range(12)]})
    notes = judge(PLAIN, rising, QUESTION).notes
    assert any("drifts through now.json" in note for note in notes)


def test_several_unchanged_figures_are_named_apart_and_without_signs() -> None:
    old = document(
        "old.json",
        {(name, what): logs(0, 0.01) for name in ("glibc", "x") for what in ("time", "memory")},
    )
    now = document(
        "now.json",
        {
            (name, what): logs(0.01 if what == "time" else -0.02, 0.01)
            for name in ("glibc", "x")
            for what in ("time", "memory")
        },
    )
    asked = Question(margin=0.1, responses=("time", "memory"), relative=False)
    found = judge(old, now, asked)
    assert found.verdict is Change.SAME
    assert found.sentence == (
        "The same: memory of glibc and x is between 3.0 % less and 0.9 % less, time of glibc and x "
        "is between 0.1 % less and 2.1 % more; margin 10 %"
    )


def test_kinds_of_documents_have_their_article() -> None:
    exact = document("now.json", {("x", "time"): logs(0, 0)}, kind="exact comparison")
    with pytest.raises(HeapwrightError, match="one is a comparison, the other an exact comparison"):
        judge(document("old.json", {("x", "time"): logs(0, 0.1)}), exact, QUESTION)
