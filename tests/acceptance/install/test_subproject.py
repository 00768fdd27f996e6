# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The tree as a part of another project: it builds what is linked with, and changes no more."""

import json
import re
import shutil
from pathlib import Path

import pytest

from support.running import ran

from .conftest import CONSUMER, EXAMPLES, ROOT, configure, expected, run, tool, written

# A project without a build type, with presets that a C interface must survive. It fails if the
# subproject changed its variables.
PARENT = """cmake_minimum_required(VERSION 3.25)
project(parent LANGUAGES C CXX)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_STANDARD 14)
add_subdirectory(SOURCE heapwright)
foreach(variable CMAKE_BUILD_TYPE CMAKE_C_STANDARD CMAKE_CXX_EXTENSIONS CMAKE_CXX_FLAGS
    CMAKE_C_FLAGS CMAKE_POSITION_INDEPENDENT_CODE BUILD_TESTING Python3_EXECUTABLE)
  if(NOT "${${variable}}" STREQUAL "")
    message(FATAL_ERROR "the parent's ${variable} became ${${variable}}")
  endif()
endforeach()
if(NOT CMAKE_CXX_STANDARD EQUAL 14)
  message(FATAL_ERROR "the parent's CMAKE_CXX_STANDARD became ${CMAKE_CXX_STANDARD}")
endif()
add_executable(own own.cpp)
add_executable(regions regions.c)
target_link_libraries(regions PRIVATE heapwright::c)
install(TARGETS own)
"""
LIBRARY = re.compile(r"^(?:.*/)?lib(heapwright[^/]*?)\.(?:so|a): .*LINKER", re.MULTILINE)


def libraries(build: Path) -> set[str]:
    """The libraries of heapwright that a build can make."""
    return set(LIBRARY.findall(run(tool("ninja"), "-C", build, "-t", "targets", "all")))


@pytest.mark.compiles
def test_the_example_is_built_from_source(tmp_path: Path) -> None:
    configure(EXAMPLES / "fetch_content", tmp_path, f"-DFETCHCONTENT_SOURCE_DIR_HEAPWRIGHT={ROOT}")
    run(tool("cmake"), "--build", tmp_path)
    assert run(tmp_path / "fetch_content") == expected("fetch_content")
    made = {file.name for file in tmp_path.rglob("libheapwright*")}
    assert made == {"libheapwright-granary.so"}


@pytest.mark.slow
def test_the_example_fetches_the_clone(tmp_path: Path) -> None:
    if ran([tool("git"), "-C", ROOT, "rev-parse", "HEAD"]).returncode != 0:
        pytest.skip("the tree is no clone of a git repository")
    configure(EXAMPLES / "fetch_content", tmp_path)
    run(tool("cmake"), "--build", tmp_path)
    assert run(tmp_path / "fetch_content") == expected("fetch_content")


@pytest.mark.compiles
def test_a_parent_keeps_its_flags_and_installs_only_its_own(tmp_path: Path) -> None:
    written(tmp_path, "CMakeLists.txt", PARENT.replace("SOURCE", str(ROOT)))
    written(tmp_path, "own.cpp", "int main() {}\n")
    shutil.copy(CONSUMER / "regions.c", tmp_path)
    build, prefix = tmp_path / "build", tmp_path / "prefix"
    configure(
        tmp_path,
        build,
        "-DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON",  # an error where it is required
        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
    )
    assert libraries(build) == {"heapwright-c", "heapwright-granary"}
    run(tool("cmake"), "--build", build)
    run(build / "regions")
    made = {file.name for file in build.rglob("libheapwright*")}
    assert made == {"libheapwright-c.so"}
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    commands = {Path(each["file"]).name: each["command"].split() for each in entries}
    options = {word for word in commands["own.cpp"] if word.startswith("-")} - {"-o", "-c"}
    assert options == {"-std=gnu++14", "-fvisibility=hidden"}
    assert "-Werror" not in commands["region.cpp"]
    run(tool("cmake"), "--install", build, "--prefix", prefix)
    assert [file.name for file in prefix.rglob("*") if file.is_file()] == ["own"]


def test_an_allocator_that_does_not_exist_is_named(tmp_path: Path) -> None:
    options = ["-DHEAPWRIGHT_TOOL=OFF", "-DHEAPWRIGHT_ALLOCATORS=granary;granry"]
    done = ran([tool("cmake"), "-S", ROOT, "-B", tmp_path, *options])
    assert done.returncode != 0
    words = " ".join(done.stderr.split())
    assert "composes no granry. It composes: " in words
    assert " granary-hardened " in words
