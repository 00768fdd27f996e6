# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Traces become plans, and what cannot be replayed is refused in the program's words."""

from collections.abc import Callable
from pathlib import Path

import pytest

from heapwright.artefacts.run.replay import TOUCH, Surroundings, Touch
from heapwright.base.errors import HeapwrightError
from heapwright.replay.prepare import (
    prepare,
    refuse_beyond_memory,
    refuse_surroundings,
    run_options,
    run_words,
)

Traced = Callable[..., Path]


@pytest.fixture(autouse=True)
def _replayer(needs_programs: Callable[..., None]) -> None:
    needs_programs("replay")


@pytest.fixture
def traced(tmp_path: Path, trace_of_text: Callable[[Path, str], Path]) -> Traced:
    """A trace of the operations that Android's text traces have."""
    return lambda *lines: trace_of_text(tmp_path, "\n".join(lines) + "\n")


def test_objects_that_pass_between_threads_are_found(traced: Traced, tmp_path: Path) -> None:
    trace = traced(
        "1: malloc 0x1000 100",
        "1: malloc 0x2000 50",
        "2: free 0x1000",
        "2: realloc 0x3000 0x2000 70",
        "2: free 0x3000",
        "1: free 0x0",
    )
    plan = prepare(trace, tmp_path / "plan")
    assert (plan.threads, plan.events, plan.hand_overs) == (2, 6, 2)
    assert (plan.ideal_bytes, plan.ideal_objects) == (150, 2)
    assert plan.oddities.null_frees == 1
    assert plan.oddities.never_freed == 0


def test_invalid_events_are_counted(traced: Traced, tmp_path: Path) -> None:
    trace = traced(
        "1: malloc 0x1000 100",
        "1: free 0x5000",
        "1: realloc 0x7000 0x6000 10",
        "1: malloc 0x1000 30",
    )
    found = prepare(trace, tmp_path / "plan").oddities
    assert found.unknown_frees == 1
    assert found.unknown_reallocs == 1
    assert found.overwritten == 1
    assert found.never_freed_bytes == 40


def test_a_file_of_another_program_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_bytes(b"\x7fELF" + bytes(8000))
    with pytest.raises(HeapwrightError, match="cannot be replayed"):
        prepare(other, tmp_path / "plan")
    assert not (tmp_path / "plan").exists()


def test_a_process_that_is_not_there_is_refused(traced: Traced, tmp_path: Path) -> None:
    trace = traced("1: malloc 0x1000 100")
    with pytest.raises(HeapwrightError, match="has no process 7 that made calls"):
        prepare(trace, tmp_path / "plan", process=7)


def test_a_plan_that_does_not_fit_is_refused_before_it_is_written(
    traced: Traced, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heapwright.base.space.free_space", lambda _: (12, tmp_path))
    with pytest.raises(
        HeapwrightError, match=r"trace of 1 call needs about 13 B, and .* 12 B free"
    ):
        prepare(traced("1: malloc 0x1000 100"), tmp_path / "plan")
    assert not (tmp_path / "plan").exists()


def test_more_memory_than_there_is_is_not_written(traced: Traced, tmp_path: Path) -> None:
    trace = traced(f"1: malloc 0x1000 {1 << 46}")
    plan = prepare(trace, tmp_path / "plan")
    with pytest.raises(HeapwrightError, match="of memory") as refused:
        refuse_beyond_memory(trace, plan, TOUCH)
    assert "--touch first-byte" in refused.value.hint
    refuse_beyond_memory(trace, plan, "none")


@pytest.mark.parametrize(
    ("surroundings", "touch", "why"),
    [
        (Surroundings(gaps="recorded", visits=1e-4), TOUCH, "is 0.001"),
        (Surroundings(visits=2), TOUCH, 'gaps is "none"'),
        (Surroundings(gaps="recorded", visits=2), "first-byte", 'touch is "first-byte"'),
    ],
)
def test_visits_need_gaps_and_written_objects(
    surroundings: Surroundings, touch: Touch, why: str
) -> None:
    with pytest.raises(HeapwrightError, match=f"--visits {surroundings.visits:g}: ") as refused:
        refuse_surroundings(surroundings, touch)
    assert why in refused.value.message
    refuse_surroundings(Surroundings(gaps="recorded"), "none")
    refuse_surroundings(Surroundings(gaps="recorded", visits=2), TOUCH)


def test_a_trace_without_times_has_no_gaps(traced: Traced, tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="the trace has no times"):
        prepare(
            traced("1: malloc 0x1000 100"),
            tmp_path / "plan",
            surroundings=Surroundings(gaps="recorded"),
        )


def test_the_words_of_a_run(tmp_path: Path) -> None:
    plan = tmp_path / "plan"
    program, *options = run_words(plan, touch="all", checked=True)
    assert program.endswith("heapwright-replay")
    assert options == ["run", str(plan), "--touch", "all", "--check"]
    assert run_words(plan)[-1] == "as-recorded-size", "memory is written unless told otherwise"
    curve = run_options(plan, touch="none", checked=False, curve=tmp_path / "c")
    assert curve[-2:] == ("--curve", str(tmp_path / "c"))
