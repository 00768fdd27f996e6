# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright explain` is right about programs with a known truth."""

import os

import pytest

from heapwright.base import native
from heapwright.base.errors import HeapwrightError

from .__main__ import RESULTS, VERSIONS, committed_page
from .answer import Answer, ask
from .cases import PROGRAMS, Builder, Case, MissingError, read_cases
from .judge import Judgement, Verdict, alternatives, judge
from .page import KINDS, from_csv

CASES = read_cases()
COMMITTED = {each.case: each for each in from_csv((RESULTS / VERSIONS["now"]).read_text("utf-8"))}


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    try:
        for name in ("record", "profile", "leakscan"):
            native.program(name)
    except HeapwrightError as error:
        pytest.skip(f"needs the compiled parts: {error}")
    folder = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder = folder.parent  # which the processes of the run share
    (folder / "answers").mkdir(exist_ok=True)
    return Builder(folder / "answers")


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(each, id=each.name, marks=() if each.quick else pytest.mark.programs)
        for each in CASES
    ],
)
def test_the_answer_is_right(case: Case, builder: Builder) -> None:
    try:
        answer = ask(case, builder)
    except MissingError as error:
        pytest.skip(str(error))
    judged = judge(case, answer)
    assert judged.verdict is Verdict.RIGHT, f"{judged.why}: {answer.sentence}"
    assert judged.culprit is not False, answer.sentence
    assert judged.rate is not False, answer.rates


def test_there_are_programs_of_each_kind_and_language() -> None:
    assert len(CASES) >= 60
    assert len({each.name for each in CASES}) == len(CASES)
    told = {kind for each in CASES for truth in each.truth for kind in alternatives(truth)}
    assert told == set(KINDS)
    assert any(not each.truth for each in CASES)
    assert {each.language for each in CASES} == {".c", ".cpp", ".js", ".pl", ".py", ".rs"}


def test_the_places_of_the_cases_exist_in_the_programs() -> None:
    for case in CASES:
        text = (PROGRAMS / case.program).read_text("utf-8")
        for function in case.culprit.values():
            assert function.split("::")[-1] in text, case.name
        kinds = {kind for truth in case.truth for kind in alternatives(truth)}
        assert set(case.rate) <= kinds, case.name
        assert set(case.culprit) <= kinds, case.name
        assert case.also <= set(KINDS), case.name


def test_the_committed_results_are_of_these_cases_and_the_page_is_theirs() -> None:
    assert list(COMMITTED) == [each.name for each in CASES]
    assert (RESULTS / "README.md").read_text("utf-8") == committed_page()


LEAK = Case(
    name="a leak",
    program="leaks.c",
    arguments=(),
    what="",
    truth=frozenset({"leak"}),
    culprit={"leak": "forget"},
    rate={"leak": 1000.0},
)


def answered(*kinds: str, sentence: str = "in forget", **others: object) -> Judgement:
    """The judgement on an answer about a leak."""
    fields: dict[str, object] = {"places": {"leak": ("malloc", "forget (a.c:1)", "main")}}
    return judge(LEAK, Answer(frozenset(kinds), sentence, **fields | others))  # type: ignore[arg-type]


def test_an_answer_is_right_if_it_finds_all_and_nothing_else() -> None:
    assert answered("leak") == Judgement(Verdict.RIGHT, culprit=True)
    assert answered().why == "does not find the leak"
    assert answered("leak", "growth").why == "finds a growth that is none"
    assert answered("leak", sentence="forget, and it was not lost").why == "denies the leak"


def test_a_wrong_culprit_and_a_wrong_rate_are_told_apart() -> None:
    assert answered("leak", sentence="in main").culprit is False
    assert answered("leak", places={"leak": ("main",)}).culprit is False
    assert answered("leak", rates={"leak": 1400.0}).rate is True
    assert answered("leak", rates={"leak": 1600.0}).rate is False
    assert answered("leak", rates={"leak": 600.0}).rate is False


def test_an_unsearched_process_is_not_decided() -> None:
    assert answered("growth").verdict is Verdict.CANNOT_TELL
    assert answered("growth", searched=True).verdict is Verdict.WRONG
    assert answered("growth", sentence="it was not lost").verdict is Verdict.WRONG
    assert judge(LEAK, Answer(None, "refused")).verdict is Verdict.CANNOT_TELL
