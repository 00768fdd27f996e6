# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A search finds planted optima, keeps the default otherwise, and respects its limits."""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from heapwright.analysis.tuning.answer import Figures, answer_of
from heapwright.analysis.tuning.search import Results, Rules, Search, least_runs, usual_runs
from heapwright.analysis.tuning.space import Cell, Factor, Measured, Space

SPACE = Space(tuple(Factor(name, ("0", "default", "2"), 1) for name in "abcd"))
FIGURES = Figures("cpu", "memory")
Truth = Callable[[Cell], float]


def no_effect(_cell: Cell) -> float:
    return 0.0


def run(
    search: Search, truth: Truth, *, scatter: float, other: Truth = no_effect, seed: int = 1
) -> list[Results]:
    """Make all runs of a search; the results block by block."""
    draws = np.random.default_rng(seed)
    made: list[Results] = []
    while (block := search.wanted()) is not None:
        results = {
            cell: Measured(
                math.exp(truth(cell) + scatter * draws.standard_normal()), math.exp(other(cell))
            )
            for cell in block.cells
        }
        made.append(results)
        search.observe(results)
    return made


def new(rules: Rules | None = None) -> Search:
    return Search(SPACE, rules or Rules(), usual_runs(SPACE))


def answer(search: Search) -> str:
    return answer_of(search, FIGURES, lambda _: {}).reason


def test_the_best_of_two_settings_is_set() -> None:
    search = new()
    run(search, lambda c: 0.08 * (c[0] - 1) - 0.06 * (c[2] - 1), scatter=0.01)
    assert SPACE.label(search.winner) == "a=0, c=2"
    assert answer(search).startswith("Set a=0, c=2: 1")


def test_a_middle_level_is_found_between_worse_ends() -> None:
    space = Space((Factor("a", ("0", "1", "default"), 2), *SPACE.factors[1:]))
    search = Search(space, Rules(), usual_runs(space))
    run(search, lambda c: (0.0, -0.1, 0.05)[c[0]], scatter=0.005)
    assert space.label(search.winner) == "a=1"


def test_a_finer_level_is_found_between_those_of_the_grid() -> None:
    grid = Factor("a", ("1", "default", "64"), 1)
    space = Space((replace(grid, finer=(("4", 0), ("16", 2), ("256", 2))), *SPACE.factors[1:]))
    effect = (0.1, 0.0, -0.05, 0.0, -0.12, 0.2)
    search = Search(space, Rules(), usual_runs(space))
    made = run(search, lambda c: effect[c[0]], scatter=0.005)
    assert answer(search).startswith("Set a=16: 1")
    raced = {cell[0] for block in made for cell in block}
    assert raced == {0, 1, 2, 4, 5}, "the level near the worse end is not run"
    search = Search(Space((grid, *SPACE.factors[1:])), Rules(), usual_runs(space))
    run(search, lambda c: effect[c[0]], scatter=0.005)
    assert answer(search).startswith("Set a=64: ")


def test_the_level_of_the_grid_stays_if_no_finer_one_is_better() -> None:
    first = replace(SPACE.factors[0], finer=(("1", 0), ("8", 2)))
    space = Space((first, *SPACE.factors[1:]))
    search = Search(space, Rules(), usual_runs(space))
    run(search, lambda c: (-0.1, 0.0, 0.1, -0.1, 0.1)[c[0]], scatter=0.01)
    assert answer(search).startswith("Set a=0: ")


def test_an_optimum_of_an_interaction_is_found() -> None:
    search = new()
    run(search, lambda c: 0.05 * (c[0] - 1) * (c[1] - 1) + 0.01 * (c[0] - 1), scatter=0.005)
    assert SPACE.label(search.winner) == "a=0, b=2"


def test_the_default_stays_if_nothing_has_an_effect() -> None:
    search = new()
    run(search, no_effect, scatter=0.01)
    assert answer(search) == "Keep the default settings: none was 2 % better in the search"
    notes = answer_of(search, FIGURES, lambda _: {}).notes
    assert any(note.startswith("no effect of more than 2 % on processor time") for note in notes)


def test_the_default_stays_if_every_change_is_worse() -> None:
    search = new()
    run(search, lambda c: 0.05 * sum(level != 1 for level in c), scatter=0.01)
    assert answer(search).startswith("Keep the default settings")


def test_a_setting_over_the_cap_is_not_set() -> None:
    search = new(Rules(cap=1.1))
    run(
        search,
        lambda c: 0.1 * (c[0] - 1) + 0.04 * (c[1] - 1),
        other=lambda c: -0.3 * (c[0] - 1),
        scatter=0.005,
    )
    assert SPACE.label(search.winner) == "b=0"


def test_the_cap_also_holds_in_the_confirmation() -> None:
    search = new(Rules(cap=1.1))
    made: list[int] = []

    def other(cell: Cell) -> float:
        late = search.phase == "confirm"
        made.append(late)
        return 0.2 if late and cell != SPACE.default else 0.0

    run(search, lambda c: 0.1 * (c[0] - 1), other=other, scatter=0.005)
    assert any(made)
    assert "over the cap" in answer(search)


def test_runs_that_differ_too_much_decide_nothing() -> None:
    search = new()
    run(search, no_effect, scatter=0.5)
    assert answer(search).startswith("Undecided, so keep the default settings")


def test_a_combination_that_fails_is_never_set() -> None:
    search = new()
    draws = np.random.default_rng(1)
    while (block := search.wanted()) is not None:
        search.observe(
            {
                cell: None
                if cell[0] == 0
                else Measured(math.exp(0.1 * (cell[0] - 1) + 0.005 * draws.standard_normal()), 1.0)
                for cell in block.cells
            }
        )
    assert search.winner[0] != 0
    assert any("failed in" in note for note in answer_of(search, FIGURES, lambda _: {}).notes)


def test_the_same_results_continue_a_search_as_if_it_had_never_stopped() -> None:
    def truth(cell: Cell) -> float:
        return 0.08 * (cell[0] - 1)

    whole = new()
    made = run(whole, truth, scatter=0.02)
    again = new()
    for results in made:
        block = again.wanted()
        assert block is not None
        assert set(block.cells) == set(results)
        again.observe(results)
    assert again.wanted() is None
    assert answer(again) == answer(whole)


@pytest.mark.parametrize("seed", range(8))
def test_a_search_stays_within_its_runs(seed: int) -> None:
    runs = least_runs(SPACE) + 10 * seed
    search = Search(SPACE, Rules(), runs)
    run(search, lambda c: 0.05 * (c[seed % 4] - 1), scatter=0.03, seed=seed)
    assert search.runs <= runs


def test_too_few_runs_are_refused() -> None:
    with pytest.raises(ValueError, match="fewer than"):
        Search(SPACE, Rules(), least_runs(SPACE) - 1)


def test_an_unfinished_search_names_the_best_so_far() -> None:
    search = new()
    draws = np.random.default_rng(1)
    while (block := search.wanted()) is not None and block.phase != "confirm":
        search.observe(
            {
                c: Measured(math.exp(0.1 * (c[0] - 1) + 0.01 * draws.standard_normal()), 1.0)
                for c in block.cells
            }
        )
    told = answer_of(search, FIGURES, lambda _: {}, stopped="it was interrupted")
    assert told.action == "undecided"
    assert "best so far a=0, by about " in told.reason
