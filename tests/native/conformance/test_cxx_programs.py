# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""C++ programs that a single test program cannot be: they replace operators, or bring the C++
runtime only later. They are compiled here; the C library is the control."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from heapwright.artefacts.allocator.catalogue import read_catalogue
from heapwright.base import native

HERE = Path(__file__).parent
PROGRAMS = HERE / "programs"
CATALOGUE = read_catalogue(HERE.parents[2] / "catalogue" / "allocators.toml")


@pytest.fixture(params=["glibc", *(entry.name for entry in CATALOGUE.composed)])
def environment(request: pytest.FixtureRequest) -> dict[str, str]:
    plain = {key: value for key, value in os.environ.items() if not key.startswith("LD_")}
    if request.param == "glibc":
        return plain
    return plain | {"LD_PRELOAD": str(native.library(request.param))}


def compiled(compiler: str, source: str, made: Path, *options: str) -> Path:
    path = shutil.which(compiler)
    if path is None:
        pytest.skip(f"no compiler {compiler} (package g++)")
    subprocess.run([path, *options, "-o", made, PROGRAMS / source], check=True)
    return made


def assert_quiet_success(command: list[Path], environment: dict[str, str]) -> None:
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("runtime", ["-shared-libgcc", "-static-libstdc++"])
def test_forms_go_through_what_the_program_replaced(
    environment: dict[str, str], tmp_path: Path, runtime: str
) -> None:
    made = tmp_path / "replaced"
    program = compiled("g++", "replaced_operators.cpp", made, "-std=c++17", "-O1", runtime)
    assert_quiet_success([program], environment)


def test_runtime_that_comes_late_is_found(environment: dict[str, str], tmp_path: Path) -> None:
    host = compiled("gcc", "late_runtime_host.c", tmp_path / "host", "-ldl")
    options = ["-std=c++17", "-O1", "-shared", "-fPIC"]
    library = compiled("g++", "late_runtime.cpp", tmp_path / "late.so", *options)
    assert_quiet_success([host, library], environment)
