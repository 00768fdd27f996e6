// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Extents over a system that keeps a ledger, with a time that the test moves.
#pragma once

#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/layers/source/extent_heap.hpp>

#include <support/extent_ledger.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace heapwright::testing {

inline constexpr std::size_t unit = 32 * KiB;

using Extents = ExtentHeap<unit, FutexLock, SetDelay, LedgerExtents>;

static_assert(SizedHeap<Extents> && AlignedHeap<Extents> && ZeroingHeap<Extents>);
static_assert(ResizableHeap<Extents> && RelocatingHeap<Extents> && LockFreeOwningHeap<Extents>);
static_assert(ClearableHeap<Extents> && TrimmableHeap<Extents> && ForkableHeap<Extents>);

class ExtentHeapTest : public ::testing::Test {
protected:
    void SetUp() override { ExtentLedger::begin(); }
    void TearDown() override {
        EXPECT_EQ(ExtentLedger::the().mapped(), 0U) << "given back at the end";
    }
};

inline bool isZero(const void* memory, std::size_t bytes) {
    const auto* const each = static_cast<const unsigned char*>(memory);
    for (std::size_t at = 0; at < bytes; ++at) {
        if (each[at] != 0) {
            return false;
        }
    }
    return true;
}

} // namespace heapwright::testing
