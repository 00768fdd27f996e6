# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Results folders are read whole, joined, and refused where they do not belong together."""

from collections.abc import Callable
from pathlib import Path

import pytest

from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.study_results.reader import open_results
from heapwright.artefacts.study_results.runs import (
    DETAILS_FILE,
    RUNS_FILE,
    Cell,
    Factor,
    Header,
    Measured,
    StudyDesign,
    StudyRun,
)
from heapwright.base.errors import HeapwrightError

CELLS = (
    Cell(id="one", levels={"allocator": "glibc", "threads": "1"}),
    Cell(id="two", levels={"allocator": "glibc", "threads": "2"}),
)
DESIGN = StudyDesign(
    study="sample",
    sha256="00",
    seed=1,
    blocks=2,
    discard=1,
    factors=(
        Factor(name="allocator", levels=("glibc",), role="allocator"),
        Factor(name="threads", levels=("1", "2"), values=(1.0, 2.0)),
    ),
    treatments=CELLS,
    responses=(Measured(name="time", unit="s"), Measured(name="memory", unit="byte")),
)
Make = Callable[..., Path]


def run(
    block: int, treatment: str, time: float = 1.0, outcome: Outcome = Outcome.OK, began: float = 5.0
) -> StudyRun:
    return StudyRun(
        allocator="glibc",
        level=treatment,
        block=block,
        position=1,
        warmup=block < 1,
        outcome=outcome,
        host="here",
        began=began,
        responses={"time": time},
        rss_series=[(0.01, 4096)],
    )


@pytest.fixture
def folder(tmp_path: Path) -> Make:
    """Writes a results folder."""

    def make(name: str, *runs: StudyRun, design: StudyDesign = DESIGN, tail: str = "") -> Path:
        path = tmp_path / name
        path.mkdir()
        (path / "study.toml").write_text("the study\n", encoding="utf-8")
        (path / "design.json").write_text(design.model_dump_json(), encoding="utf-8")
        lines = [each.split() for each in runs]
        header = Header.of(design).model_dump_json()
        short = "".join(f"{line}\n" for line in (header, *(line for _, line in lines)))
        (path / RUNS_FILE).write_text(short + tail, encoding="utf-8")
        (path / DETAILS_FILE).write_text("".join(f"{line}\n" for line, _ in lines))
        return path

    return make


def test_a_row_a_run_with_factors_and_responses(folder: Make) -> None:
    results = open_results(folder("a", run(0, "one"), run(1, "two", 3.0), run(1, "one", 2.0)))
    frame = results.frame()
    assert frame.select("allocator", "threads", "block", "warmup", "time").rows() == [
        ("glibc", "1", 0, True, 1.0),
        ("glibc", "2", 1, False, 3.0),
        ("glibc", "1", 1, False, 2.0),
    ]
    assert frame["memory"].to_list() == [None, None, None]
    assert results.notes == ()
    assert results.study_text == "the study\n"


def test_figures_of_a_bad_run_are_no_response(folder: Make) -> None:
    frame = open_results(folder("a", run(1, "one", outcome=Outcome.CRASHED))).frame()
    assert frame.select("outcome", "time").rows() == [("crashed", None)]


def test_a_torn_line_is_ignored_and_reported(folder: Make) -> None:
    torn = run(2, "one").split()[1][:40]
    results = open_results(folder("a", run(1, "one"), tail=torn))
    assert results.frame()["block"].to_list() == [1]
    assert "torn" in results.notes[0]


def test_a_damaged_line_does_not_affect_other_lines(folder: Make) -> None:
    good = run(2, "two").split()[1]
    results = open_results(folder("a", run(1, "one"), tail=f'{{"level": nothing\n{good}\n'))
    assert results.frame()["treatment"].to_list() == ["one", "two"]
    assert "1 lines cannot be read" in results.notes[0]


def test_a_run_that_is_there_twice_counts_once(folder: Make) -> None:
    results = open_results(folder("a", run(1, "one", 1.0), run(1, "one", 9.0, began=6.0)))
    assert results.frame()["time"].to_list() == [1.0]
    assert "twice" in results.notes[0]
    assert [each.responses for each in results.runs()] == [{"time": 1.0}]


def test_runs_of_strange_treatments_are_left_out(folder: Make) -> None:
    results = open_results(folder("a", run(1, "one"), run(1, "other")))
    assert results.frame()["treatment"].to_list() == ["one"]
    assert [each.treatment for each in results.runs()] == ["one"]
    assert "the design does not have" in results.notes[0]


def test_no_run_at_all_is_an_empty_table(folder: Make) -> None:
    frame = open_results(folder("a")).frame()
    assert frame.is_empty()
    assert {"allocator", "threads", "outcome", "time", "memory"} <= set(frame.columns)


def test_blocks_of_the_second_folder_follow_those_of_the_first(folder: Make) -> None:
    first = folder("a", run(0, "one"), run(1, "one"))
    second = folder("b", run(0, "one", began=7.0), run(2, "two", began=8.0))
    results = open_results(first, second)
    assert results.frame()["block"].to_list() == [0, 1, -2, 4]
    assert [each.block for each in results.runs()] == [0, 1, -2, 4]
    assert results.design.blocks == 4


def test_levels_of_all_folders_are_in_their_order(folder: Make) -> None:
    fewer = DESIGN.model_copy(
        update={
            "factors": (DESIGN.factors[0], Factor(name="threads", levels=("2",), values=(2.0,))),
            "treatments": CELLS[1:],
        }
    )
    results = open_results(folder("a", design=fewer), folder("b"))
    assert results.design.factors[1].levels == ("1", "2")
    assert len(results.design.treatments) == 2


def test_whole_runs_include_the_memory_series(folder: Make) -> None:
    results = open_results(folder("a", run(1, "one"), run(1, "two")))
    (whole,) = results.whole_runs({(1, "two")})
    assert whole.rss_series == [(0.01, 4096)]
    assert next(iter(results.runs({(1, "two")}))).rss_series == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"study": "other"}, "two studies: sample and other"),
        ({"sha256": "11"}, "two versions of sample: their files study.toml differ"),
        ({"scale": "small"}, "their scales differ"),
        ({"version": 2}, "version 2 of the format"),
    ],
)
def test_options_that_exclude_each_other_are_refused(
    folder: Make, change: dict[str, object], words: str
) -> None:
    other = DESIGN.model_copy(update=change)
    with pytest.raises(HeapwrightError, match=words):
        open_results(folder("a"), folder("b", design=other))


def test_runs_of_another_study_in_the_folder_are_refused(folder: Make) -> None:
    path = folder("a", run(1, "one"))
    other = DESIGN.model_copy(update={"study": "other"})
    (path / "design.json").write_text(other.model_dump_json(), encoding="utf-8")
    with pytest.raises(HeapwrightError, match="runs of another study"):
        open_results(path).frame()


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="no results of a study"):
        open_results(tmp_path)
    with pytest.raises(HeapwrightError, match="does not exist"):
        open_results(tmp_path / "nowhere")
    (tmp_path / "design.json").write_text("{}", encoding="utf-8")
    with pytest.raises(HeapwrightError, match="cannot be read as results"):
        open_results(tmp_path)
