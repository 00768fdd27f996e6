# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The steps of docs/tutorials/writing-a-layer.md work, in a copy."""

import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from heapwright.artefacts.composition.layers import read_toolbox
from heapwright.base.native import NativeMissingError, native_dir
from support.running import ran

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorials" / "writing-a-layer.md"
GTEST = Path("/usr/include/gtest/gtest.h")
HEADER = "heapwright/layers/object/cache_line_heap.hpp"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
OURS = """\
#include <heaps/layers/pairs/pair.hpp>
namespace heapwright::testing {{
void addPairs{part}(std::vector<Pair>& pairs);
std::vector<Pair> allPairs() {{
    std::vector<Pair> pairs;
    addPairs{part}(pairs);
    return pairs;
}}
}} // namespace heapwright::testing
"""


def fenced(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text("utf-8"), flags=re.DOTALL)


def run(*command: str | Path, **environment: str) -> str:
    done = ran(
        command,
        env={key: text for key, text in os.environ.items() if not key.startswith("LD_")}
        | environment,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{said[-4000:]}"
    return said


@pytest.fixture(scope="module")
def include(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The headers with the page's layer among them."""
    folder = tmp_path_factory.mktemp("layer") / "include"
    shutil.copytree(ROOT / "include", folder)
    (folder / HEADER).write_text(fenced("cpp")[0], encoding="utf-8")
    catalogue = folder / "heapwright" / "heap.hpp"
    text = catalogue.read_text(encoding="utf-8")
    (line,) = fenced("text")
    first = text.index("#include <heapwright/layers/object/")
    catalogue.write_text(text[:first] + line + text[first:], encoding="utf-8")
    return folder


@pytest.fixture
def compiler() -> str:
    if not GTEST.exists():
        pytest.skip("no GoogleTest (package libgtest-dev)")
    return shutil.which("c++") or pytest.skip("no C++ compiler (package g++)")


def paths(include: Path) -> list[str]:
    return [f"-I{folder}" for folder in (include, ROOT, ROOT / "tests")]


def test_unit_test_of_the_page_passes(include: Path, compiler: str, tmp_path: Path) -> None:
    source = tmp_path / "cache_line_heap_test.cpp"
    source.write_text(fenced("cpp")[1], encoding="utf-8")
    libraries = ["-lgtest_main", "-lgtest", "-pthread"]
    command = [compiler, "-std=c++20", "-O1", *WARNINGS, *paths(include), str(source)]
    run(*command, "-o", tmp_path / "test", *libraries)
    assert "[  PASSED  ] 3 tests." in run(tmp_path / "test")


def test_layer_of_the_page_has_the_shape_that_tools_read(include: Path) -> None:
    layer = read_toolbox(include).layer("CacheLineHeap")
    assert layer.category == "object"
    assert layer.example is not None
    assert layer.parameters[layer.heaps[-1]].name == "SuperHeap"
    assert layer.caption == "gives each object cache lines of its own"


@pytest.mark.compiles
def test_pairs_with_the_layer_of_the_page_are_found_and_pass(
    include: Path, compiler: str, tmp_path: Path
) -> None:
    script = ROOT / "tests" / "heaps" / "layers" / "generate_pairs.py"
    written = run(sys.executable, script, include, tmp_path, "200")
    assert "CacheLineHeap" in written.split()
    assert "CacheLineHeap<64, ProbeHeap>" in (tmp_path / "probes.hpp").read_text("utf-8")
    (source,) = (
        path
        for path in tmp_path.glob("pairs_*.cpp")
        if "addPair<OverCacheLineHeap," in path.read_text("utf-8")
    )
    ours = tmp_path / "ours.cpp"
    ours.write_text(OURS.format(part=source.stem.partition("_")[2]), encoding="utf-8")
    checks = ROOT / "tests" / "heaps" / "layers" / "pairs" / "pairs_test.cpp"
    run(
        *(compiler, "-std=c++20", '-DHEAPWRIGHT_PAIR_LIST="/dev/null"', *paths(include)),
        *(source, ours, checks, "-o", tmp_path / "pairs"),
        *("-lgtest_main", "-lgtest", "-pthread"),
    )
    said = run(tmp_path / "pairs", "--gtest_filter=All/*")
    pairs = set(re.findall(r"AgreesWithTheModel\w+/(CacheLineHeap_over_\w+)", said))
    assert "CacheLineHeap_over_CoalesceHeap" in pairs
    assert "CacheLineHeap_over_ChunkHeap" not in pairs  # it aligns nothing
    assert len(pairs) > 10


@pytest.mark.compiles
def test_allocator_of_the_page_is_composed(include: Path, compiler: str, tmp_path: Path) -> None:
    """The tool's own folder, with the page's layer among its headers, stands for `pip install`."""
    del compiler
    try:
        installed = native_dir()
    except NativeMissingError as error:
        pytest.skip(f"{error.message}: {error.hint}")
    native = tmp_path / "native"
    native.mkdir()
    for part in installed.iterdir():
        if part.name != "include":
            (native / part.name).symlink_to(part)
    shutil.copytree(installed / "include", native / "include")
    shutil.copytree(include, native / "include", dirs_exist_ok=True)
    (commands,) = (block for block in fenced("sh") if "heapwright compose" in block)
    compose, compare = commands.splitlines()
    assert compare.startswith("heapwright compare -a lea,lea-lines ")
    place = {"HEAPWRIGHT_NATIVE": str(native), "HEAPWRIGHT_HOME": str(tmp_path / "home")}
    tool = [sys.executable, "-m", "heapwright"]
    run(*tool, *compose.split()[1:], **place)
    drawn = run(*tool, "allocators", "show", "lea-lines", **place)
    assert "gives each object cache lines of its own" in drawn
