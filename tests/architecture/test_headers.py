# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Every C++ header compiles alone, and includes only what stands lower in the house."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
INCLUDE = ROOT / "include" / "heapwright"
HEADERS = sorted([*INCLUDE.rglob("*.hpp"), *(ROOT / "allocators").glob("*.hpp")])
CATALOGUE = INCLUDE / "heap.hpp"
LEAVES = [h for h in HEADERS if h.is_relative_to(INCLUDE) and h != CATALOGUE]

# The rank of each folder; a header includes lower ranks, and its own folder.
RANKS = {
    "core": 0,
    "platform": 1,
    "sync": 2,
    "sizeclass": 3,
    "structure": 4,
    "layers": 5,
    "heap.hpp": 6,
    "adaptor": 6,
    "allocators": 7,
}
WARNINGS = [
    *("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion"),
    *("-Wold-style-cast", "-Wcast-align", "-Wnon-virtual-dtor", "-Woverloaded-virtual", "-Werror"),
]
COMPILERS = {"g++": ["g++"], "clang++": ["clang++", "clang++-14", "clang++-15", "clang++-16"]}


def name_of(header: Path) -> str:
    """A header's name as an include line has it."""
    return str(header.relative_to(ROOT)).removeprefix("include/")


def includes(header: Path) -> list[str]:
    """The headers of ours that a header includes."""
    text = header.read_text(encoding="utf-8")
    return re.findall(r'#include [<"]((?:heapwright|allocators)/[^>"]+)[>"]', text)


def folder_of(name: str) -> str:
    """The ranked folder of a header; for a layer, `layers/<category>`."""
    parts = name.removeprefix("heapwright/").split("/")
    return "/".join(parts[:2]) if parts[0] == "layers" else parts[0]


def breaks_rank(name: str, included: str) -> bool:
    """Whether one header may not include another."""
    mine, theirs = folder_of(name), folder_of(included)
    if mine == theirs:
        return False
    return RANKS[theirs.split("/")[0]] >= RANKS[mine.split("/")[0]]


@pytest.mark.parametrize(
    "compiler",
    # The second compiler together with its builds (`make test-builds`): minutes of work each.
    ["g++", pytest.param("clang++", marks=pytest.mark.compiles)],
)
@pytest.mark.parametrize("header", HEADERS, ids=name_of)
def test_header_compiles_alone(header: Path, compiler: str, tmp_path: Path) -> None:
    program = next((found for name in COMPILERS[compiler] if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"{compiler} is not installed")
    source = tmp_path / "alone.cpp"
    # Twice, so that the guard against a second inclusion is tried as well.
    source.write_text(f"#include <{name_of(header)}>\n" * 2, encoding="utf-8")
    paths = [f"-I{ROOT}", f"-I{ROOT / 'include'}"]
    done = subprocess.run(
        [program, "-std=c++20", *WARNINGS, "-fsyntax-only", *paths, str(source)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("header", HEADERS, ids=name_of)
def test_header_includes_only_lower_ranks(header: Path) -> None:
    name = name_of(header)
    wrong = [included for included in includes(header) if breaks_rank(name, included)]
    assert not wrong, f"{name} may not include {wrong}"


def test_the_rank_rule_sees_violations() -> None:
    assert breaks_rank("heapwright/core/a.hpp", "heapwright/platform/b.hpp")
    assert breaks_rank("heapwright/sync/a.hpp", "heapwright/structure/b.hpp")
    assert breaks_rank("heapwright/sizeclass/a.hpp", "heapwright/structure/b.hpp")
    assert not breaks_rank("heapwright/structure/a.hpp", "heapwright/sync/b.hpp")
    assert breaks_rank("heapwright/layers/carve/a.hpp", "heapwright/layers/object/b.hpp")
    assert breaks_rank("heapwright/layers/carve/a.hpp", "heapwright/heap.hpp")
    assert not breaks_rank("heapwright/layers/carve/a.hpp", "heapwright/layers/carve/b.hpp")
    assert not breaks_rank("heapwright/layers/carve/a.hpp", "heapwright/structure/b.hpp")
    assert not breaks_rank("allocators/a.hpp", "heapwright/heap.hpp")


def test_the_catalogue_lists_every_layer() -> None:
    layers = {name_of(header) for header in LEAVES if "layers" in header.parts}
    assert layers <= set(includes(CATALOGUE))


@pytest.mark.parametrize(
    "header", [h for h in LEAVES if folder_of(name_of(h)) != "platform"], ids=name_of
)
def test_only_the_platform_asks_which_system_it_is(header: Path) -> None:
    text = header.read_text(encoding="utf-8")
    assert not re.search(r"^\s*#\s*(if|ifdef|ifndef|elif)\b", text, re.MULTILINE)
    assert not re.search(r"#include <(sys|linux)/", text), "the system is behind platform/"


@pytest.mark.parametrize("header", LEAVES, ids=name_of)
def test_header_has_a_unit_test_at_the_same_path(header: Path) -> None:
    relative = header.relative_to(INCLUDE)
    mirror = ROOT / "tests" / "unit" / relative.parent / f"{relative.stem}_test.cpp"
    assert mirror.is_file(), f"there is no {mirror.relative_to(ROOT)}"
