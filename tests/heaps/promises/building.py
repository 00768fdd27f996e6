# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Compiles the programs of this folder, and runs them under an allocator, or under none."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import read_catalogue
from heapwright.base import native
from heapwright.base.native import NativeMissingError

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
CATALOGUE = read_catalogue(HERE.parents[2] / "catalogue" / "allocators.toml")
PROMISING = [entry.name for entry in CATALOGUE.composed if entry.name.startswith("granary")]
# Those that know of signal handlers, and so notice one that leaves a request for good.
TOLD = [entry.name for entry in CATALOGUE.composed if "signals" in entry.entry_points]
FOREIGN = ("LD_", "GLIBC_", "MALLOC_", "HEAPWRIGHT_GRANARY")
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-Wno-deprecated-declarations"]
TIMEOUT_S = 400


def compiled(folder: Path, source: str, *options: str) -> Path:
    """A program, or with -shared a library, from a source of this folder."""
    cxx = source.endswith(".cpp")
    compiler = shutil.which("c++" if cxx else "cc")
    if compiler is None:
        pytest.skip("needs a C compiler (package g++)")
    made = folder / (Path(source).stem + (".so" if "-shared" in options else ""))
    if not made.exists():
        language = "-std=c++20" if cxx else "-std=gnu11"
        common = [language, "-O1", *WARNINGS, "-fno-builtin", "-pthread"]
        command = [compiler, *common, *options, str(PROGRAMS / source), "-o", str(made), "-ldl"]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return made


@cache
def library(allocator: str) -> str:
    """Its file; for "glibc", the control, none."""
    if allocator == "glibc":
        return ""
    try:
        return str(native.library(allocator))
    except NativeMissingError as error:
        pytest.skip(f"{error.message}: {error.hint}")


def environment(*preloads: str) -> dict[str, str]:
    plain = {key: value for key, value in os.environ.items() if not key.startswith(FOREIGN)}
    preload = " ".join(each for each in preloads if each)
    return plain | ({"LD_PRELOAD": preload} if preload else {})


def run(command: list[str], *preloads: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=environment(*preloads),
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )


def assert_quiet_success(command: list[str], *preloads: str) -> None:
    done = run(command, *preloads)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
