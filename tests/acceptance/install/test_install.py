# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What is installed can be built with: every example, outside the tree, with an installed copy."""

import re
import shutil
from pathlib import Path

import pytest

from support.running import ran

from .conftest import EXAMPLES, IN_C, ROOT, build_with_cmake, compilers, expected, run, tool

PAGE = ROOT / "docs" / "how-to" / "use-from-cpp.md"

# How the examples are built that do not find the package with headers or the C library.
WHOLE = {"whole_allocator"}
BY_MAKE = {"pkg_config"}
FROM_SOURCE = {"fetch_content"}
IN_A_JOB = {"ci"}  # tests/acceptance/ci
BY_CMAKE = sorted(
    each.parent.name
    for each in EXAMPLES.glob("*/CMakeLists.txt")
    if each.parent.name not in WHOLE | FROM_SOURCE
)

# In C++ and in C. `make test-builds` has the others.
FIRST = {"containers", "c_heaps"}


@pytest.mark.parametrize(
    "example",
    [pytest.param(each, marks=() if each in FIRST else pytest.mark.compiles) for each in BY_CMAKE],
)
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


@pytest.mark.compiles
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


def test_every_example_is_a_project_of_its_own() -> None:
    assert len(BY_CMAKE) >= 4
    assert set(BY_CMAKE) > FIRST, "make test has these"
    assert {each in IN_C for each in FIRST} == {True, False}
    for example in EXAMPLES.iterdir():
        if example.is_dir() and example.name not in IN_A_JOB:
            assert (example / "expected.txt").is_file(), example
            build = example / ("Makefile" if example.name in BY_MAKE else "CMakeLists.txt")
            assert build.is_file()
