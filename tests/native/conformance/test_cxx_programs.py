# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""C++ programs that a single test program cannot be: they replace operators, or bring the C++
runtime only later. They are compiled here; the C library is the control."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache
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


Compiled = Callable[..., Path]


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    """Compiles a program with options, once for all allocators."""
    folder = tmp_path_factory.mktemp("cxx-programs")

    @cache
    def compile_once(compiler: str, source: str, *options: str) -> Path:
        path = shutil.which(compiler)
        if path is None:
            pytest.skip(f"no compiler {compiler} (package g++)")
        made = Path(tempfile.mkdtemp(dir=folder)) / Path(source).stem
        subprocess.run([path, *options, "-o", made, PROGRAMS / source], check=True)
        return made

    return compile_once


def assert_quiet_success(command: list[Path], environment: dict[str, str]) -> None:
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("runtime", ["-shared-libgcc", "-static-libstdc++"])
def test_forms_go_through_what_the_program_replaced(
    environment: dict[str, str], compiled: Compiled, runtime: str
) -> None:
    program = compiled("g++", "replaced_operators.cpp", "-std=c++17", "-O1", runtime)
    assert_quiet_success([program], environment)


def test_late_loaded_cxx_runtime_is_found(environment: dict[str, str], compiled: Compiled) -> None:
    host = compiled("gcc", "late_runtime_host.c", "-ldl")
    options = ["-std=c++17", "-O1", "-shared", "-fPIC"]
    library = compiled("g++", "late_runtime.cpp", *options)
    assert_quiet_success([host, library], environment)
