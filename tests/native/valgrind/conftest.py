# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Programs and allocators of known counts, built once; and counting of any of them."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwright.artefacts.run.counts import Counts
from heapwright.experiment import instrument

HERE = Path(__file__).parent
FLAGS = ["-O1", "-pthread", "-fno-builtin", "-Wall", "-Wextra", "-Werror"]
LIBRARY = ["-shared", "-fPIC", "-ftls-model=initial-exec"]


class Workbench:
    """Builds what a test asks for, and counts."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def program(self, name: str, *flags: str) -> Path:
        """`programs/NAME.c` or `.cpp`, compiled."""
        source = next((HERE / "programs").glob(f"{name}.c*"))
        return self._build(source, "-".join([name, *flags]), *flags)

    def library(self, name: str, *flags: str) -> Path:
        """`libraries/NAME.c`, compiled: an allocator that can be preloaded."""
        output = f"lib{'-'.join([name, *flags])}.so"
        return self._build(HERE / "libraries" / f"{name}.c", output, *LIBRARY, *flags)

    def count(self, library: str | None, program: str, *words: object, **more: object) -> Counts:
        """The counts of a program of the tests under an allocator of the tests."""
        allocator = None if library is None else self.library(library)
        argv = [str(self.program(program)), *map(str, words)]
        return instrument.count(allocator, os.environ, argv, **more)  # type: ignore[arg-type]

    def _build(self, source: Path, name: str, *flags: str) -> Path:
        output = self._folder / name
        if not output.exists():
            compiler = shutil.which("c++" if source.suffix == ".cpp" else "cc")
            if compiler is None:
                pytest.skip("needs a C and C++ compiler (package g++)")
            words = [compiler, *FLAGS, *flags, str(source), "-o", str(output)]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
        return output


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("instrument")


@pytest.fixture
def workbench(folder: Path) -> Workbench:
    """Skips where nothing can be counted, and says why."""
    if reason := instrument.missing():
        pytest.skip(reason)
    return Workbench(folder)


Counter = Callable[..., Counts]


@pytest.fixture
def count(workbench: Workbench) -> Counter:
    return workbench.count
