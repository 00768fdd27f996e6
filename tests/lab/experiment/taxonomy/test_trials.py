# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What a survey consists of."""

import pytest

from heapwright.artefacts.run.workload import Aspect
from heapwright.experiment.taxonomy.trials import Extent, trials


@pytest.mark.parametrize(
    ("cpus", "timed"), [(1, (1,)), (2, (1, 2)), (6, (1, 2, 4, 6)), (8, (1, 2, 4, 8))]
)
def test_threads_are_timed_up_to_the_processors(cpus: int, timed: tuple[int, ...]) -> None:
    assert Extent(cpus).timed == timed


@pytest.mark.parametrize("small", [False, True])
def test_every_aspect_is_looked_at(small: bool) -> None:
    made = list(trials(Extent(2, small)))
    assert {trial.aspect for trial in made} == set(Aspect) - {Aspect.PEAK, Aspect.FIXED}
    assert len({(trial.aspect, trial.workload, trial.threads) for trial in made}) == len(made)


def test_counts_go_on_beyond_the_processors() -> None:
    counted = [t.threads for t in trials(Extent(2)) if t.aspect is Aspect.EVENTS]
    assert max(counted) == 64


def test_round_robin_gives_each_thread_its_turn_twice() -> None:
    for trial in trials(Extent(2)):
        if trial.aspect is Aspect.THREADS:
            rounds = trial.arguments[trial.arguments.index("--rounds") + 1]
            assert int(rounds) == 2 * trial.threads


def test_the_work_that_is_timed_is_the_same_for_all_threads() -> None:
    loops = [t for t in trials(Extent(4)) if (t.aspect, t.workload) == (Aspect.SPEEDUP, "loop")]
    work = {t.threads * int(t.arguments[t.arguments.index("--iterations") + 1]) for t in loops}
    assert len(work) == 1
