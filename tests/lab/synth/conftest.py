# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""A program to imitate: a generated trace with two threads, hand-overs, reallocs and phases."""

from pathlib import Path

import pytest

from heapwright.artefacts.profile.document import Profile
from heapwright.base import native
from heapwright.base.native import NativeMissingError
from heapwright.profile.run import profile_trace
from heapwright.synth import program
from heapwright.synth.plan import (
    Band,
    Choice,
    Lifetime,
    LifetimeKind,
    Plan,
    Sizes,
    Stretch,
    Worker,
)


@pytest.fixture(scope="session")
def native_parts() -> Path:
    try:
        native.program("synth")
        native.program("profile")
        return native.native_dir()
    except NativeMissingError as error:
        pytest.skip(f"{error.message}: {error.hint}")


@pytest.fixture(scope="session")
def plan() -> Plan:
    """Small blocks that die soon, a table that grows and stays, large blocks in the middle."""
    never = Lifetime(LifetimeKind.NEVER)
    short = Lifetime(LifetimeKind.OPERATIONS, 1, 8)
    long = Lifetime(LifetimeKind.OPERATIONS, 3000, 9000)
    small = Band((Sizes(24, 24, 1, 3), Sizes(33, 128, 5, 1)))
    large = Band((Sizes(9000, 30000, 8, 1),))
    return Plan(
        seed=1,
        null_frees=0.02,
        moves=0.05,
        routines=(Choice(0, 0, 8), Choice(1, 0, 1), Choice(6, 64, 1)),
        bands=(small, large),
        lifetimes=(short, long, never),
        threads=(Worker(2, 0, 10**6), Worker(1, 20000, 10**6, 0.3, ((0, 1.0),))),
        phases=(
            Stretch(20000, 2e9, ((0, 0, 7000), (0, 2, 3000))),
            Stretch(40000, 3e9, ((0, 0, 19000), (1, 1, 900))),
            Stretch(20000, 1e9, ((0, 0, 9900), (0, 1, 100))),
        ),
    )


@pytest.fixture(scope="session")
def model_trace(native_parts: Path, plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    del native_parts
    path = tmp_path_factory.mktemp("model") / "trace"
    program.draw(plan, path)
    return path


@pytest.fixture(scope="session")
def model(model_trace: Path) -> Profile:
    return profile_trace(model_trace)
