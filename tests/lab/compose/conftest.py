# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The headers of this tree, and compilers to ask about them."""

import os
import shutil
from pathlib import Path

import pytest

from heapwright.artefacts.composition.aliases import Scope, read_aliases
from heapwright.artefacts.composition.layers import Toolbox, read_toolbox
from heapwright.compose.compiler import Compiler, find_compiler

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def toolbox() -> Toolbox:
    return read_toolbox(ROOT / "include")


@pytest.fixture(scope="session")
def scope() -> Scope:
    """The rungs of the catalogue."""
    headers = sorted((ROOT / "include" / "heapwright" / "allocators").glob("*.hpp"))
    return Scope(each for path in headers for each in read_aliases(path.read_text("utf-8")))


def make_compiler(names: tuple[str, ...], folder: Path) -> Compiler:
    name = next((each for each in names if shutil.which(each)), None)
    if name is None:
        pytest.skip(f"no {names[0]} here (packages g++, clang-14)")
    compiler = find_compiler(name, os.environ, folder)
    compiler.include = (ROOT / "include", ROOT / "native")
    return compiler


@pytest.fixture(
    params=[
        pytest.param(("g++", "c++"), id="gcc"),
        pytest.param(("clang++-14", "clang++"), id="clang", marks=pytest.mark.compiles),
    ]
)
def compiler(request: pytest.FixtureRequest, tmp_path: Path) -> Compiler:
    """Either of the compilers."""
    return make_compiler(request.param, tmp_path)


@pytest.fixture
def any_compiler(tmp_path: Path) -> Compiler:
    """The first that is there."""
    return make_compiler(("c++", "g++", "clang++"), tmp_path)
