# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""`heapwright analyse`: from results folders to the document and the terminal."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.study_analysis.document import StudyAnalysis
from heapwright.artefacts.study_results.reader import open_results
from heapwright.artefacts.study_results.runs import (
    Cell,
    Dropped,
    Factor,
    Header,
    Measured,
    StudyDesign,
    StudyRun,
)
from heapwright.base.errors import ExitCode, HeapwrightError
from heapwright.cli.main import app
from heapwright.commands.analyse import analyse_results

STUDY = """format = 1
name = "made"
title = "Made"
command = ["true", "{work}", "{pattern}"]
[factors.allocator]
levels = ["quick", "slow", "slower"]
[factors.work]
levels = [1, 2, 4]
[factors.pattern]
levels = ["peak", "growing"]
[responses.time]
from = "wall"
[responses.memory]
from = "peak_rss"
"""
ALLOCATORS = ("quick", "slow", "slower")


def design(**changes: object) -> StudyDesign:
    cells = [
        Cell(
            id=f"{allocator}-{work}-{pattern}",
            levels={"allocator": allocator, "work": str(work), "pattern": pattern},
        )
        for allocator in ALLOCATORS
        for work in (1, 2, 4)
        for pattern in ("peak", "growing")
    ]
    plain = StudyDesign(
        study="made",
        title="Made",
        sha256="0",
        seed=1,
        blocks=4,
        factors=(
            Factor(name="allocator", levels=ALLOCATORS, role="allocator"),
            Factor(name="work", levels=("1", "2", "4"), values=(1, 2, 4)),
            Factor(name="pattern", levels=("peak", "growing")),
        ),
        treatments=tuple(cells),
        responses=(Measured(name="time", unit="s"), Measured(name="memory", unit="B")),
        baseline="slow",
        dropped=(Dropped(factor="work", level="8", because="there are 4 processors"),),
    )
    return plain.model_copy(update=changes)


def runs_of(this: StudyDesign, bad: Sequence[str] = ()) -> list[StudyRun]:
    """Time grows with the work; the runs of `bad` treatments crash in the first block."""
    found = []
    for block in range(1, this.blocks + 1):
        for at, cell in enumerate(this.treatments):
            place = ALLOCATORS.index(cell.levels["allocator"])
            seconds = 0.1 * float(cell.levels["work"]) * (1 + place)
            seconds *= math.exp(0.01 * ((7 * block + 3 * at) % 5))
            crashed = cell.id in bad and block == 1
            found.append(
                StudyRun(
                    allocator=cell.levels["allocator"],
                    level=cell.id,
                    block=block,
                    position=at,
                    outcome=Outcome.CRASHED if crashed else Outcome.OK,
                    host="here",
                    began=float(100 * block + at),
                    responses={} if crashed else {"time": seconds, "memory": 2**22 / (1 + place)},
                )
            )
    return found


def write(folder: Path, this: StudyDesign, runs: Sequence[StudyRun]) -> Path:
    folder.mkdir()
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    (folder / "design.json").write_text(this.model_dump_json(), encoding="utf-8")
    lines = [Header.of(this).model_dump_json(), *(run.split()[1] for run in runs)]
    (folder / "runs.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "results", design(), runs_of(design(), ["slower-4-peak"]))


def test_the_document_and_what_is_printed(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "analysis.json"
    done = CliRunner().invoke(app, ["analyse", str(folder), "-o", str(file)])
    assert done.exit_code == 0, done.output
    found = StudyAnalysis.from_json(file.read_text(encoding="utf-8"))
    assert [each.name for each in found.responses] == ["time", "memory"]
    assert found.study.planned == 72
    assert (found.allocator_factor, found.baseline) == ("allocator", "slow")
    assert found.verdict.text in done.output
    for word in ("quick is best", "allocator:work", "type 2", "grows with work", "tau"):
        assert word in done.output
    assert "left out" not in done.output
    assert "work 8 was not run: there are 4 processors" in done.output


def test_the_document_on_standard_output_is_alone_there(folder: Path) -> None:
    done = CliRunner().invoke(app, ["analyse", str(folder), "-q", "-o", "-"])
    assert done.exit_code == 0
    found = StudyAnalysis.from_json(done.stdout)
    assert done.stderr.strip() == found.verdict.text


def test_one_response_and_a_named_interaction(folder: Path) -> None:
    found = analyse_results(
        open_results(folder),
        responses=["memory"],
        interactions=[("pattern", "work", "allocator")],
        confidence=0.9,
    )
    assert [each.name for each in found.responses] == ["memory"]
    assert found.settings.confidence == 0.9
    section = found.responses[0].overall
    assert section is not None
    term = section.term("allocator", "work", "pattern")
    assert term is not None
    assert section.table("work", "pattern", "allocator") is not None


@pytest.mark.parametrize(
    ("asked", "said", "hint"),
    [
        ({"responses": ["speed"]}, "has no response speed", "time, memory"),
        ({"interactions": [("work", "size", "pattern")]}, "no factor size", "work, pattern"),
        ({"interactions": [("work", "pattern")]}, "takes three factors", "always analysed"),
    ],
)
def test_unknown_names_are_refused(
    folder: Path, asked: dict[str, Sequence[str]], said: str, hint: str
) -> None:
    with pytest.raises(HeapwrightError, match=said) as refused:
        analyse_results(open_results(folder), **asked)  # type: ignore[arg-type]
    assert hint in refused.value.hint


def test_the_questions_of_the_study(tmp_path: Path) -> None:
    options = {
        "interactions": [["allocator", "work", "pattern"], ["allocator", "work"]],
        "confidence": 0.99,
        "margin": 0.05,
        "scaling": [{"response": "memory", "by": "work"}],
    }
    this = design(options=options)
    found = analyse_results(open_results(write(tmp_path / "r", this, runs_of(this))))
    assert found.settings.interactions == (("allocator", "work", "pattern"),)
    assert (found.settings.confidence, found.settings.margin) == (0.99, 0.05)
    assert [len(each.exponents) for each in found.responses] == [0, 4]


def test_several_folders_join(folder: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "second", design(), runs_of(design()))
    found = analyse_results(open_results(folder, other))
    assert found.study.blocks == 8
    assert any("2 results folders" in note for note in found.notes)


def test_the_notes_state_the_share_of_a_fraction(tmp_path: Path) -> None:
    this = design(share=0.5)
    found = analyse_results(open_results(write(tmp_path / "r", this, runs_of(this))))
    assert any(note.startswith("50% of the full factorial") for note in found.notes)


def test_nothing_to_analyse_has_a_status_of_its_own(tmp_path: Path) -> None:
    empty = write(tmp_path / "empty", design(), [])
    done = CliRunner().invoke(app, ["analyse", str(empty)])
    assert done.exit_code == ExitCode.NOTHING_COMPARED
    assert "No good run" in done.output


def test_a_folder_that_is_none(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["analyse", str(tmp_path / "none")])
    assert isinstance(done.exception, HeapwrightError)
    assert "does not exist" in done.exception.message
