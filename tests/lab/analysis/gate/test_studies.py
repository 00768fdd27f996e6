# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Results of studies at the gate."""

import math
from pathlib import Path

import pytest

from heapwright.analysis.gate.judge import Question, judge
from heapwright.analysis.gate.studies import of_results
from heapwright.artefacts.gate.document import Change
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.study_results.reader import Results, open_results
from heapwright.artefacts.study_results.runs import Cell, Factor, Measured, StudyDesign, StudyRun
from heapwright.artefacts.study_results.store import Store
from heapwright.base.errors import HeapwrightError

from .constructed import MACHINE, document, logs

LEVELS = [("glibc", "1"), ("glibc", "2"), ("x", "1"), ("x", "2")]
CELLS = tuple(
    Cell(
        id=f"{allocator}{size}", levels={"allocator": allocator, "size": size}, allocator=allocator
    )
    for allocator, size in LEVELS
)
DESIGN = StudyDesign(
    study="small",
    sha256="0" * 64,
    seed=1,
    blocks=6,
    discard=1,
    factors=(
        Factor(name="allocator", levels=("glibc", "x")),
        Factor(name="size", levels=("1", "2")),
    ),
    treatments=CELLS,
    responses=(Measured(name="time", unit="s"), Measured(name="rate", unit="1/s", better="higher")),
    baseline="glibc",
)
QUESTION = Question(margin=0.03)


def results(folder: Path, factors: dict[str, float], crashed: str = "", host: str = "h") -> Results:
    """Runs whose time is that of the treatment, times a little that alternates over blocks."""
    with Store.create(folder, "the study", DESIGN) as store:
        store.add_host(MACHINE)
        for block in range(DESIGN.blocks + 1):
            for position, cell in enumerate(CELLS, 1):
                bad = cell.id == crashed and block == 3
                time = factors.get(cell.id, 1.0) * (1.01 if block % 2 else 0.99)
                time *= 100 if block == 0 else 1
                store.keep(
                    StudyRun(
                        allocator=cell.allocator,
                        level=cell.id,
                        block=block,
                        position=position,
                        warmup=block < 1,
                        outcome=Outcome.CRASHED if bad else Outcome.OK,
                        host=host,
                        began=1.0 + block,
                        responses={} if bad else {"time": time, "rate": 1 / time},
                    )
                )
    return open_results(folder)


def test_treatments_are_called_by_their_levels(tmp_path: Path) -> None:
    found = of_results("a", results(tmp_path / "a", {"x1": 2.0}))
    assert set(found.identities) == {"glibc, 1", "glibc, 2", "x, 1", "x, 2"}
    assert found.references["x, 2"] == "glibc, 2"
    assert found.sample("x, 1", "time").mean() == pytest.approx(math.log(2), abs=0.01)
    assert len(found.sample("x, 1", "time")) == DESIGN.blocks
    ratios = found.relative().sample("x, 1", "time")
    assert ratios.tolist() == pytest.approx([math.log(2)] * DESIGN.blocks)


def test_slower_in_one_cell(tmp_path: Path) -> None:
    before = of_results("a", results(tmp_path / "a", {}))
    now = of_results("b", results(tmp_path / "b", {"x2": 1.5, "x1": 1.0001}))
    found = judge(before, now, QUESTION)
    assert found.verdict is Change.SLOWER
    assert found.sentence.startswith("Slower: x, 2: 50 % slower")
    assert [(each.treatment, each.change) for each in found.shifts[1:]] == [("x, 1", Change.SAME)]


def test_a_rate_that_falls_is_slower(tmp_path: Path) -> None:
    before = of_results("a", results(tmp_path / "a", {}))
    now = of_results("b", results(tmp_path / "b", {"x2": 1.5}))
    asked = Question(margin=0.03, responses=("rate",))
    assert judge(before, now, asked).shifts[0].change is Change.SLOWER
    assert "lower relative to glibc, 2" in judge(before, now, asked).sentence
    assert judge(now, before, asked).verdict is Change.FASTER


def test_a_treatment_that_crashes_now_is_broken(tmp_path: Path) -> None:
    before = of_results("a", results(tmp_path / "a", {}))
    now = of_results("b", results(tmp_path / "b", {"x1": 1.001}, crashed="x2"))
    found = judge(before, now, QUESTION)
    assert found.verdict is Change.BROKEN
    assert found.shifts[0].treatment == "x, 2"
    assert "crashed once" in found.sentence


def test_a_study_is_no_comparison(tmp_path: Path) -> None:
    study = of_results("a", results(tmp_path / "a", {}))
    with pytest.raises(HeapwrightError, match="one is a comparison, the other a study"):
        judge(document("c.json", {("glibc", "time"): logs(0, 0.01)}), study, QUESTION)


def test_results_of_an_unknown_machine_are_refused(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="on which machine"):
        of_results("a", results(tmp_path / "a", {}, host="elsewhere"))
