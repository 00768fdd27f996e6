# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Every test of this folder runs once under each composed allocator of the catalogue.

All of it for all of them would take longer than the other tests together. `make test` runs the
representative allocators (tests/conftest.py), and `make test-programs` a part of the others.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import read_catalogue

from .under import GLIBC, Under

# The tree's own registry: which allocators there must be does not depend on what is installed.
CATALOGUE = read_catalogue(Path(__file__).parents[3] / "catalogue" / "allocators.toml")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The allocators of a test that runs a program."""
    if "under" not in metafunc.fixturenames:
        return
    but = metafunc.definition.get_closest_marker("all_but")
    left_out = () if but is None else but.args
    metafunc.parametrize(
        "under",
        [
            pytest.param(entry.name, marks=pytest.mark.each_allocator)
            for entry in CATALOGUE.composed
            if entry.name not in left_out
        ],
        indirect=True,
    )


@pytest.fixture
def under(request: pytest.FixtureRequest, tmp_path: Path) -> Under:
    """Programs under one of the project's allocators."""
    home = tmp_path / "home"
    home.mkdir()
    return Under(request.param, home)


@pytest.fixture
def control(tmp_path: Path) -> Under:
    """The same programs on the C library: the answers to be given."""
    home = tmp_path / "control"
    home.mkdir()
    return Under(GLIBC, home)


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Callable[[Under], bytes]], bytes]:
    """What a run answers on the C library, which this process asks only once."""

    @cache
    def answer(run: Callable[[Under], bytes]) -> bytes:
        return run(Under(GLIBC, tmp_path_factory.mktemp("plain")))

    return answer
