# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The output while a comparison runs, and the forecast of the rest."""

import pytest

from heapwright.artefacts.run.measured import Outcome, Run
from heapwright.artefacts.run.provenance import Allocator, Kind
from heapwright.commands import progress
from heapwright.commands.progress import Display, Estimate, duration
from heapwright.experiment.blocks import Assignment
from heapwright.experiment.treatments import Treatment


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-1, "0 s"),
        (0.4, "0 s"),
        (89, "89 s"),
        (90, "2 min"),
        (3600, "60 min"),
        (7500, "2 h 05 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


class Clock:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr(progress, "monotonic", lambda: self.now)


def test_the_rest_is_estimated_from_the_last_block(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    estimate = Estimate(treatments=4, warmup=1)
    estimate.begin(0)
    assert estimate.remaining(5, 0) is None
    clock.now += 10
    # one of four runs took 10 s: 30 s of this block are left and five blocks of 40 s follow
    assert estimate.remaining(5, 1) == pytest.approx(30 + 5 * 40)
    clock.now += 30
    estimate.begin(1)
    assert estimate.remaining(5, 0) == pytest.approx(5 * 40)
    assert estimate.done(0) == 4
    clock.now += 100
    assert estimate.remaining(5, 3) == pytest.approx(4 * 40)
    assert estimate.elapsed == pytest.approx(140)
    estimate.begin(2)
    assert estimate.remaining(5, 0) == pytest.approx(4 * 100)


def assignment(block: int, position: int) -> Assignment:
    treatment = Treatment(Allocator(name="lea", kind=Kind.COMPOSED))
    return Assignment(treatment, block, position, block < 1, None)


def finished(told: Assignment, outcome: Outcome = Outcome.OK) -> Run:
    return Run(allocator="lea", block=told.block, position=told.position, outcome=outcome)


def test_away_from_a_terminal_a_line_is_printed_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock(monkeypatch)
    with Display(2, 1, lambda _block: 5, adaptive=True) as display:
        for block in (0, 1, 2):
            for position in (1, 2):
                told = assignment(block, position)
                display.watch(told, None)
                clock.now += 8
                display.watch(told, finished(told, Outcome.CRASHED if block else Outcome.OK))
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "block 1, run 2 of 2, 2 bad; 32 s so far, 64 s to the look after block 5"
    ]


def test_quiet_is_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock(monkeypatch)
    with Display(1, 1, lambda _block: 5, quiet=True) as display:
        told = assignment(0, 1)
        display.watch(told, None)
        clock.now += 1000
        display.watch(told, finished(told))
    assert capsys.readouterr() == ("", "")


def test_on_a_terminal_it_is_drawn_in_place(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    clock = Clock(monkeypatch)
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    with Display(2, 1, lambda _block: 5) as display:
        told = assignment(1, 2)
        display.watch(told, None)
        clock.now += 10
        display.watch(told, finished(told, Outcome.TIMEOUT))
    error = capsys.readouterr().err
    assert "block 1" in error
    assert "lea" in error
    assert "1 bad" in error
