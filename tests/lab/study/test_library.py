# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The studies that come with heapwright: each is well, at every scale, and is found by name."""

from pathlib import Path

import pytest

from heapwright.artefacts.study.file import parse_study, scale_names
from heapwright.base import shipped
from heapwright.base.errors import HeapwrightError
from heapwright.base.native import VARIABLE, NativeMissingError
from heapwright.study import library, treatments
from heapwright.study.design import Machine, build_design

STUDIES = Path(__file__).parents[3] / "catalogue" / "studies"
FILES = sorted(STUDIES.glob("*.toml"))


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_a_study_is_well_at_every_scale(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The programs of a study need not be installed here."""
    monkeypatch.setattr(treatments, "lacking", lambda *_: "")
    text = path.read_text(encoding="utf-8")
    whole = parse_study(text, str(path), folder=STUDIES)
    assert whole.study.name == path.stem
    assert whole.study.title
    for scale in [None, *scale_names(whole)]:
        file = parse_study(text, str(path), scale, STUDIES)
        design = build_design(file, Machine(32), 1, programs=str)
        assert design.treatments
        assert {each.name for each in design.levels.get("allocator", ())} >= {design.baseline} - {
            None
        }


@pytest.mark.parametrize("path", FILES, ids=[path.stem for path in FILES])
def test_each_finding_says_what_was_published_and_where(path: Path) -> None:
    file = parse_study(path.read_text(encoding="utf-8"), str(path), folder=STUDIES)
    assert [each.id for each in file.study.findings if not (each.published and each.source)] == []


def test_the_folder_is_that_of_the_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    monkeypatch.setattr(shipped, "TREE", tmp_path / "elsewhere")
    with pytest.raises(NativeMissingError, match="there are no studies in"):
        library.study_names()
    (tmp_path / "catalogue" / "studies").mkdir(parents=True)
    (tmp_path / "catalogue" / "studies" / "mine.toml").write_text("")
    assert library.study_names() == ["mine"]
    assert library.study_path("mine") == tmp_path / "catalogue" / "studies" / "mine.toml"
    monkeypatch.setenv(VARIABLE, str(tmp_path / "nothing"))
    with pytest.raises(NativeMissingError):
        library.study_names()


def test_names_and_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "studies_folder", lambda: STUDIES)
    monkeypatch.chdir(tmp_path)
    assert library.study_path("reference") == STUDIES / "reference.toml"
    assert library.study_path("reference.toml") == Path("reference.toml")
    assert library.study_path("./reference") == Path("./reference")
    Path("own").touch()
    assert library.study_path("own") == Path("own")
    with pytest.raises(HeapwrightError, match="there is no study 'referenc'") as caught:
        library.study_path("referenc")
    assert caught.value.hint.startswith("did you mean reference?")
