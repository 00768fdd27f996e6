# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Compositions written as headers of named rungs."""

import pytest

from heapwright.artefacts.composition.aliases import Scope, read_aliases
from heapwright.artefacts.composition.expression import Expression, parse_expression
from heapwright.artefacts.composition.layers import Toolbox
from heapwright.compose.source_text import WIDTH, namespace_of, type_of, write_header, write_rungs

NAMES = ("Kingsley", "KingsleyCoalescing", "Lea")


@pytest.mark.parametrize("name", NAMES)
def test_a_header_that_is_read_again_is_the_same_composition(
    name: str, toolbox: Toolbox, scope: Scope
) -> None:
    tree = scope.resolve(parse_expression(name))
    written = write_header("my-copy", tree, toolbox, ("A copy.", "Made by: hand"))
    again = Scope(read_aliases(written.text))
    assert written.type == "heapwright::allocators::MyCopy"
    resolved = again.resolve(parse_expression(written.type))
    assert resolved == tree
    names = [(each.rung, each.note) for each in tree.walk() if each.rung and each is not tree]
    assert [(e.rung, e.note) for e in resolved.walk() if (e.rung, e.note) in names]
    assert written.text.startswith("// A copy.\n//\n// Made by: hand\n#pragma once\n")


def test_rungs_without_names_get_them_from_their_layers(toolbox: Toolbox) -> None:
    tree = parse_expression(
        "ANSIWrapper<StrictSegHeap<AtLeast<24, PowerOfTwo<29>>, FreelistHeap<NullHeap>, "
        "SizeHeap<SizeHeap<MmapHeap>>>>"
    )
    lines = write_header("x", tree, toolbox, ("X.",)).text.splitlines()
    code = [line.partition(" //")[0].rstrip() for line in lines if line.startswith("using")]
    assert code == [
        "using Classes = AtLeast<24, PowerOfTwo<29>>;",
        "using Freelist = FreelistHeap<NullHeap>;",
        "using Size = SizeHeap<MmapHeap>;",
        "using Size2 = SizeHeap<Size>;",
        "using StrictSeg = StrictSegHeap<Classes, Freelist, Size2>;",
        "using X = ANSIWrapper<x::StrictSeg>;",
    ]
    caption = toolbox.layer("FreelistHeap").caption
    assert any(caption in line for line in lines)
    assert all(len(line) <= WIDTH for line in lines)


def test_names_that_are_taken_or_mean_something_are_left_alone(toolbox: Toolbox) -> None:
    assert namespace_of("new") == "new_"
    assert namespace_of("bounded-lea") == "bounded_lea"
    assert type_of("bounded-lea_2") == "BoundedLea2"
    assert type_of("mmap-heap", toolbox.layers) == "MmapHeapAllocator"
    written = write_rungs(
        "mine", parse_expression("SizeHeap<::mine::Top>"), toolbox, {"Mine", "mine"}
    )
    assert written.type == "heapwright::allocators::MineAllocator"
    assert "using MineAllocator = SizeHeap<::mine::Top>;" in written.text


def test_a_layer_without_a_suffix_does_not_name_itself(toolbox: Toolbox) -> None:
    tree = Expression("SizeHeap", (Expression("ANSIWrapper", (Expression("MmapHeap"),)),))
    text = write_header("x", tree, toolbox, ("X.",)).text
    assert "using ANSIWrapperRung = ANSIWrapper<MmapHeap>;" in text
