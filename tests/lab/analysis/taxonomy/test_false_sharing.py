# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Active and passive false sharing, from the counts of the detector."""

import pytest

from heapwright.analysis.taxonomy.false_sharing import judge_sharing
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.workload import Aspect, WorkloadRun

from .conftest import MakeRun


def seen(make_run: MakeRun, workload: str, active: int, passive: int) -> WorkloadRun:
    found = {"active": active, "passive": passive, "mallocs": 10_000}
    return make_run("x", Aspect.LINES, workload=workload, threads=8, false_sharing=found)


@pytest.mark.parametrize(
    ("thrash", "scratch", "active", "passive"),
    [
        ((0, 0), (0, 0), False, False),
        ((5, 0), (0, 10), False, False),
        ((9000, 0), (0, 0), True, False),
        ((0, 0), (0, 9000), False, True),
        ((0, 0), (9000, 0), False, False),
    ],
    ids=["none", "few", "active", "passive", "active where passive is looked for"],
)
def test_each_program_decides_what_it_was_made_for(
    make_run: MakeRun,
    thrash: tuple[int, int],
    scratch: tuple[int, int],
    active: bool,
    passive: bool,
) -> None:
    runs = [seen(make_run, "cache-thrash", *thrash), seen(make_run, "cache-scratch", *scratch)]
    found, evidence = judge_sharing(runs, "x")
    assert (found.active, found.passive) == (active, passive)
    assert evidence.active_per_thousand == thrash[0] / 10
    assert not evidence.why


def test_runs_that_differ_are_no_judgement(make_run: MakeRun) -> None:
    runs = [seen(make_run, "cache-thrash", active, 0) for active in (0, 9000, 3)]
    runs += [seen(make_run, "cache-scratch", 0, passive) for passive in (8000, 9000)]
    found, evidence = judge_sharing(runs, "x")
    assert (found.active, found.passive) == (None, True)
    assert evidence.active_per_thousand == pytest.approx(900.3 / 3)
    assert evidence.passive_per_thousand == pytest.approx(850)
    assert not evidence.why


def test_shared_options_of_workloads_are_named(make_run: MakeRun) -> None:
    runs = [
        seen(make_run, "cache-thrash", 0, 0),
        seen(make_run, "cache-scratch", 0, 0),
        seen(make_run, "larson", 300, 4000),
        seen(make_run, "phong", 20, 0),
        seen(make_run, "threadtest", 0, 0),
    ]
    found, evidence = judge_sharing(runs, "x")
    assert (found.active, found.passive) == (False, False)
    assert evidence.elsewhere == "larson"
    assert len(evidence.found) == 5


def test_a_missing_program_leaves_its_half_open(make_run: MakeRun) -> None:
    bad = make_run("x", Aspect.LINES, workload="cache-scratch", outcome=Outcome.CRASHED)
    found, evidence = judge_sharing([seen(make_run, "cache-thrash", 0, 0), bad], "x")
    assert (found.active, found.passive) == (False, None)
    assert "cache-scratch" in evidence.why
