# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Which folders there are, and which of them a C or C++ file may include.

This is the one statement of the rules. ARCHITECTURE.md shows them, and the tests here hold both.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]

FOLDERS = {
    "apps",
    "benchmarks",
    "catalogue",
    "cmake",
    "docs",
    "examples",
    "include",
    "native",
    "packaging",
    "patches",
    "scripts",
    "src",
    "tests",
    "workloads",
}
"""The visible folders at the root."""

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
    "c": 8,
}
"""The rank of each folder of include/heapwright. A header includes its folder and lower ranks."""

HEAPS = {f"include/{folder}" for folder in RANKS}
LOW = {"include/core", "include/platform", "include/sync"}
TRACES = LOW | {"native/trace"}

INCLUDES: dict[str, set[str]] = {
    "native/apr": HEAPS,
    "native/attach": TRACES | {"native/look", "native/recorder"},
    "native/capi": HEAPS,
    "native/conformance": {"include/c"},
    "native/drag": LOW | {"native/valgrind", "native/recorder"},
    "native/guest": set(),
    "native/kernelsim": HEAPS | {"native/synth"},
    "native/leakscan": TRACES,
    "native/limit": LOW | {"include/c", "native/recorder"},
    "native/look": HEAPS | {"native/trace", "native/leakscan"},
    "native/preload": HEAPS,
    "native/profiler": TRACES,
    "native/recorder": TRACES | {"native/runner"},
    "native/replayer": TRACES,
    "native/rust": HEAPS | {"native/preload"},
    "native/runner": LOW | {"include/c"},
    "native/sampled": HEAPS | {"native/preload", "native/recorder", "native/sampler"},
    "native/sampler": TRACES | {"include/structure", "native/preload", "native/recorder"},
    "native/synth": TRACES,
    "native/trace": LOW,
    "native/valgrind": LOW,
    "apps/calculator": {"include/c"},
    "workloads": HEAPS | {"native/capi"},
}
"""What the files of a folder may include besides files of the same folder and of the system."""

SOURCES = {".hpp", ".cpp", ".h", ".c", ".inc"}
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)


def sources(folder: str) -> list[Path]:
    """The C and C++ files below a folder, given relative to the root."""
    return sorted(each for each in (ROOT / folder).rglob("*") if each.suffix in SOURCES)


def target(name: str, file: Path) -> Path | None:
    """The file of this tree that an include line of `file` names; None for another's header."""
    for place in (file.parent, ROOT / "include", ROOT / "native", *file.parents):
        found = (place / name).resolve()
        if found.is_file() and found.is_relative_to(ROOT):
            return found
        if place == ROOT:
            break
    return None


def includes(file: Path) -> list[Path]:
    """The files of this tree that a file includes."""
    names = INCLUDE.findall(file.read_text(encoding="utf-8"))
    return [found for each in names if (found := target(each, file)) is not None]


def module_of(file: Path) -> str:
    """A header and the source of the same name are one module: `native/trace/reader`."""
    return str(file.relative_to(ROOT).with_suffix(""))


def folder_of(file: Path) -> str:
    """The folder that the rules speak of: `include/core`, `native/trace`, `workloads`."""
    parts = file.relative_to(ROOT).parts
    if parts[0] == "include":
        return f"include/{parts[2]}"
    return "/".join(parts[:2]) if parts[0] in {"native", "apps"} else parts[0]
