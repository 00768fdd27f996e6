# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What was published is put beside an analysis, from what the results folder holds."""

from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.study.acceptance import Met
from heapwright.artefacts.study.substitution import Overall
from heapwright.artefacts.study_analysis.answers import Answer
from heapwright.artefacts.study_analysis.document import (
    FactorInfo,
    Settings,
    StudyAnalysis,
    StudySummary,
)
from heapwright.artefacts.study_analysis.document import Verdict as Said
from heapwright.artefacts.study_results.reader import Results, open_results
from heapwright.artefacts.study_results.runs import (
    Cell,
    Dropped,
    Factor,
    Header,
    Measured,
    StudyDesign,
    StudyRun,
)
from heapwright.commands.findings import with_published
from heapwright.report.study.markdown import page
from heapwright.report.study.view import StudyView

CHOICE = """[factors.program]
levels = [{ name = "p", kind = "pool" }]
[choice]
custom = "quick"
general = ["slow", "slower"]
by = "program"
about = ["kind"]
"""
STUDY = """format = 1
name = "made"
title = "Made"
command = ["true"]
[factors.allocator]
levels = ["quick", "slow"]
[responses.time]
from = "wall"
[[finding]]
id = "quick-is-quick"
words = "quick is faster than slow"
test = { kind = "ranking", response = "time", first = "quick" }
[[published]]
file = "published/made.csv"
kind = "ranking"
title = "Ranking"
"""
TABLE = "response,allocator,percent\ntime,quick,0\ntime,slow,80\n"
SECONDS = {"quick": 1.0, "slow": 2.0}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four blocks of two allocators."""
    design = StudyDesign(
        study="made",
        sha256="0",
        seed=1,
        blocks=4,
        factors=(Factor(name="allocator", levels=("quick", "slow"), role="allocator"),),
        treatments=tuple(Cell(id=name, levels={"allocator": name}) for name in SECONDS),
        responses=(Measured(name="time", unit="s"),),
    )
    runs = [
        StudyRun(
            allocator=name,
            level=name,
            block=block,
            position=at,
            outcome=Outcome.OK,
            responses={"time": seconds * (1 + 0.01 * ((3 * block + at) % 4))},
        )
        for block in range(1, 5)
        for at, (name, seconds) in enumerate(SECONDS.items())
    ]
    lines = [Header.of(design).model_dump_json(), *(run.split()[1] for run in runs)]
    path = tmp_path / "results"
    (path / "published").mkdir(parents=True)
    (path / "study.toml").write_text(STUDY)
    (path / "design.json").write_text(design.model_dump_json())
    (path / "runs.jsonl").write_text("".join(f"{line}\n" for line in lines))
    (path / "published" / "made.csv").write_text(TABLE)
    return path


def with_program(folder: Path) -> None:
    """The same runs, of a program p, in a study that asks whether `quick` is worth it."""
    path = folder / "design.json"
    design = StudyDesign.model_validate_json(path.read_bytes())
    cells = [
        cell.model_copy(update={"levels": cell.levels | {"program": "p"}})
        for cell in design.treatments
    ]
    program = Factor(name="program", levels=("p",))
    lost = Dropped(factor="allocator", level="slower", because="it is not here")
    changed = design.model_copy(
        update={
            "factors": (*design.factors, program),
            "treatments": tuple(cells),
            "dropped": (lost,),
        }
    )
    path.write_text(changed.model_dump_json())
    runs = (folder / "runs.jsonl").read_text().splitlines()[1:]
    header = Header.of(changed).model_dump_json()
    (folder / "runs.jsonl").write_text("".join(f"{line}\n" for line in (header, *runs)))
    text = STUDY.replace('command = ["true"]', 'command = ["true", "{program}"]')
    text = text.replace('"slow"]', '"slow", "slower"]')
    (folder / "study.toml").write_text(text + CHOICE)


def test_a_choice_is_judged_from_the_folder(folder: Path) -> None:
    with_program(folder)
    results = open_results(folder)
    done = with_published(results, analysis(results))
    assert done.notes == ()
    assert done.choice is not None
    (row,) = done.choice.rows
    assert (row.level, row.about, row.overall) == ("p", {"kind": "pool"}, Overall.WORTH)
    (time,) = row.responses
    assert [each.level for each in time.general] == ["slow", "slower"]
    assert time.general[0].ratio == pytest.approx(2, rel=0.05)
    assert time.why == "allocator slower was not run: it is not here"
    assert StudyAnalysis.from_json(done.to_json()) == done


CARE = """[care]
by = "program"
"""
BAR = """[bar]
level = "quick"
[[bar.line]]
words = "twice as fast"
response = "time"
at_most = 0.6
"""


def test_a_bar_is_held_against_the_runs_of_the_folder(folder: Path) -> None:
    (folder / "study.toml").write_text(STUDY + BAR)
    results = open_results(folder)
    done = with_published(results, analysis(results))
    assert done.bar is not None
    assert (done.bar.verdict, done.bar.rivals) == (Met.MET, ("slow",))
    assert done.bar.lines[0].ratio == pytest.approx(0.5, rel=0.05)
    assert StudyAnalysis.from_json(done.to_json()) == done


def test_a_study_that_asks_nothing_has_no_choice_and_no_bar(folder: Path) -> None:
    results = open_results(folder)
    done = with_published(results, analysis(results))
    assert (done.choice, done.bar) == (None, None)


def analysis(results: Results) -> StudyAnalysis:
    return StudyAnalysis(
        heapwright_version="0",
        study=StudySummary(
            name=results.design.study, treatments=2, blocks=4, runs=8, warmup=0, ok=8
        ),
        settings=Settings(),
        factors=(FactorInfo(name="allocator", levels=("quick", "slow")),),
        allocator_factor="allocator",
        outcomes={"ok": 8},
        verdict=Said(text=""),
        responses=(),
    )


def test_findings_and_tables_are_from_the_folder(folder: Path) -> None:
    results = open_results(folder)
    done = with_published(results, analysis(results))
    (found,) = done.findings
    assert (found.id, found.verdict) == ("quick-is-quick", Answer.HOLDS)
    (table,) = done.published
    percents = {row.keys["allocator"]: row.ours["percent"] for row in table.rows}
    assert percents["quick"] == 0
    assert percents["slow"] == pytest.approx(100, abs=5)
    assert done.notes == ()
    assert StudyAnalysis.from_json(done.to_json()) == done


def test_a_table_that_is_lost_is_a_note(folder: Path) -> None:
    (folder / "published" / "made.csv").unlink()
    results = open_results(folder)
    done = with_published(results, analysis(results))
    assert done.published == ()
    assert len(done.findings) == 1
    (note,) = done.notes
    assert "a published table is left out" in note
    assert "made.csv" in note


def test_a_study_that_cannot_be_read_is_a_note(folder: Path) -> None:
    (folder / "study.toml").write_text("format = 99\n")
    results = open_results(folder)
    done = with_published(results, analysis(results))
    assert done.findings == ()
    (note,) = done.notes
    assert "findings and published tables are left out" in note


def page_of(folder: Path) -> str:
    """The page in Markdown of a results folder."""
    results = open_results(folder)
    view = StudyView(
        analysis=with_published(results, analysis(results)),
        design=results.design,
        frame=results.frame(),
        hosts=results.environments,
        study_text=results.study_text,
    )
    return page(view)


def test_the_page_of_results_has_the_findings(folder: Path) -> None:
    assert "worth it?" not in page_of(folder)
    with_program(folder)
    shown = page_of(folder)
    assert "## Is quick worth it?\n" in shown
    assert "| p | pool | worth it |" in shown
    (line,) = [line for line in shown.splitlines() if line.startswith("| p | slow 2.")]
    assert line.endswith(" | pays | worth it |")


def test_the_page_of_results_shows_sensitivity(folder: Path) -> None:
    assert "cares which" not in page_of(folder)
    with_program(folder)
    text = (folder / "study.toml").read_text()
    based = text.replace("[factors.allocator]\n", '[factors.allocator]\nbaseline = "quick"\n')
    (folder / "study.toml").write_text(based + CARE)
    shown = page_of(folder)
    assert "## Which program cares which allocator it has?\n" in shown
    assert "cares (1): p. Ratios to quick" in shown
    (line,) = [line for line in shown.splitlines() if line.startswith("| p | **slow 2.")]
    assert line.endswith("** | cares |")


def test_the_page_of_results_has_means_beside_the_published_ones(folder: Path) -> None:
    table = "response,allocator,mean\ntime,quick,10\ntime,slow,25\ntime,lost,30\n"
    (folder / "published" / "made.csv").write_text(table)
    (folder / "study.toml").write_text(
        STUDY.replace('kind = "ranking"\ntitle', 'kind = "means"\ntitle')
    )
    shown = page_of(folder)
    assert "## Ranking, time: published and here\n" in shown
    (quick,) = [line for line in shown.splitlines() if line.startswith("| quick | 10 | 1.000 | ")]
    (slow,) = [line for line in shown.splitlines() if line.startswith("| slow | 25 | 2.500 | ")]
    assert quick.endswith(" | 1.000 |")
    assert " to " in slow
    assert float(slow.split(" | ")[-1].rstrip(" |")) == pytest.approx(2.0, rel=0.1)
    (lost,) = [line for line in shown.splitlines() if line.startswith("| lost | 30 | 3.000 | ")]
    assert lost.endswith(" | - | - |")


def test_the_page_of_results_has_the_acceptance_bar(folder: Path) -> None:
    assert "its bar?" not in page_of(folder)
    (folder / "study.toml").write_text(STUDY + BAR)
    shown = page_of(folder)
    assert "## Does quick meet its bar?\n" in shown
    assert "quick: 1 of 1 lines of the bar are met." in shown
    (line,) = [line for line in shown.splitlines() if line.startswith("| twice as fast |")]
    assert line.startswith("| twice as fast | time | at most 0.60 | 0.")
    assert line.endswith(" | slow | met |")
    assert "**twice as fast** (time, at most 0.60):\n\n| rival | ratio | blocks |" in shown


def test_the_page_of_results_has_the_answers_of_the_analysis(folder: Path) -> None:
    shown = page_of(folder)
    assert shown.startswith("# made\n")
    assert "8 runs of 2 treatments in 4 measured blocks, 8 of them good" in shown
    assert "| holds | quick is faster than slow | - | time: slow over quick " in shown
    assert "## Ranking, time: published and here" in shown
    (line,) = [line for line in shown.splitlines() if line.startswith("| slow |")]
    assert line.startswith("| slow | 80 | ")
