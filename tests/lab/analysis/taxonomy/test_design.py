# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The columns that a composition's type decides."""

import re
from pathlib import Path

from heapwright.analysis.taxonomy.design import FACTS, design_of

HEADERS = Path(__file__).parents[4] / "include" / "heapwright" / "layers"


def stack(*names: str, policies: tuple[str, ...] = ()) -> dict[str, object]:
    """Layers that stand on one another, the policies those of the first."""
    below: list[dict[str, object]] = []
    for name in reversed(names):
        below = [{"layer": name, "policies": (), "caption": "", "below": below}]
    return {**below[0], "policies": policies}


def test_a_locked_kingsley_has_one_heap() -> None:
    design = design_of(stack("LockedHeap", "StrictSegHeap", "SizeHeap", "ChunkHeap", "MmapHeap"))
    assert design is not None
    assert design.local_memory.startswith("nowhere")
    assert not design.splits_and_coalesces
    assert design.metadata_in_block
    assert design.classes_separated == "logically"
    assert design.blowup_prevented_by == "one heap for all"


def test_private_heaps_do_nothing_against_blowup() -> None:
    design = design_of(stack("ThreadHeap", "StrictSegHeap", "SizeHeap", "MmapHeap"))
    assert design is not None
    assert design.local_memory == "thread"
    assert design.blowup_prevented_by == "nothing"


def test_only_the_path_of_small_requests_decides() -> None:
    choice = {
        "layer": "SelectMmapHeap",
        "below": [stack("SizeHeap", "MmapHeap"), stack("BitmapSlabHeap", "MmapHeap")],
    }
    design = design_of(choice)
    assert design is not None
    assert not design.metadata_in_block
    assert design.classes_separated == "physically"


def test_a_workload_without_a_description_has_no_columns() -> None:
    assert design_of(None) is None
    assert design_of({"something": "else"}) is None


def test_every_layer_of_the_file_exists() -> None:
    named = set(re.findall(r'^layer = "(\w+)"', FACTS.read_text(encoding="utf-8"), re.MULTILINE))
    files = {file.stem.replace("_", "") for file in HEADERS.rglob("*.hpp")}
    assert named
    assert {name for name in named if name.lower() not in files} == set()


def test_the_policy_says_what_prevents_blowup() -> None:
    rule = ("GeometricSlots<6, 5, 16, 4 KiB>", "PerProcessor<128>", "Emptiness<1, 4, 4>")
    hoard = design_of(stack("HoardHeap", "AlignedBlockHeap", "MmapHeap", policies=rule))
    assert hoard is not None
    assert hoard.local_memory == "processor"
    assert hoard.classes_separated == "physically"
    assert not hoard.metadata_in_block
    assert "superblocks" in hoard.blowup_prevented_by
    sorted_otherwise = ("OwnHeap<64>", "InParts<4, Emptiness<1, 4, 4> >")
    in_parts = design_of(stack("HoardHeap", "MmapHeap", policies=sorted_otherwise))
    assert in_parts.blowup_prevented_by == hoard.blowup_prevented_by
    never = design_of(stack("HoardHeap", "MmapHeap", policies=("OwnHeap<64>", "Never")))
    assert never is not None
    assert never.local_memory == "thread"
    assert "ownership" in never.blowup_prevented_by


def test_a_cache_over_superblocks_keeps_classes_apart_in_memory() -> None:
    design = design_of(stack("ThreadCacheHeap", "StrictSegHeap", "SuperblockHeap", "MmapHeap"))
    assert design is not None
    assert design.classes_separated == "physically"
