# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""How often a search recommends something worse than the default, and how near to the best it is.

docs/results/tuning/README.md has the tables that the full form prints (pytest -s).
"""

from collections.abc import Iterator, Sequence

import numpy as np
import pytest

from heapwright.analysis.tuning.space import Space

from .simulated import CAPS, CELLS, FINER, NOISES, PROGRAMS, SPACE, Outcome, searched

QUIET = ("python_cpu", "compiler_cpu", "normal", "heavy", "drift", "peak")
"""Runs that scatter by 3 % or less."""
SEEDS = 21
FEW = 1
WORSE = 0.05
"""Of the recommendations, at most."""
QUARTER = len(CELLS) / 4

Found = dict[tuple[str, str], list[Outcome]]


def simulate(seeds: int, space: Space = SPACE) -> Found:
    """Searches on all kinds of programs under all noises, with and without a cap."""
    return {
        (kind, noise): [searched(kind, noise, CAPS[seed % 2], seed, space) for seed in range(seeds)]
        for kind in PROGRAMS
        for noise in NOISES
    }


def share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags)


def line(name: str, outcomes: Sequence[Outcome]) -> str:
    """A row of a table."""
    recommended = [each for each in outcomes if each.winner is not None]
    return (
        f"| {name.replace('_', ', ')} | {len(outcomes)} | {len(recommended)} "
        f"| {sum(each.worse for each in recommended)} "
        f"| {100 * share([each.missed <= 0.02 for each in outcomes]):.0f} % "
        f"| {100 * float(np.mean([each.missed for each in outcomes])):.1f} % "
        f"| {np.mean([each.runs for each in outcomes]):.0f} |"
    )


def table(found: Found) -> Iterator[str]:
    for place, names in ((0, PROGRAMS), (1, NOISES)):
        for name in names:
            yield line(name, [o for key, each in found.items() if key[place] == name for o in each])
        yield ""
    yield line("all", [outcome for each in found.values() for outcome in each])


def test_a_few_searches_recommend_nothing_worse() -> None:
    outcomes = [outcome for each in simulate(FEW).values() for outcome in each]
    assert len(outcomes) == len(PROGRAMS) * len(NOISES)
    assert sum(each.winner is not None for each in outcomes) > len(outcomes) / 4
    assert sum(each.worse for each in outcomes) <= 1
    assert all(each.runs < QUARTER for each in outcomes)


@pytest.mark.slow
@pytest.mark.parametrize("space", [SPACE, FINER], ids=["grid", "finer"])
def test_a_thousand_searches_recommend_hardly_anything_worse(space: Space) -> None:
    found = simulate(SEEDS, space)
    print("\n".join(table(found)))
    outcomes = [outcome for each in found.values() for outcome in each]
    recommended = [each for each in outcomes if each.winner is not None]
    assert len(outcomes) >= 1000
    assert sum(each.worse for each in recommended) <= WORSE * len(recommended)
    nothing = [o for (kind, _), each in found.items() if kind in {"none", "worse"} for o in each]
    assert share([each.winner is None for each in nothing]) >= 1 - WORSE
    quiet = [o for (_, noise), each in found.items() if noise in QUIET for o in each]
    assert share([each.missed <= 0.02 for each in quiet]) >= 0.9
    assert all(each.runs < QUARTER for each in outcomes)
