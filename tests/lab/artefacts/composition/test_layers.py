# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""What the headers say of layers, policies and concepts."""

from pathlib import Path

import pytest

from heapwright.artefacts.composition.layers import (
    Toolbox,
    nearest,
    read_header,
    read_toolbox,
    split_list,
)
from heapwright.base.errors import HeapwrightError

INCLUDE = Path(__file__).parents[4] / "include"
HEADER = """// A layer.
//
// Example: MadeHeap<8, NullHeap, SizeHeap<MmapHeap>>
#pragma once
namespace heapwright {

/// A made heap can make: it is
/// asked for it.
template <class H>
concept MakingHeap = Heap<H> && requires(H heap) {
    { heap.make() } -> std::same_as<void>;
};

template <class A, std::size_t N>
struct Helper {
    A all[N];
};

template <std::size_t Size, Heap Other, MakingHeap SuperHeap>
requires SizedHeap<SuperHeap> &&(Other::alignment == SuperHeap::alignment)
class MadeHeap : private SuperHeap {
public:
    static constexpr std::string_view caption = "makes "
                                                "what is asked";
    using Below = Heaps<Other, SuperHeap>;
};

class PlainHeap {
public:
    static constexpr std::string_view caption = "is plain";
};

} // namespace heapwright
"""


@pytest.fixture(scope="module")
def toolbox() -> Toolbox:
    return read_toolbox(INCLUDE)


def test_a_layer_is_read_from_its_header() -> None:
    made = read_header(HEADER, "heapwright/layers/carve/made_heap.hpp").layer("MadeHeap")
    assert [(each.kind, each.name, each.is_heap) for each in made.parameters] == [
        ("std::size_t", "Size", False),
        ("Heap", "Other", True),
        ("MakingHeap", "SuperHeap", True),
    ]
    assert made.heaps == (1, 2)
    assert made.category == "carve"
    assert made.caption == "makes what is asked"
    assert split_list(made.requires, "&&") == [
        "SizedHeap<SuperHeap>",
        "(Other::alignment == SuperHeap::alignment)",
    ]
    assert str(made.example) == "MadeHeap<8, NullHeap, SizeHeap<MmapHeap>>"
    assert made.signature == "MadeHeap<Size, Other, SuperHeap>"


def test_a_concept_is_read_with_its_sentence_and_its_verbs() -> None:
    read = read_header(HEADER, "heapwright/layers/carve/made_heap.hpp")
    assert read.concepts["MakingHeap"].meaning == "A made heap can make"
    assert read.concepts["MakingHeap"].verbs == ("make",)
    assert read.layers["PlainHeap"].is_heap
    assert not read.layers["Helper"].is_heap


def test_every_layer_of_the_library_is_read_whole(toolbox: Toolbox) -> None:
    names = {path.stem.replace("_", "") for path in INCLUDE.glob("heapwright/layers/*/*.hpp")}
    found = {name.lower(): layer for name, layer in toolbox.layers.items()}
    assert len(names) > 15
    assert names <= set(found)
    for name in names:
        layer = found[name]
        if not layer.is_heap:
            continue  # a class around a heap that is none itself
        assert layer.category in layer.header
        if layer.example is not None:
            assert len(layer.example.arguments) == len(layer.parameters), layer.name
        if layer.category != "source":
            assert layer.heaps, layer.name
            assert layer.heaps[-1] == len(layer.parameters) - 1, layer.name


def test_the_source_has_the_lines_that_the_edits_change(toolbox: Toolbox) -> None:
    coalesce = toolbox.layer("heapwright::CoalesceHeap")
    assert coalesce.category == "carve"
    assert coalesce.parameters[-1].concept == "SpanHeap"
    assert str(coalesce.example).startswith("CoalesceHeap<64 * KiB, CoalesceableHeap<")
    assert toolbox.concepts["SpanHeap"].verbs == ("isWholeSpan", "shrink", "extend")
    assert toolbox.layer("PowerOfTwo").category == "sizeclass"
    assert {"FutexLock", "PowerOfTwo", "LockedHeap"} <= set(toolbox.names)


def test_an_unknown_layer_suggests_the_nearest_name(toolbox: Toolbox) -> None:
    with pytest.raises(HeapwrightError, match="no layer 'FreelistHeep'") as raised:
        toolbox.layer("FreelistHeep")
    assert "FreelistHeap" in raised.value.hint
    assert nearest("int", toolbox.names) == ""


def test_a_folder_without_headers_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HeapwrightError, match="there are no layers in"):
        read_toolbox(tmp_path)
