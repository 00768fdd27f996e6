# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which part of memory grows in a long run."""

from collections.abc import Callable

import pytest

from heapwright.analysis.long_run import fitted, value_of
from heapwright.artefacts.long_run.document import Direction, Load, LongRun, Plan, Sample
from heapwright.artefacts.program.model import ProgramSubject
from heapwright.artefacts.run.measured import Outcome
from heapwright.artefacts.run.provenance import read_environment

MEBI = 2**20


def run_of(held: Callable[[float], float], *, live: int | None = 10 * MEBI) -> LongRun:
    """Eight hours; `held` is of the hours."""
    plan = Plan(
        program=ProgramSubject(name="small", title="", sha256="0"),
        command=("server",),
        allocator="glibc",
        load=Load(hours=8.0),
        interval_s=60.0,
        environment=read_environment([], {}),
    )
    samples = []
    for at in range(480):
        kept = round(held(at / 60) * MEBI)
        samples.append(
            Sample(
                time_s=at * 60.0,
                resident_bytes=(live or 0) + kept + MEBI,
                anonymous_bytes=(live or 0) + kept,
                live_bytes=live,
                held_bytes=None if live is None else kept,
                processes=1,
                busy=True,
            )
        )
    return LongRun(plan=plan, outcome=Outcome.OK, whole=True, samples=tuple(samples))


def test_slow_fragmentation_shows_in_what_is_held() -> None:
    run = fitted(run_of(lambda hours: 2.0 + 0.25 * hours))
    growths = {each.series: each for each in run.growths}
    assert growths["held"].bytes_per_hour == pytest.approx(0.25 * MEBI, rel=0.01)
    assert growths["held"].direction is Direction.GROWS
    assert growths["resident"].direction is Direction.GROWS
    assert growths["live"].direction is Direction.LEVEL
    assert growths["live"].bytes_per_hour == 0
    assert growths["held"].rise_bytes == pytest.approx(0.25 * MEBI * 6, rel=0.03)


def test_a_table_filled_at_the_beginning_is_no_growth() -> None:
    run = fitted(run_of(lambda hours: min(hours, 1.5) * 50))
    assert run.settled_s == pytest.approx(2 * 3600, rel=0.01)
    assert {each.direction for each in run.growths} == {Direction.LEVEL}


def test_an_allocator_with_less_memory_is_reported() -> None:
    run = fitted(run_of(lambda hours: 20 - 2 * hours))
    assert run.growths[-1].direction is Direction.SHRINKS


def test_without_live_bytes_there_is_resident_memory_alone() -> None:
    run = fitted(run_of(lambda hours: hours, live=None))
    assert [each.series for each in run.growths] == ["resident"]
    assert value_of(run.samples[0], "live") is None


def test_nothing_seen_is_nothing_fitted() -> None:
    run = run_of(lambda _: 1.0).model_copy(update={"samples": ()})
    assert fitted(run) == run
