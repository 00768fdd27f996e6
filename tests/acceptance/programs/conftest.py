# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Every test of this folder runs once under each composed allocator of the catalogue; here is when.

All of it for all of them would take longer than the rest of the tests together. `make test` runs

- what has several threads and ends soon (it says so: `everywhere`) under every allocator, because
  the allocators differ most in what threads do to each other;
- the rest under the `REPRESENTATIVES`: one of each kind of heap that a single thread can tell from
  the others. The rest of the allocators are other arrangements of the same layers.

`make test-programs` runs what that leaves out, and so does a change before it lands.
"""

from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import read_catalogue

from .under import GLIBC, Under

# The tree's own registry: which allocators there must be does not depend on what is installed.
CATALOGUE = read_catalogue(Path(__file__).parents[3] / "catalogue" / "allocators.toml")
REPRESENTATIVES = {
    "kingsley": "power-of-two classes, nothing splits or merges",
    "lea": "blocks split and merge at once, behind quicklists",
    "vmalloc": "best fit from a tree, merging late",
    "hoard": "superblocks, many heaps, a global one",
}
assert REPRESENTATIVES.keys() <= {entry.name for entry in CATALOGUE.composed}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The allocators of a test that runs a program, the ones that can wait marked as slow."""
    if "under" not in metafunc.fixturenames:
        return
    at_once = metafunc.definition.get_closest_marker("everywhere") is not None
    but = metafunc.definition.get_closest_marker("all_but")
    left_out = () if but is None else but.args
    metafunc.parametrize(
        "under",
        [
            entry.name
            if at_once or entry.name in REPRESENTATIVES
            else pytest.param(entry.name, marks=pytest.mark.slow)
            for entry in CATALOGUE.composed
            if entry.name not in left_out
        ],
        indirect=True,
    )


@pytest.fixture
def under(request: pytest.FixtureRequest, tmp_path: Path) -> Under:
    """Programs under one of our allocators."""
    home = tmp_path / "home"
    home.mkdir()
    return Under(request.param, home)


@pytest.fixture
def control(tmp_path: Path) -> Under:
    """The same programs on the C library: the answers to be given."""
    home = tmp_path / "control"
    home.mkdir()
    return Under(GLIBC, home)
