# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Granary as it is installed, and small programs under it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from heapwright.base import native
from heapwright.base.native import NativeMissingError

ALLOCATOR = "granary"
PROGRAMS = Path(__file__).parent / "programs"


def preloaded(allocator: str, **more: str) -> dict[str, str]:
    """A plain environment with an allocator in it."""
    foreign = ("LD_", "GLIBC_", "MALLOC_", "HEAPWRIGHT_GRANARY")
    plain = {key: value for key, value in os.environ.items() if not key.startswith(foreign)}
    return plain | {"LD_PRELOAD": str(native.library(allocator))} | more


@pytest.fixture(scope="session")
def granary() -> str:
    """The name of the allocator that promises."""
    try:
        native.library(ALLOCATOR)
    except NativeMissingError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    return ALLOCATOR


@pytest.fixture(scope="session")
def returning(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """programs/returning.c, compiled."""
    compiler = shutil.which("cc") or pytest.skip("needs a C compiler (package gcc)")
    program = tmp_path_factory.mktemp("returning") / "returning"
    options = ["-O1", "-Wall", "-Wextra", "-Werror", "-fno-builtin", "-pthread"]
    source = PROGRAMS / "returning.c"
    done = subprocess.run([compiler, *options, source, "-o", program], check=False)
    assert done.returncode == 0
    return program
