// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The stacks of the layer conformance suite. The files beside this one say which; they are several
// so that they compile at once. The suite knows a stack by its table only, so its rules are
// compiled once, in stack_suite_test.cpp.
#pragma once

#include <heapwright/heap.hpp>

#include <support/any_heap.hpp>
#include <support/counting_heap.hpp>
#include <support/history.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <ostream>
#include <string_view>
#include <type_traits>
#include <vector>

namespace heapwright::testing {

// Shorthand for what many stacks share.
using Nothing = FreelistHeap<NullHeap>;
using Tagged = SizeHeap<CountingHeap>;
using Blocks = CoalesceHeap<4 * KiB, CoalesceableHeap<CountingHeap>>;
using RunBlocks = CoalesceHeap<4 * KiB, CoalesceableHeap<ContiguousCountingHeap>>;
using Quick = StrictSegHeap<Exact<4>, Nothing, Blocks>;
using RunQuick = StrictSegHeap<Exact<4>, Nothing, RunBlocks>;
using Powers = StrictSegHeap<PowerOfTwo<10>, Nothing, Tagged>;
using Mapped = SelectMmapHeap<FixedLimit<2000>, MmapHeap, Quick>;
using Rising = SelectMmapHeap<RisingLimit<1000, 3000>, MmapHeap, RunQuick>;

/// A stack and the requests that it supports. `Counted`: it gets its memory from a counting source.
template <class H, bool Counted = true, std::size_t Smallest = 1, std::size_t Largest = 4000>
struct Stack {
    using Heap = H;
    static constexpr bool counted = Counted;
    static constexpr HistoryShape shape = {3000, 200, Smallest, Largest, false};
};

/// As `Stack`, for heaps whose objects are all of one size.
template <class H>
using OneSize = Stack<H, true, 48, 48>;

/// As `Stack`, for what does not get its memory from a counting source.
template <class H>
using Uncounted = Stack<H, false>;

/// What the suite knows of a stack.
struct StackTable {
    const HeapVerbs* verbs;
    HistoryShape shape;
    bool counted;             ///< gets its memory from a counting source
    bool source;              ///< is the counting source itself
    std::string_view drawing; ///< made from the type
};

inline void PrintTo(const StackTable& stack, std::ostream* out) {
    *out << stack.drawing;
}

/// A list of stacks.
template <class... S>
struct Stacks {
    static std::vector<StackTable> tables() {
        return {StackTable{&heapVerbs<typename S::Heap>, S::shape, S::counted,
                           std::is_same_v<typename S::Heap, CountingHeap>,
                           describe<typename S::Heap>()}...};
    }
};

/// The suite. `INSTANTIATE_TEST_SUITE_P(Name, LayerStack, ::testing::ValuesIn(Some::tables()))`
/// runs it on some stacks.
class LayerStack : public ::testing::TestWithParam<StackTable> {
protected:
    void SetUp() override { Ledger::begin(); }

    static const HeapVerbs& verbs() { return *GetParam().verbs; }
    static const HistoryShape& shape() { return GetParam().shape; }
    static bool counted() { return GetParam().counted; }

    /// What the stack took has come back, each block once.
    static void expectNothingLeft() {
        EXPECT_TRUE(Ledger::the().live.empty()) << Ledger::the().live.size() << " blocks are left";
        EXPECT_EQ(Ledger::the().wrongFrees, 0U);
    }
};

} // namespace heapwright::testing
