# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Installed copies of the package, and projects that are built with them.

The headers and the C library are installed once, by the build itself. The whole allocators take
long to build. They come from the installed tool, whose package is the same.
"""

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from heapwright.base.native import NativeMissingError, native_dir
from support.running import ran

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
CONSUMER = ROOT / "packaging" / "conan" / "test_package"
COMPILERS = {"g++": ("gcc", "g++"), "clang++": ("clang-14", "clang++-14")}

IN_C = {"c_heaps", "c_reaps", "c_regions"}
"""The examples without a line of C++."""


def tool(*names: str) -> str:
    """A program by its names: beside this interpreter first, then on the path; skips without it."""
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    for name in names:
        if found := shutil.which(name, path=beside):
            return found
    pytest.skip(f"no {names[0]} here (packages g++, clang-14, pkg-config)")


def run(*command: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
    """What a command that must succeed wrote."""
    done = ran(command, cwd=cwd, env={**os.environ, **(env or {})})
    tail = "\n".join((done.stdout + done.stderr).splitlines()[-40:])
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{tail}"
    return done.stdout


def expected(example: str) -> str:
    return (EXAMPLES / example / "expected.txt").read_text(encoding="utf-8")


def compilers(name: str) -> tuple[str, str]:
    """The C and the C++ compiler of that name; skips without them."""
    c, cxx = COMPILERS[name]
    return tool(c, c.removesuffix("-14")), tool(cxx, cxx.removesuffix("-14"))


def configure(project: Path, where: Path, *options: str) -> None:
    """Configures a project that must accept the options."""
    ninja = f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}"
    run(tool("cmake"), "-S", project, "-B", where, "-G", "Ninja", ninja, *options)


def consume(tree: Path, build: Path) -> None:
    """Builds a program on each component of an installed tree, and runs it."""
    configure(CONSUMER, build, f"-DCMAKE_PREFIX_PATH={tree}", "-DCMAKE_BUILD_TYPE=Release")
    run(tool("cmake"), "--build", build)
    run(tool("ctest"), "--test-dir", build, "--output-on-failure", "--no-tests=error")


def written(folder: Path, name: str, text: str) -> Path:
    """A file with this text."""
    (folder / name).write_text(text, encoding="utf-8")
    return folder / name


@pytest.fixture(scope="session")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The headers, the C library and the packages, installed as by hand."""
    build, where = (tmp_path_factory.mktemp(name) for name in ("build", "prefix"))
    c, cxx = compilers("g++")
    cmake = tool("cmake")
    compiled = (f"-DCMAKE_C_COMPILER={c}", f"-DCMAKE_CXX_COMPILER={cxx}")
    configure(ROOT, build, "-DHEAPWRIGHT_TOOL=OFF", "-DCMAKE_BUILD_TYPE=Release", *compiled)
    run(cmake, "--build", build, "--target", "heapwright-c", "heapwright-c-static")
    for component in ("headers", "c"):
        run(cmake, "--install", build, "--prefix", where, "--component", component)
    return where


@pytest.fixture(scope="session")
def native() -> Path:
    """The tree that the installed tool carries."""
    try:
        folder = native_dir()
    except NativeMissingError as missing:
        pytest.skip(str(missing))
    if not (folder / "lib" / "pkgconfig" / "heapwright-granary.pc").is_file():
        pytest.skip("the installed tool is older than its packages; install it anew")
    return folder


def build_with_cmake(example: str, tree: Path, where: Path, cxx: str = "g++") -> Path:
    """Builds an example as a project of its own, which finds the package in `tree`."""
    c, cxx = compilers(cxx)
    configure(
        EXAMPLES / example,
        where,
        f"-DCMAKE_PREFIX_PATH={tree}",
        f"-DCMAKE_C_COMPILER={c}" if example in IN_C else f"-DCMAKE_CXX_COMPILER={cxx}",
        "-DCMAKE_BUILD_TYPE=Release",
    )
    run(tool("cmake"), "--build", where)
    return where / example
