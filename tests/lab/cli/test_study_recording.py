# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Studies whose runs are recordings: every figure is one of the program's profile."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.study_results.reader import Results, open_results
from heapwright.base.errors import ExitCode

from .studies import write_text
from .tools import Heapwright

pytestmark = pytest.mark.usefixtures("native")

STUDY = """
format = 1
name = "characters"
title = "what programs ask for"
program = "{program.file}"
[factors.program]
levels = [
  { name = "many", file = "./many.toml" },
  { name = "few", file = "./few.toml" },
]
[design]
blocks = 2
[responses.allocations]
from = "profile"
figure = "totals.allocations"
better = "none"
scale = "linear"
[responses.growing]
from = "profile"
figure = "pattern.class=growing"
better = "none"
scale = "linear"
[[published]]
file = "published/table.csv"
kind = "means"
title = "Published"
"""
PROGRAM = """
format = 1
name = "NAME"
title = "NAME"
command = ["perl", "-e", "{script}"]
[parameters]
script = 'my @a; push @a, "x" x 500 for 1 .. TIMES; print "done";'
[[check]]
what = "it was done"
pattern = "^done$"
"""
TABLE = """response,program,mean,why
allocations,many,40000,another version
allocations,few,10,
"""


@pytest.fixture
def study(tmp_path: Path, needs_programs: Callable[..., None]) -> Path:
    needs_programs("record", "profile")
    for name, times in (("many", "4000"), ("few", "10")):
        text = PROGRAM.replace("NAME", name).replace("TIMES", times)
        (tmp_path / f"{name}.toml").write_text(text)
    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "table.csv").write_text(TABLE)
    return write_text(tmp_path, STUDY)


def results(heapwright: Heapwright, study: Path) -> Results:
    done = heapwright("study", "run", study, "-o", study.parent / "results")
    assert done.status == ExitCode.OK, done.err
    return open_results(study.parent / "results")


def test_figures_are_those_of_the_recorded_program(
    heapwright: Heapwright, study: Path, tmp_path: Path
) -> None:
    found = results(heapwright, study)
    runs = list(found.runs())
    assert {each.outcome for each in runs} == {Outcome.OK}
    by_program: dict[str, list[float]] = {}
    names = {cell.id: cell.levels["program"] for cell in found.design.treatments}
    for each in runs:
        by_program.setdefault(names[each.treatment], []).append(each.responses["allocations"])
        assert each.wall_s is None, "a recording is not timed"
    assert all(len(each) == 2 for each in by_program.values())
    assert min(by_program["many"]) - max(by_program["few"]) > 3_900

    assert heapwright("analyse", tmp_path / "results", "-o", "A").status == ExitCode.OK
    (table,) = [
        each
        for each in json.loads((tmp_path / "A").read_text())["published"]
        if each["response"] == "allocations"
    ]
    first, second = table["rows"]
    assert (first["why"], second["why"]) == ("another version", "")
    assert first["ours"]["mean"] > 3_900
    page = tmp_path / "page.html"
    done = heapwright("report", tmp_path / "results", "-o", page)
    assert done.status == ExitCode.OK, done.err
    assert "here / published" in page.read_text()
    assert "another version" in page.read_text()


def test_wrong_answers_and_crashes_are_no_figures(heapwright: Heapwright, study: Path) -> None:
    few = study.parent / "few.toml"
    few.write_text(few.read_text().replace('print "done"', 'print "lost"'))
    many = study.parent / "many.toml"
    many.write_text(many.read_text().replace('print "done";', "kill 9, $$;"))
    done = heapwright("study", "run", study, "-o", study.parent / "results")
    assert done.status == ExitCode.NOTHING_COMPARED
    told = {each.outcome: each.detail for each in open_results(study.parent / "results").runs()}
    assert "not so: it was done" in told[Outcome.FAILED]
    assert told[Outcome.CRASHED] == "killed by SIGKILL"


def test_a_recorded_program_that_hangs_is_ended(heapwright: Heapwright, study: Path) -> None:
    many = study.parent / "many.toml"
    many.write_text(many.read_text().replace('print "done";', "sleep 1000;"))
    study.write_text(study.read_text().replace("blocks = 2", "blocks = 1"))
    study.write_text(study.read_text().replace("format = 1", "format = 1\ntimeout_s = 2", 1))
    found = results(heapwright, study)
    told = {each.outcome: each.detail for each in found.runs()}
    assert told[Outcome.TIMEOUT] == "still running after 2 s"
    assert Outcome.OK in told


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("totals.allocations", "totals.alocations", "a profile has no 'alocations' there"),
        ('figure = "totals.allocations"\n', "", "say which figure: as totals.allocations"),
        ('from = "profile"\nfigure = "totals', 'from = "wall"\nfigure = "totals', "figure is for"),
        ('program = "{program.file}"', 'command = ["{program}"]', "there is no program to read"),
    ],
)
def test_errors_are_reported(
    heapwright: Heapwright, study: Path, old: str, new: str, words: str
) -> None:
    assert old in STUDY
    study.write_text(STUDY.replace(old, new, 1))
    done = heapwright("study", "check", study)
    assert done.status == ExitCode.BAD_INPUT
    assert words in done.err


def test_the_published_characterisation_has_a_reason_for_every_row() -> None:
    studies = Path(__file__).parents[3] / "catalogue" / "studies"
    with (studies / "published" / "costa-2014-applications.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 14 * 8
    assert all(row["why"].startswith("version: ") for row in rows)
