# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The error rate and the cost of races over recorded noise.

docs/results/racing/README.md has the table that the full form prints (pytest -s).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from support.recorded_noise import Noise

from .simulated import (
    COMMANDS,
    Floats,
    Outcome,
    allocators,
    complete_blocks,
    is_as_stated,
    is_good,
    race,
    share,
)

EXPERIMENTS = 60
"""Of complete blocks, divided by the number of candidates: many candidates make long ones."""
MOST_BLOCKS = 60
"""A simulated race makes at most the runs of as many complete blocks."""
FIELDS = (4, 12, 30)
Truth = Callable[[int, np.random.Generator], Floats]


@dataclass(frozen=True, slots=True)
class Cell:
    """Many simulated comparisons of as many candidates over one recorded column."""

    column: str
    candidates: int
    truths: list[Floats]
    outcomes: list[Outcome]
    complete: float
    """Mean runs that complete blocks need."""

    @property
    def named(self) -> list[bool]:
        """Of those that ended with a name, whether it is within the margin of the best."""
        pairs = zip(self.truths, self.outcomes, strict=True)
        return [is_good(truth, out.named) for truth, out in pairs if out.named is not None]

    @property
    def answered(self) -> list[bool]:
        """Of those with an answer, at the limit too, whether it is as near as stated."""
        pairs = zip(self.truths, self.outcomes, strict=True)
        return [is_as_stated(truth, out) for truth, out in pairs if out.advised is not None]

    @property
    def stated(self) -> float:
        """Median of the bounds that are stated at the limit."""
        at_limit = [out.shortfall for out in self.outcomes if out.named is None and out.shortfall]
        return float(np.median(at_limit)) if at_limit else float("nan")

    @property
    def runs(self) -> float:
        return float(np.mean([outcome.runs for outcome in self.outcomes]))

    def line(self) -> str:
        """A row of the table."""
        blocks = float(np.mean([outcome.blocks for outcome in self.outcomes]))
        ended = len(self.named) / len(self.outcomes)
        answered = len(self.answered) / len(self.outcomes)
        return (
            f"| {self.column.replace('_', ', ')} | {self.candidates} "
            f"| {100 * ended:.0f} % | {100 * share(self.named):.0f} % "
            f"| {100 * answered:.0f} % | {100 * share(self.answered):.0f} % "
            f"| {100 * self.stated:.0f} % | {blocks:.0f} "
            f"| {self.runs:.0f} | {self.complete:.0f} | {self.runs / self.complete:.2f} |"
        )


def simulate(
    column: str, candidates: int, repeats: int, seed: int, truth: Truth = allocators
) -> Cell:
    draws = np.random.default_rng(seed)
    truths = [truth(candidates, draws) for _ in range(repeats)]
    outcomes = [race(each, Noise(column, draws), draws, MOST_BLOCKS) for each in truths]
    tried = max(2, EXPERIMENTS // candidates)
    own = np.random.default_rng((seed, 1))
    runs = [complete_blocks(candidates, Noise(column, own), own) for _ in range(tried)]
    return Cell(column, candidates, truths, outcomes, float(np.mean(runs)))


def equal(candidates: int, _draws: np.random.Generator) -> Floats:
    return np.zeros(candidates)


def no_difference(cell: Cell) -> list[bool]:
    """Of an A/A comparison: the baseline is the answer, by decision or at the limit."""
    return [out.advised == 0 for out in cell.outcomes]


@pytest.mark.parametrize(("candidates", "repeats"), [(4, 40), (12, 16), (30, 8)])
def test_races_name_a_good_one_with_a_third_of_the_runs(candidates: int, repeats: int) -> None:
    cell = simulate("compiler_cpu", candidates, repeats, seed=candidates)
    assert len(cell.named) >= 0.7 * repeats
    assert share(cell.named) >= 0.95
    assert cell.runs <= cell.complete / 3


def test_a_stopped_race_gives_an_answer_that_is_as_near_to_the_best_as_it_states() -> None:
    cell = simulate("perl_wall", 4, 24, seed=1)
    stopped = [out for out in cell.outcomes if out.named is None]
    assert len(stopped) >= 6, "the noise is too small to stop a race"
    assert all(out.advised is not None and out.shortfall is not None for out in stopped)
    assert share(cell.answered) >= 0.95


def test_a_race_of_equals_ends_without_a_difference() -> None:
    draws = np.random.default_rng(4)
    flags = []
    for _ in range(8):
        outcome = race(np.zeros(4), Noise("python_wall", draws), draws, 30)
        flags.append(outcome.advised == 0)
    assert share(flags) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("candidates", FIELDS)
def test_the_table(candidates: int, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [
        simulate(f"{command}_{figure}", candidates, 60, seed=candidates)
        for command in COMMANDS
        for figure in ("cpu", "wall")
    ]
    with capsys.disabled():
        print(*(f"\n{cell.line()}" for cell in cells), sep="")
    assert share([good for cell in cells for good in cell.named]) >= 0.95
    assert all(share(cell.named) >= 0.9 for cell in cells)
    assert share([stated for cell in cells for stated in cell.answered]) >= 0.95
    assert all(cell.runs <= cell.complete / 3 for cell in cells)


@pytest.mark.slow
@pytest.mark.parametrize("candidates", FIELDS)
def test_equals_in_full(candidates: int, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [
        simulate(f"{command}_{figure}", candidates, 30, seed=candidates, truth=equal)
        for command in COMMANDS
        for figure in ("cpu", "wall")
    ]
    flags = [flag for cell in cells for flag in no_difference(cell)]
    with capsys.disabled():
        print(f"\n{candidates} equal candidates: {sum(flags)} of {len(flags)}")
    assert share(flags) >= 0.95
