# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What is installed can be built with: every example, outside the tree, against an installed copy.

The headers and the C library are installed once, by the build itself. The whole allocators take
long to build. They come from the installed tool, whose package is the same.
"""

import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from heapwright.base.native import NativeMissingError, native_dir
from support.running import ran

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"
PAGE = ROOT / "docs" / "how-to" / "use-from-cpp.md"
COMPILERS = {"g++": ("gcc", "g++"), "clang++": ("clang-14", "clang++-14")}

# What each example is written in, besides C++, and what it links with.
IN_C = {"c_heaps", "c_reaps", "c_regions"}
WHOLE = {"whole_allocator"}
BY_MAKE = {"pkg_config"}
BY_CMAKE = sorted(
    each.name for each in EXAMPLES.iterdir() if each.is_dir() and each.name not in BY_MAKE | WHOLE
)


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


@pytest.fixture(scope="session")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The headers, the C library and the packages, installed as by hand."""
    build, where = (tmp_path_factory.mktemp(name) for name in ("build", "prefix"))
    c, cxx = compilers("g++")
    cmake = tool("cmake")
    run(
        cmake,
        *("-S", ROOT, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"),
        *(f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", f"-DPython3_EXECUTABLE={sys.executable}"),
        *(f"-DCMAKE_C_COMPILER={c}", f"-DCMAKE_CXX_COMPILER={cxx}"),
    )
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
    if not (folder / "lib" / "cmake" / "heapwright").is_dir():
        pytest.skip("the installed tool carries no CMake package yet; install it anew")
    return folder


def build_with_cmake(example: str, tree: Path, where: Path, cxx: str = "g++") -> Path:
    """Builds an example as a project of its own, which finds the package in `tree`."""
    c, cxx = compilers(cxx)
    cmake = tool("cmake")
    run(
        cmake,
        *("-S", EXAMPLES / example, "-B", where, "-G", "Ninja"),
        *(f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}", f"-DCMAKE_PREFIX_PATH={tree}"),
        f"-DCMAKE_C_COMPILER={c}" if example in IN_C else f"-DCMAKE_CXX_COMPILER={cxx}",
        "-DCMAKE_BUILD_TYPE=Release",
    )
    run(cmake, "--build", where)
    return where / example


@pytest.mark.parametrize("example", BY_CMAKE)
def test_example_finds_the_package_and_runs(example: str, prefix: Path, tmp_path: Path) -> None:
    program = build_with_cmake(example, prefix, tmp_path)
    assert run(program) == expected(example)


@pytest.mark.compiles
@pytest.mark.parametrize("example", [each for each in BY_CMAKE if each not in IN_C])
def test_example_runs_as_clang_compiles_it(example: str, prefix: Path, tmp_path: Path) -> None:
    _, clang = compilers("clang++")
    flags = ("-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread")
    program = tmp_path / example
    run(clang, *flags, f"-I{prefix}/include", EXAMPLES / example / "main.cpp", "-o", program)
    assert run(program) == expected(example)


@pytest.mark.parametrize("example", sorted(BY_MAKE))
def test_example_is_built_with_pkg_config(example: str, prefix: Path, tmp_path: Path) -> None:
    tool("pkg-config")
    make = tool("make")
    folder = shutil.copytree(EXAMPLES / example, tmp_path / example)
    run(make, f"PKG_CONFIG_PATH={prefix}/lib/pkgconfig", f"CXX={tool('g++')}", cwd=folder)
    assert run(folder / example) == expected(example)


@pytest.mark.parametrize("example", sorted(WHOLE))
def test_example_runs_on_an_allocator_of_the_installed_tool(
    example: str, native: Path, tmp_path: Path
) -> None:
    assert run(build_with_cmake(example, native, tmp_path)) == expected(example)


def test_the_tool_carries_the_headers_for_others(native: Path, tmp_path: Path) -> None:
    program = build_with_cmake("per_class_pool", native, tmp_path)
    assert run(program) == expected("per_class_pool")


@pytest.mark.parametrize("how", ["shared", "static"])
def test_a_c_program_is_built_with_pkg_config(how: str, prefix: Path, tmp_path: Path) -> None:
    env = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    flags = run(tool("pkg-config"), "--cflags", "--libs", "heapwright-c", env=env).split()
    link = ["-static"] if how == "static" else [f"-Wl,-rpath,{prefix}/lib"]
    c, _ = compilers("g++")
    warnings = ("-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
    program = tmp_path / "program"
    run(c, *warnings, EXAMPLES / "c_regions" / "main.c", *flags, *link, "-o", program)
    assert run(program) == expected("c_regions")


def test_the_installed_tree_can_be_moved(prefix: Path, tmp_path: Path) -> None:
    moved = shutil.copytree(prefix, tmp_path / "elsewhere with a space", symlinks=True)
    for file in moved.rglob("*.cmake"):
        assert str(prefix) not in file.read_text(encoding="utf-8")
    program = build_with_cmake("containers", moved, tmp_path / "build")
    assert run(program) == expected("containers")
    env = {"PKG_CONFIG_PATH": str(moved / "lib" / "pkgconfig")}
    flags = run(tool("pkg-config"), "--cflags", "heapwright", env=env)
    assert "elsewhere" in flags
    assert str(prefix) not in flags


def test_the_programs_of_the_page_run(prefix: Path, tmp_path: Path) -> None:
    programs = re.findall(r"```cpp\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL)
    assert len(programs) >= 4
    flags = ("-std=c++20", "-Wall", "-Wextra", "-Werror", f"-I{prefix}/include")
    for number, program in enumerate(programs):
        source = tmp_path / f"{number}.cpp"
        source.write_text(program, encoding="utf-8")
        run(tool("g++"), *flags, source, "-o", source.with_suffix(""))
        run(source.with_suffix(""), cwd=tmp_path)


def test_a_package_that_is_too_old_is_refused(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(demanding LANGUAGES NONE)\n"
        "find_package(heapwright 99 REQUIRED)\n",
        encoding="utf-8",
    )
    done = ran(
        [tool("cmake"), "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={prefix}"]
    )
    assert done.returncode != 0
    assert 'requested version "99"' in done.stderr.replace("\n  ", " ")


def test_a_missing_component_is_named_with_what_installs_it(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(demanding LANGUAGES NONE)\n"
        "find_package(heapwright REQUIRED COMPONENTS c granary)\n",
        encoding="utf-8",
    )
    done = ran(
        [tool("cmake"), "-S", tmp_path, "-B", tmp_path / "b", f"-DCMAKE_PREFIX_PATH={prefix}"]
    )
    assert done.returncode != 0
    words = " ".join(done.stderr.split())
    assert f"There is no granary in {prefix}/lib" in words
    assert "install it without `--component`" in words
    assert "There is no c in" not in words


def test_every_example_is_a_project_of_its_own() -> None:
    assert len(BY_CMAKE) >= 4
    for example in EXAMPLES.iterdir():
        if example.is_dir():
            assert (example / "expected.txt").is_file(), example
            build = example / ("Makefile" if example.name in BY_MAKE else "CMakeLists.txt")
            assert build.is_file()
