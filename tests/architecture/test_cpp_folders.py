# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What records, reads and replays traces stands on trace/ and on the lower ranks of the heaps only.

No folder includes another's headers: what two of them need is in trace/, or in one of those ranks.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOWER = {"core", "platform", "sync"}
# What each folder may include besides itself and the lower ranks.
ALLOWED: dict[str, set[str]] = {
    "trace": set(),
    "recorder": {"trace"},
    "profiler": {"trace"},
    "replayer": {"trace"},
    "synthesis": {"trace"},
    "reach": {"trace"},
    "drag": {"instrument", "recorder"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)
# Headers of the standard library whose use asks for memory, or may throw.
ALLOCATING = re.compile(
    r"(string|vector|map|set|unordered_map|unordered_set|deque|list|memory|functional|iostream|"
    r"sstream|fstream|filesystem|format|thread|future|regex|locale|any|stdexcept|system_error)"
)


def sources(folder: str) -> list[Path]:
    kinds = {".hpp", ".cpp", ".h", ".c"}
    return sorted(each for each in (ROOT / folder).rglob("*") if each.suffix in kinds)


def includes(file: Path) -> list[str]:
    return INCLUDE.findall(file.read_text(encoding="utf-8"))


def home_of(included: str, file: Path) -> str | None:
    """The folder of the house that an include leads to; None for the system's headers."""
    if included.startswith("heapwright/"):
        parts = included.split("/")
        return "/".join(parts[:2])
    top = ROOT / file.relative_to(ROOT).parts[0]
    for place in (file.parent, top, ROOT):
        found = (place / included).resolve()
        if found.is_file():
            return found.relative_to(ROOT).parts[0]
    return None


def strays(folder: str) -> dict[str, list[str]]:
    """Includes that lead where they may not, by file."""
    fine = {folder, *ALLOWED[folder], *(f"heapwright/{rank}" for rank in LOWER), None}
    wrong = {
        str(file.relative_to(ROOT)): [
            each for each in includes(file) if home_of(each, file) not in fine
        ]
        for file in sources(folder)
    }
    return {name: each for name, each in wrong.items() if each}


@pytest.mark.parametrize("folder", ALLOWED)
def test_a_folder_stands_on_what_it_may(folder: str) -> None:
    assert sources(folder)
    assert not strays(folder)


def test_the_rule_sees_violations() -> None:
    file = ROOT / "native" / "profiler" / "profiler.cpp"
    assert home_of("native/replayer/plan.hpp", file) == "replayer"
    assert home_of("../replayer/plan.hpp", file) == "replayer"
    assert home_of("native/trace/reader.hpp", file) == "trace"
    assert home_of("sizes.hpp", file) == "profiler"
    assert home_of("heapwright/layers/thread/locked_heap.hpp", file) == "heapwright/layers"
    assert home_of("heapwright/heap.hpp", file) == "heapwright/heap.hpp"
    assert home_of("vector", file) is None


def test_what_runs_inside_malloc_asks_for_no_memory() -> None:
    apart = {"launch", "watch"}  # a program of its own
    wrong = {
        str(file.relative_to(ROOT)): found
        for file in sources("recorder")
        if file.relative_to(ROOT).parts[1] not in apart
        and (found := [each for each in includes(file) if ALLOCATING.fullmatch(each)])
    }
    assert not wrong


@pytest.mark.slow
@pytest.mark.parametrize("folder", ALLOWED)
def test_headers_compile_alone(folder: str, tmp_path: Path) -> None:
    compiler = shutil.which("g++") or pytest.skip("g++ is not installed")
    source = tmp_path / "alone.cpp"
    paths = [f"-I{place}" for place in (ROOT, ROOT / "include", ROOT / folder)]
    broken = {}
    for header in (each for each in sources(folder) if each.suffix == ".hpp"):
        name = header.relative_to(ROOT)
        source.write_text(f'#include "{name}"\n' * 2, encoding="utf-8")
        words = [compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *paths]
        done = subprocess.run([*words, source], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            broken[str(name)] = done.stderr
    assert not broken
