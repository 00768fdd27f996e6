# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Quantiles of steps, and what is said of the trace that was replayed."""

from heapwright.artefacts.run.replay import (
    TOUCH,
    Oddities,
    PlannedWork,
    ReplayPlan,
    ReplaySubject,
    RoutineTimes,
    Surroundings,
)
from heapwright.report.replay import _cells, quantile, subject_lines


def subject(ahead: int | None = None, **odd: int) -> ReplaySubject:
    plan = ReplayPlan(
        threads=2,
        process=0,
        events=12345,
        hand_overs=67,
        recorded_s=1.0,
        plan_bytes=1,
        ideal_bytes=1,
        ideal_objects=1,
        ahead_bytes=ahead,
        oddities=Oddities(**odd),
    )
    return ReplaySubject(trace="T", touch=TOUCH, plan=plan)


def test_quantiles_are_the_ends_of_steps() -> None:
    steps = [(1.0, 50), (2.0, 49), (9.0, 1)]
    assert quantile(steps, 0.5) == 1.0
    assert quantile(steps, 0.9) == 2.0
    assert quantile(steps, 0.99) == 2.0
    assert quantile(steps, 0.9999) == 9.0
    assert quantile([], 0.5) == 0.0


def test_the_trace_is_named_with_what_is_in_it() -> None:
    (line,) = subject_lines(subject())
    assert "T, 12,345 calls of 2 threads, 67 objects handed over" in line


def test_the_work_between_calls_is_told_with_its_amounts() -> None:
    work = PlannedWork(
        recorded_s=2.5, work_s=1.25, longest_ns=900, iterations_per_ms=7, iterations=8750
    )
    told = subject()
    told = told.model_copy(update={"plan": told.plan.model_copy(update={"between": work})})
    _, line = subject_lines(told)
    assert line.startswith("Between calls: 8,750 iterations of work for 1.25 s of the 2.5 s")
    assert "visits" not in line
    visited = work.model_copy(update={"visits_per_ms": 10, "visits": 12, "visited_lines": 3456})
    told = told.model_copy(update={"plan": told.plan.model_copy(update={"between": visited})})
    _, line = subject_lines(told)
    assert "12 visits of objects with 3,456 cache lines." in line
    told = told.model_copy(update={"surroundings": Surroundings(gaps="recorded", visits=0.5)})
    _, line = subject_lines(told)
    assert "cache lines (0.01 of the 0.5 requested in a microsecond)" in line


def test_no_quantile_exceeds_the_maximum() -> None:
    """The upper end of the last step does, and the steps of several runs are added up."""
    times = [
        RoutineTimes(
            calls=100,
            mean_ns=9.0,
            p50_ns=8.0,
            p90_ns=8.0,
            p99_ns=most,
            p99_9_ns=most,
            p99_99_ns=most,
            max_ns=most,
            histogram=((8.0, 90), (110.0, 10)),
        )
        for most in (101.0, 103.0)
    ]
    *_, last, most = _cells(times)
    assert (last, most) == ("103", "103")


def test_the_bound_of_the_order_is_named() -> None:
    (line,) = subject_lines(subject(ahead=32 << 10))
    assert "(live bytes within 32.0 KiB of the recorded ones)" in line
    (line,) = subject_lines(subject())
    assert "live bytes within" not in line


def test_anomalies_are_reported() -> None:
    _, line = subject_lines(subject(failed=3, unknown_frees=1, null_frees=5))
    assert "3 calls that got no memory (left out)" in line
    assert "1 frees of unknown addresses (left out)" in line
    assert "null" not in line
