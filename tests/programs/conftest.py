# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Every test of this folder runs once under each composed allocator of the catalogue."""

from pathlib import Path

import pytest

from heapwright.artefacts.catalogue import read_catalogue

from .under import GLIBC, Under

# The tree's own registry: which allocators there must be does not depend on what is installed.
CATALOGUE = read_catalogue(Path(__file__).parents[2] / "allocators" / "catalogue.toml")


@pytest.fixture(params=[entry.name for entry in CATALOGUE.composed])
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
