# SPDX-FileCopyrightText: The Heapwright authors
# SPDX-License-Identifier: Apache-2.0
"""The sizes that a heap states are held against its memory, even where a rung above hides them."""

from pathlib import Path

import pytest

from heapwright.compose.compiler import Answer, Compiler, write
from heapwright.compose.conformance import Failed
from heapwright.compose.own_sizes import CASE, check_own_sizes

pytestmark = pytest.mark.compiles

LAYER = """#pragma once
#include <heapwright/heap.hpp>
namespace mine {{
using namespace heapwright;
template <Heap SuperHeap>
class StatingHeap : private SuperHeap {{
public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::string_view caption = "states sizes";
    using Below = Heaps<SuperHeap>;
    void* malloc(std::size_t size) noexcept {{ return SuperHeap::malloc(size); }}
    void free(void* object) noexcept {{ SuperHeap::free(object); }}
    std::size_t getSize(void* object) noexcept {{ return {stated}; }}
}};
using Stated = StatingHeap<CoalesceHeap<64 * KiB, CoalesceableHeap<MmapHeap>>>;
}} // namespace mine
"""


def asked(compiler: Compiler, stated: str) -> Failed | Answer | None:
    header = Path(compiler.folder) / "mine.hpp"
    write(header, LAYER.format(stated=stated))
    return check_own_sizes("::mine::Stated", f'#include "{header}"', compiler)


@pytest.mark.parametrize(
    ("stated", "why"),
    [
        ("SuperHeap::getSize(object)", ""),
        ("SuperHeap::getSize(object) + 64", "reaches into another live object"),
        ("(SuperHeap::getSize(object), 8)", "of 9 bytes: the usable size is below the request"),
        ("(__builtin_trap(), 0)", "killed by SIG"),
    ],
)
def test_wrong_sizes_are_found(stated: str, why: str, any_compiler: Compiler) -> None:
    found = asked(any_compiler, stated)
    if not why:
        assert found is None
        return
    assert isinstance(found, Failed)
    assert found.case == CASE
    assert why in found.why


def test_a_body_that_was_never_compiled_is_compiled(any_compiler: Compiler) -> None:
    found = asked(any_compiler, "SuperHeap::getSiz(object)")
    assert isinstance(found, Answer)
    complaint = found.complaint_in([Path(any_compiler.folder) / "mine.hpp"])
    assert complaint is not None
    assert "getSiz" in complaint.text
