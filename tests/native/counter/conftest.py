# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles programs and runs them under the library that counts."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from heapwright.base import native
from heapwright.base.errors import HeapwrightError
from heapwright.limit.counts import LIBRARY, VARIABLE, Counts, make_file, read_file
from support.running import ran

from .bench import Counted

INCLUDE = Path(__file__).parents[3] / "include"


@pytest.fixture(scope="session")
def library() -> Path:
    try:
        return native.library(LIBRARY)
    except HeapwrightError as error:
        pytest.skip(f"needs the compiled parts: {error}")


@pytest.fixture
def counted(library: Path, tmp_path: Path) -> Counted:
    """Runs a command, and returns its end and its counts."""

    def run(*command: str | Path) -> tuple[subprocess.CompletedProcess[str], tuple[Counts, ...]]:
        file = tmp_path / "counts"
        make_file(file)
        environment = {**os.environ, "LD_PRELOAD": str(library), VARIABLE: str(file)}
        return ran(command, env=environment), read_file(file)

    return run


@pytest.fixture
def compiled(tmp_path: Path) -> Callable[..., Path]:
    """Compiles a program with the headers of the tree."""

    def compile_(text: str, *flags: str, compiler: str = "cc") -> Path:
        if shutil.which(compiler) is None:
            pytest.skip(f"{compiler} is not installed (packages gcc, g++)")
        source = tmp_path / ("program.c" if compiler == "cc" else "program.cpp")
        source.write_text(text)
        program = source.with_suffix("")
        words = [compiler, "-O1", "-g", "-fno-builtin", "-Wall", "-Wextra", "-Werror"]
        done = ran([*words, f"-I{INCLUDE}", source, "-o", program, *flags])
        assert done.returncode == 0, done.stderr
        return program

    return compile_
