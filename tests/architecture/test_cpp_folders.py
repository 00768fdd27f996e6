# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Each folder of compiled code includes only what layout.py allows, and there is no cycle."""

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from .layout import FOLDERS, INCLUDES, ROOT, folder_of, includes, module_of, sources, target

# Headers of the standard library whose use asks for memory, or may throw.
ALLOCATING = re.compile(
    r"(string|vector|map|set|unordered_map|unordered_set|deque|list|memory|functional|iostream|"
    r"sstream|fstream|filesystem|format|thread|future|regex|locale|any|stdexcept|system_error)"
)
INCLUDED_NAME = re.compile(r"^\s*#\s*include\s+<([^>]+)>", re.MULTILINE)
TREES = ("include", "native", "apps", "workloads")


def cycle(graph: Mapping[str, Iterable[str]]) -> list[str]:
    """The nodes of one cycle in their order; empty if there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def module_graph(files: Iterable[Path]) -> dict[str, set[str]]:
    """Which modules each module of these files includes."""
    graph: dict[str, set[str]] = {}
    for file in files:
        own = module_of(file)
        graph.setdefault(own, set()).update(map(module_of, includes(file)))
        graph[own].discard(own)
    return graph


def strays(folder: str) -> dict[str, list[str]]:
    """Includes that the rules do not allow, by file."""
    fine = {folder, *INCLUDES[folder]}
    wrong = {
        str(file.relative_to(ROOT)): [
            str(each.relative_to(ROOT)) for each in includes(file) if folder_of(each) not in fine
        ]
        for file in sources(folder)
    }
    return {name: each for name, each in wrong.items() if each}


def test_the_root_has_the_folders_of_the_layout() -> None:
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    folders = {line.partition("/")[0] for line in listed.stdout.splitlines() if "/" in line}
    assert {folder for folder in folders if not folder.startswith(".")} == FOLDERS


def test_the_architecture_page_names_every_folder() -> None:
    page = (ROOT / "ARCHITECTURE.md").read_text("utf-8")
    above = ("include/heapwright", "include/heapwright/structure", "native", "tests", "apps")
    folders = [*FOLDERS - {"include", "tests", "src", "apps"}, "src/heapwright"]
    for folder in above:
        inside = (each for each in (ROOT / folder).iterdir() if each.is_dir())
        folders += [f"{folder}/{each.name}" for each in inside if each.name[0] not in "._"]
    named = page.replace("`calculator/`", "`apps/calculator/`")
    assert [each for each in sorted(folders) if f"`{each}/`" not in named] == []


def test_every_folder_of_compiled_code_has_a_rule() -> None:
    folders = {
        folder_of(file) for tree in ("native", "apps", "workloads") for file in sources(tree)
    }
    assert folders == INCLUDES.keys()


@pytest.mark.parametrize("folder", INCLUDES)
def test_a_folder_includes_only_what_it_may(folder: str) -> None:
    assert sources(folder)
    assert not strays(folder)


def test_the_rule_sees_violations() -> None:
    file = ROOT / "native" / "profiler" / "profiler.cpp"

    def folder(name: str) -> str | None:
        found = target(name, file)
        return None if found is None else folder_of(found)

    assert folder("replayer/plan.hpp") == "native/replayer"
    assert folder("../replayer/plan.hpp") == "native/replayer"
    assert folder("trace/reader.hpp") == "native/trace"
    assert folder("sizes.hpp") == "native/profiler"
    assert folder("heapwright/layers/thread/locked_heap.hpp") == "include/layers"
    assert folder("heapwright/heap.hpp") == "include/heap.hpp"
    assert folder("vector") is None


@pytest.mark.parametrize("tree", TREES)
def test_includes_form_no_cycle(tree: str) -> None:
    graph = module_graph(sources(tree))
    assert graph
    assert not cycle(graph)


def test_a_cycle_is_seen() -> None:
    assert set(cycle({"a": ["b"], "b": ["c"], "c": ["a"], "d": ["a"]})) == {"a", "b", "c"}
    assert not cycle({"a": ["b", "c"], "b": ["c"]})


def test_a_header_and_its_source_are_one_module() -> None:
    trace = ROOT / "native" / "trace"
    assert module_of(trace / "reader.cpp") == module_of(trace / "reader.hpp")
    graph = module_graph([trace / "reader.cpp"])
    assert graph.keys() == {"native/trace/reader"}
    assert "native/trace/fault_list" in graph["native/trace/reader"]


def test_code_that_runs_inside_malloc_includes_nothing_that_allocates() -> None:
    apart = {"launch", "watch"}  # a program of its own
    wrong = {
        str(file.relative_to(ROOT)): found
        for file in sources("native/recorder")
        if file.relative_to(ROOT).parts[2] not in apart
        and (
            found := [
                each
                for each in INCLUDED_NAME.findall(file.read_text(encoding="utf-8"))
                if ALLOCATING.fullmatch(each)
            ]
        )
    }
    assert not wrong


@pytest.mark.slow
@pytest.mark.parametrize(
    "folder", sorted(each for each in INCLUDES if "native/trace" in INCLUDES[each])
)
def test_headers_compile_alone(folder: str, tmp_path: Path) -> None:
    compiler = shutil.which("g++") or pytest.skip("g++ is not installed (package g++)")
    source = tmp_path / "alone.cpp"
    paths = [f"-I{place}" for place in (ROOT / "native", ROOT / "include", ROOT / folder)]
    broken = {}
    for header in (each for each in sources(folder) if each.suffix == ".hpp"):
        source.write_text(f'#include "{header}"\n' * 2, encoding="utf-8")
        words = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *paths]
        done = subprocess.run([*words, source], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            broken[str(header.relative_to(ROOT))] = done.stderr
    assert not broken
