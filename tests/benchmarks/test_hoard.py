# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Hoard's variants: no false sharing where it was promised, blowup as it was proved.

The library has a heap for each live thread, and no allocation from partly used lines of transferred
superblocks. The detector of the workloads must find no cache line that the allocator has shared,
actively or passively, in any workload. The detector is not blind: it finds some in the same heap
without the second.
"""

from pathlib import Path
from types import ModuleType

import pytest

from heapwright.artefacts.workload.library import workload_names
from heapwright.base.errors import HeapwrightError
from support.scripts import load_script

# Small, for each call is looked at; `mixed` forks and is not observed.
SCALE = {"bem": "0.02", "barnes-hut": "0.2"}
OPTIONS = {
    "larson": ["--steps", "1000", "--blocks", "500"],
    "barnes-hut": ["--bodies", "2000", "--rounds", "2"],
    "threadtest": ["--objects", "5000", "--rounds", "4"],
}


@pytest.fixture(scope="module")
def variants() -> ModuleType:
    return load_script("benchmarks/hoard/variants.py")


def built(variants: ModuleType, name: str, folder: Path) -> Path:
    try:
        library = variants.build(name, folder)
    except HeapwrightError as missing:
        pytest.skip(f"{missing} (package g++)")
    assert isinstance(library, Path)
    return library


def shared(variants: ModuleType, library: Path, workload: str) -> tuple[int, int]:
    """How many allocations have shared a line, actively and passively."""
    options = OPTIONS.get(workload, ["--scale", SCALE.get(workload, "0.02")])
    common = ["--threads", "4", "--observe", "lines"]
    found = variants.run(library, workload, [*common, *options]).line["false_sharing"]
    return found["active"], found["passive"]


def test_clean_lines_end_false_sharing_in_every_workload(
    variants: ModuleType, tmp_path: Path
) -> None:
    library = built(variants, "Clean", tmp_path)
    names = [name for name in workload_names() if name != "mixed"]
    found = {name: shared(variants, library, name) for name in names}
    assert found == dict.fromkeys(names, (0, 0))


def test_the_detector_finds_what_is_there_without_them(
    variants: ModuleType, tmp_path: Path
) -> None:
    library = built(variants, "OwnOnly", tmp_path)
    assert shared(variants, library, "larson")[1] > 0


def test_the_memory_of_superblocks_is_exact(variants: ModuleType, tmp_path: Path) -> None:
    library = built(variants, "OneHeap", tmp_path)
    options = ["--threads", "1", "--observe", "memory", "--objects", "20000", "--rounds", "2"]
    result = variants.run(library, "threadtest", options)
    assert result.peak_live == 20_000 * 8
    # 8 bytes of each slot and 2 that say its state; and no superblock more than it takes.
    assert result.live <= result.slots < result.superblocks
    assert result.superblocks % 8192 == 0
    assert 1.2 < result.superblocks / result.peak_live < 1.45
