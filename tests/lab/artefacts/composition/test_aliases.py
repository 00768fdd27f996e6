# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""Headers of named rungs, read."""

from pathlib import Path

import pytest

from heapwright.artefacts.composition.aliases import Scope, read_aliases, without_rungs
from heapwright.artefacts.composition.expression import parse_expression
from heapwright.base.errors import HeapwrightError

ALLOCATORS = Path(__file__).parents[4] / "include" / "heapwright" / "allocators"
HEADER = """#pragma once
// using Commented = Nothing;
#include <heapwright/heap.hpp>
namespace heapwright::allocators {
namespace inner {
using Source = MmapHeap; // pages
/* using Hidden = Nothing; */
// a caption of its own line
using Objects =
    SizeHeap<Source>;
template <class T> using Not = SizeHeap<T>;
} // namespace inner
using Outer = ANSIWrapper<inner::Objects>;
static_assert(Heap<Outer>, "text with } and ; in it");
}
"""
OWN = """#pragma once
#include <heapwright/heap.hpp>
namespace mine {
template <class SuperHeap>
class Twice : private SuperHeap {
    using Inside = SuperHeap;
    static_assert(sizeof(SuperHeap) > 0);
};
using Top = Twice<heapwright::MmapHeap>; // mine
static_assert(sizeof(Top) > 0);
}
"""


def test_every_rung_is_found_with_its_place_and_its_caption() -> None:
    aliases = read_aliases(HEADER)
    assert [(each.qualified, str(each.type), each.note) for each in aliases] == [
        ("heapwright::allocators::inner::Source", "MmapHeap", "pages"),
        ("heapwright::allocators::inner::Objects", "SizeHeap<Source>", "a caption of its own line"),
        ("heapwright::allocators::Outer", "ANSIWrapper<inner::Objects>", ""),
    ]


def test_aliases_resolve_from_the_inside_out() -> None:
    scope = Scope(read_aliases(HEADER))
    resolved = scope.resolve(parse_expression("Outer"))
    assert str(resolved) == "ANSIWrapper<SizeHeap<MmapHeap>>"
    assert resolved.arguments[0].rung == "Objects"
    assert resolved.arguments[0].arguments[0].note == "pages"
    for spelled in ("inner::Objects", "heapwright::allocators::inner::Objects"):
        assert str(scope.resolve(parse_expression(spelled))) == "SizeHeap<MmapHeap>"
    assert str(scope.resolve(parse_expression("Objects"))) == "Objects"


def test_every_allocator_of_the_catalogue_resolves_to_layers_only() -> None:
    headers = sorted(ALLOCATORS.glob("*.hpp"))
    assert len(headers) >= 3
    scope = Scope(each for path in headers for each in read_aliases(path.read_text("utf-8")))
    kingsley = scope.resolve(parse_expression("Kingsley"))
    assert "StrictSegHeap<PowerOfTwo<29>, FreelistHeap<NullHeap>, SizeHeap<" in str(kingsley)
    for alias in scope.aliases:
        resolved = scope.resolve(alias.type, alias.scope)
        assert not [each for each in resolved.walk() if "::" in each.name]


def test_a_rung_that_refers_to_itself_is_refused() -> None:
    scope = Scope(read_aliases("using A = SizeHeap<B>;\nusing B = SizeHeap<A>;\n"))
    with pytest.raises(HeapwrightError, match="stands on itself"):
        scope.resolve(parse_expression("A"))


def test_a_header_may_have_more_than_rungs() -> None:
    assert without_rungs(HEADER.replace("template <class T> using Not = SizeHeap<T>;\n", "")) == ""
    kept = without_rungs(OWN)
    assert "class Twice" in kept
    assert "using Inside = SuperHeap;" in kept
    assert "static_assert(sizeof(SuperHeap) > 0);" in kept
    assert "using Top" not in kept
    assert "sizeof(Top)" not in kept


@pytest.mark.parametrize("text", ["", "}}}}", "namespace {", "using A = B<;", "using = B;"])
def test_a_text_that_is_no_header_has_no_rungs(text: str) -> None:
    assert read_aliases(text) == []
