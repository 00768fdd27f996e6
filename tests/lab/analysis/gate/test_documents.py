# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a comparison comes to for a gate: good measured runs, and how the others ended."""

import math
from collections.abc import Callable

import pytest

from heapwright.analysis.gate.documents import of_comparison
from heapwright.artefacts.comparison.document import Comparison, Design, TreatmentInfo, Verdict
from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.artefacts.run.provenance import Kind

from .constructed import MACHINE


def comparison(runs: list[Run]) -> Comparison:
    names = dict.fromkeys(run.allocator for run in runs)
    return Comparison(
        heapwright_version="0",
        command=("./program",),
        environment=MACHINE,
        design=Design(blocks=3, warmup=1, seed=1, baseline="glibc", stopped_because="done"),
        treatments=tuple(
            TreatmentInfo(allocator=name, label=name, kind=Kind.PEER, version="1") for name in names
        ),
        runs=tuple(runs),
        effects=(),
        responses=(),
        pareto=(),
        verdict=Verdict(action="undecided", allocator=None, reason=""),
    )


def test_good_measured_runs_by_block(make_run: Callable[..., Run]) -> None:
    runs = [make_run("glibc", 0, wall_s=9.0, warmup=True)]
    runs += [make_run("glibc", block, wall_s=float(block)) for block in (3, 1, 2)]
    found = of_comparison("a.json", comparison(runs))
    assert found.kind == "comparison"
    assert found.references == {"glibc": "glibc"}
    assert found.sample("glibc", "time").tolist() == pytest.approx([0, math.log(2), math.log(3)])
    assert found.sample("glibc", "none").size == 0
    assert not found.failures


def test_a_race_is_read_as_one(make_run: Callable[..., Run]) -> None:
    fixed = comparison([make_run("glibc", 1)])
    raced = fixed.model_copy(update={"design": fixed.design.model_copy(update={"race": "time"})})
    assert of_comparison("a.json", raced).raced
    assert not of_comparison("a.json", fixed).raced


def test_a_treatment_that_failed_once_has_no_figures(make_run: Callable[..., Run]) -> None:
    runs = [make_run(name, block) for name in ("glibc", "x") for block in (1, 2)]
    runs.append(make_run("x", 3, outcome=Outcome.CRASHED))
    found = of_comparison("a.json", comparison(runs))
    assert found.failures == {"x": "crashed once"}
    assert found.sample("x", "time").size == 0
    assert found.sample("glibc", "time").size == 2


def test_relative_figures_need_the_reference_in_the_same_block(
    make_run: Callable[..., Run],
) -> None:
    runs = [make_run("glibc", 1, wall_s=2.0), make_run("glibc", 2, wall_s=4.0)]
    runs += [make_run("x", 2, wall_s=2.0), make_run("x", 3, wall_s=5.0)]
    found = of_comparison("a.json", comparison(runs)).relative()
    assert found.sample("x", "time").tolist() == pytest.approx([math.log(0.5)])
    assert found.sample("glibc", "time").size == 0


def test_measures_are_figures_too(make_run: Callable[..., Run]) -> None:
    runs = [make_run("glibc", block, measures={"malloc_p99_ns": 50.0}) for block in (1, 2)]
    found = of_comparison("a.json", comparison(runs))
    assert found.figures["malloc_p99_ns"].is_speed
    assert not found.figures["memory"].is_speed
    assert found.sample("glibc", "malloc_p99_ns").size == 2


def test_a_level_of_parameters_has_a_reference_of_its_own(make_run: Callable[..., Run]) -> None:
    names = [(name, value) for value in ("1", "2") for name in ("old", "new")]
    runs = [make_run("", 1).model_copy(update={"level": f"{name}, t={t}"}) for name, t in names]
    treatments = tuple(
        TreatmentInfo(
            allocator="",
            level=f"{name}, t={t}",
            label=f"{name}, t={t}",
            kind=Kind.SYSTEM,
            command=(f"./{name}", t),
            parameters={"t": t},
        )
        for name, t in names
    )
    found = of_comparison("a", comparison(runs).model_copy(update={"treatments": treatments}))
    assert found.references == {
        "old, t=1": "old, t=1", "new, t=1": "old, t=1",
        "old, t=2": "old, t=2", "new, t=2": "old, t=2",
    }  # fmt: skip
    assert found.subject == ("./old", "1", ";", "./new", "1", ";", "./old", "2", ";", "./new", "2")
    assert found.relative().values.keys() == {
        (label, response) for label in ("new, t=1", "new, t=2") for _, response in found.values
    }
