# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Answers that are kept one by one, for any end of the writer."""

import os
from pathlib import Path

import pytest

from heapwright.artefacts.agreement.document import AgreementOf, ProgramAgreement, Tau
from heapwright.artefacts.agreement.journal import Asked, KeptAnswers
from heapwright.base.errors import HeapwrightError

ASKED = Asked(allocators=(("glibc", ""), ("ours", "f00")), scale="small", blocks=3, seed=7)
ONE = ProgramAgreement(
    program="one",
    events=10,
    agreements=(AgreementOf(what="time", load="replay", tau=Tau(tau=0.5)),),
)
NONE = ProgramAgreement(program="none", why="something is missing")


def written(path: Path) -> Path:
    with KeptAnswers(path) as kept:
        assert kept.seed is None
        kept.begin(ASKED)
        kept.keep(ONE, "aa")
        kept.keep(NONE, "bb")
    return path


def test_an_answer_is_there_again_and_a_reason_is_asked_again(tmp_path: Path) -> None:
    with KeptAnswers(written(tmp_path / "kept")) as kept:
        assert kept.seed == 7
        kept.begin(ASKED)
        assert kept.of("one", "aa") == ONE
        assert kept.of("none", "bb") is None
        assert kept.of("one", "other file") is None


def test_repeated_answers_count(tmp_path: Path) -> None:
    path = written(tmp_path / "kept")
    later = ONE.model_copy(update={"program": "none"})
    with KeptAnswers(path) as kept:
        kept.begin(ASKED)
        kept.keep(later, "bb")
    with KeptAnswers(path) as kept:
        assert kept.of("none", "bb") == later


def test_a_torn_last_line_is_cut_off(tmp_path: Path) -> None:
    path = written(tmp_path / "kept")
    whole = path.read_bytes()
    for torn in (whole[: len(whole) - 9], whole + b'{"file_sha256":"cc","ans'):
        path.write_bytes(torn)
        with KeptAnswers(path) as kept:
            kept.begin(ASKED)
            assert kept.of("one", "aa") == ONE
            kept.keep(NONE, "cc")
        with KeptAnswers(path) as kept:
            assert kept.of("one", "aa") == ONE
    path.write_bytes(whole[:20])  # killed in its first line
    with KeptAnswers(path) as kept:
        kept.begin(ASKED)
    assert path.read_bytes() == whole[: whole.index(b"\n") + 1]


@pytest.mark.parametrize(
    ("update", "words"),
    [
        ({"blocks": 4}, "blocks 3 there, 4 now"),
        ({"seed": 8}, "seed 7 there, 8 now"),
        ({"scale": ""}, "scale small there, whole now"),
        ({"allocators": (("glibc", ""),)}, "allocators glibc, ours there, glibc now"),
        ({"allocators": (("glibc", ""), ("ours", "f01"))}, "other builds of the allocators"),
    ],
)
def test_answers_to_another_question_are_refused(
    tmp_path: Path, update: dict[str, object], words: str
) -> None:
    path = written(tmp_path / "kept")
    before = path.read_bytes()
    with KeptAnswers(path) as kept, pytest.raises(HeapwrightError, match=words):
        kept.begin(ASKED.model_copy(update=update))
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["a letter\n", "a letter", '{"format":"another"}\n', "{}\n{}\n"])
def test_another_file_is_left_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "kept"
    path.write_text(text)
    with pytest.raises(HeapwrightError, match="no file of answers"):
        KeptAnswers(path)
    assert path.read_text() == text


def test_two_at_a_time_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "kept")
    with KeptAnswers(path), pytest.raises(HeapwrightError, match="another heapwright"):
        KeptAnswers(path)


def test_a_place_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="cannot be written"):
        KeptAnswers(tmp_path / "no" / "kept")


def test_a_full_disk_is_reported_and_earlier_answers_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "kept")
    before = path.read_bytes()
    real = os.write

    def short(descriptor: int, data: bytes) -> int:
        return real(descriptor, data[: len(data) // 2])

    with KeptAnswers(path) as kept:
        kept.begin(ASKED)
        monkeypatch.setattr(os, "write", short)
        kept.keep(ONE, "dd")
        monkeypatch.undo()
        kept.keep(ONE, "ee")  # is not tried
        assert "no space left" in kept.failure
    assert path.read_bytes() == before
