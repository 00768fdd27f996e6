# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Made-up data for the tests of the analysis: cells of a blocked experiment, and runs."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from heapwright.analysis.blocked import BlockedFit, Cells, comparable, fit
from heapwright.artefacts.run.measured import Outcome, Run

Floats = NDArray[np.float64]


def cells_of(log_values: Floats) -> Cells:
    names = tuple((f"t{column}", "") for column in range(log_values.shape[1]))
    return Cells(names, log_values)


def simulated(seed: int, blocks: int, effects: Floats, *, missing: float = 0.0) -> Floats:
    """Log values, shape (blocks, k): block + effect + normal error of 3 %, some holes."""
    draws = np.random.default_rng(seed)
    k = len(effects)
    values = draws.normal(0, 0.05, (blocks, 1)) + effects + draws.normal(0, 0.03, (blocks, k))
    values[draws.random((blocks, k)) < missing] = np.nan
    return values


def run_of(allocator: str, block: int, **figures: object) -> Run:
    usual = {
        "allocator": allocator,
        "block": block,
        "position": 0,
        "outcome": Outcome.OK,
        "exit_status": 0,
        "wall_s": 1.0,
        "user_s": 0.8,
        "sys_s": 0.1,
        "peak_rss_bytes": 100 << 20,
        "interposed": True,
    }
    return Run.model_validate({**usual, **figures})


@pytest.fixture(scope="session")
def fitted() -> Callable[..., BlockedFit]:
    def make(
        seed: int, blocks: int, k: int, missing: float = 0.0, step: float = -0.03
    ) -> BlockedFit:
        effects: Floats = step * np.arange(k, dtype=np.float64)
        return fit(comparable(cells_of(simulated(seed, blocks, effects, missing=missing))))

    return make


@pytest.fixture(scope="session")
def make_run() -> Callable[..., Run]:
    return run_of


@pytest.fixture(scope="session")
def make_cells() -> Callable[[Floats], Cells]:
    return cells_of


@pytest.fixture(scope="session")
def simulate() -> Callable[..., Floats]:
    return simulated
