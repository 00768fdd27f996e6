# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Every C++ header compiles alone, and includes only what stands lower in the house."""

import re
import shutil
from pathlib import Path

import pytest

from support.running import ran

from .layout import RANKS, ROOT

INCLUDE = ROOT / "include" / "heapwright"
HEADERS = sorted(INCLUDE.rglob("*.hpp"))
CATALOGUE = INCLUDE / "heap.hpp"
ALLOCATORS = INCLUDE / "allocators"
LEAVES = [h for h in HEADERS if h != CATALOGUE and not h.is_relative_to(ALLOCATORS)]

WARNINGS = [
    *("-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion"),
    *("-Wold-style-cast", "-Wcast-align", "-Wnon-virtual-dtor", "-Woverloaded-virtual", "-Werror"),
]
COMPILERS = {"g++": ["g++"], "clang++": ["clang++", "clang++-14", "clang++-15", "clang++-16"]}


def name_of(header: Path) -> str:
    """A header's name as an include line has it."""
    return str(header.relative_to(ROOT / "include"))


def includes(header: Path) -> list[str]:
    """The headers of this project that a header includes."""
    text = header.read_text(encoding="utf-8")
    return re.findall(r'#include [<"](heapwright/[^>"]+)[>"]', text)


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


# Both compilers use one standard library, so what one of them misses the other misses as well.
@pytest.mark.compiles
@pytest.mark.parametrize("compiler", ["clang++", pytest.param("g++", marks=pytest.mark.slow)])
@pytest.mark.parametrize("header", HEADERS, ids=name_of)
def test_header_compiles_alone(header: Path, compiler: str, tmp_path: Path) -> None:
    program = next((found for name in COMPILERS[compiler] if (found := shutil.which(name))), None)
    if program is None:
        pytest.skip(f"{compiler} is not installed (packages g++, clang-14)")
    source = tmp_path / "alone.cpp"
    # Twice, so that the guard against a second inclusion is tried as well.
    source.write_text(f"#include <{name_of(header)}>\n" * 2, encoding="utf-8")
    paths = [f"-I{ROOT / 'include'}"]
    done = ran([program, "-std=c++20", *WARNINGS, "-fsyntax-only", *paths, str(source)])
    assert done.returncode == 0, done.stderr


def test_headers_include_only_lower_ranks() -> None:
    wrong = {
        name_of(header): [each for each in includes(header) if breaks_rank(name_of(header), each)]
        for header in HEADERS
    }
    assert {name: above for name, above in wrong.items() if above} == {}


def test_the_rank_rule_sees_violations() -> None:
    assert breaks_rank("heapwright/core/a.hpp", "heapwright/platform/b.hpp")
    assert breaks_rank("heapwright/sync/a.hpp", "heapwright/structure/b.hpp")
    assert breaks_rank("heapwright/sizeclass/a.hpp", "heapwright/structure/b.hpp")
    assert not breaks_rank("heapwright/structure/a.hpp", "heapwright/sync/b.hpp")
    assert breaks_rank("heapwright/layers/carve/a.hpp", "heapwright/layers/object/b.hpp")
    assert breaks_rank("heapwright/layers/carve/a.hpp", "heapwright/heap.hpp")
    assert not breaks_rank("heapwright/layers/carve/a.hpp", "heapwright/layers/carve/b.hpp")
    assert not breaks_rank("heapwright/layers/carve/a.hpp", "heapwright/structure/b.hpp")
    assert not breaks_rank("heapwright/allocators/a.hpp", "heapwright/heap.hpp")


def test_headers_that_the_tool_names_exist() -> None:
    """In its messages, and in the programs that it writes."""
    sources = [*(ROOT / "src").rglob("*.py"), *(ROOT / "native").rglob("*.[chp]*")]
    sources += (ROOT / "catalogue").rglob("*.toml")
    named = {
        (name, source)
        for source in sources
        for name in re.findall(r"\bheapwright/[\w/]+\.hp?p?\b", source.read_text("utf-8"))
    }
    assert ("heapwright/heap.hpp", ROOT / "src/heapwright/compose/questions.py") in named
    assert not [each for each in named if not (ROOT / "include" / each[0]).exists()]


def test_the_catalogue_lists_every_layer() -> None:
    layers = {name_of(header) for header in LEAVES if "layers" in header.parts}
    assert layers <= set(includes(CATALOGUE))


ASKS_THE_SYSTEM = re.compile(
    r"^\s*#\s*(if|ifdef|ifndef|elif)\b|#include <(sys|linux)/", re.MULTILINE
)


def test_only_the_platform_asks_which_system_it_is() -> None:
    others = [each for each in LEAVES if folder_of(name_of(each)) != "platform"]
    assert others
    asking = [each for each in others if ASKS_THE_SYSTEM.search(each.read_text(encoding="utf-8"))]
    assert not asking, "the system is behind platform/"


def test_headers_have_a_unit_test_at_the_same_path() -> None:
    mirrors = {each: each.relative_to(INCLUDE).parent / f"{each.stem}_test.cpp" for each in LEAVES}
    assert mirrors
    without = [
        name_of(each)
        for each, mirror in mirrors.items()
        if not (ROOT / "tests" / "unit" / mirror).is_file()
    ]
    assert not without
