# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The programs of this folder, built once."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """The path of `programs/NAME.c` or `NAME.cpp`, compiled with lines."""
    folder = tmp_path_factory.mktemp("programs")

    def build(name: str) -> str:
        made = folder / name
        source = next(PROGRAMS.glob(f"{name}.c*"))
        compiler = shutil.which("cc" if source.suffix == ".c" else "c++")
        if compiler is None:
            pytest.skip("needs a C and C++ compiler (packages gcc and g++)")
        if not made.exists():
            words = [
                compiler,
                "-O1",
                "-g",
                "-pthread",
                "-o",
                str(made),
                str(source),
            ]
            subprocess.run(words, check=True)
        return str(made)

    return build
