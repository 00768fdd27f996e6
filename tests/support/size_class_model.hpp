// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules for every set of size classes. They are checked against a plain search through its
// table, for every size up to 64 KiB and at the edges of the number range.
#pragma once

#include <heapwright/sizeclass/size_classes.hpp>
#include <heapwright/sizeclass/waste.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

namespace heapwright::testing {

inline constexpr std::size_t exhaustiveUpTo = 64 * KiB;

/// The smallest class that holds the request, by looking at all of them.
template <SizeClasses Classes>
std::size_t smallestHolding(std::size_t request) {
    std::size_t index = 0;
    while (index < Classes::count && Classes::sizeOf(index) < request) {
        ++index;
    }
    return index;
}

template <SizeClasses Classes>
void expectAscendingBlocks() {
    for (std::size_t index = 0; index < Classes::count; ++index) {
        ASSERT_EQ((Classes::sizeOf(index) + blockTag) % minAlignment, 0U) << index;
        ASSERT_TRUE(index == 0 || Classes::sizeOf(index) > Classes::sizeOf(index - 1)) << index;
    }
}

template <SizeClasses Classes>
void expectTheSmallestClassThatHolds() {
    for (std::size_t request = 1; request <= exhaustiveUpTo; ++request) {
        const std::size_t expected = smallestHolding<Classes>(request);
        if (expected < Classes::count) {
            ASSERT_EQ(Classes::classFor(request), expected) << request;
        } else {
            ASSERT_GE(Classes::classFor(request), Classes::count) << request;
        }
    }
    for (std::size_t index = 0; index < Classes::count; ++index) { // and beyond 64 KiB, the edges
        ASSERT_EQ(Classes::classFor(Classes::sizeOf(index)), index);
        ASSERT_GE(Classes::classFor(Classes::sizeOf(index) + 1), index + 1);
        ASSERT_TRUE(index == 0 || Classes::classFor(Classes::sizeOf(index) - 1) == index);
    }
    for (const std::size_t none : {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 7, SIZE_MAX - 8,
                                   SIZE_MAX - 15, SIZE_MAX - 16, SIZE_MAX / 2, SIZE_MAX / 2 + 1}) {
        ASSERT_GE(Classes::classFor(none), Classes::count) << none;
    }
}

template <SizeClasses Classes>
void expectTheWayBack() {
    const std::size_t largest = Classes::sizeOf(Classes::count - 1);
    for (std::size_t index = 0; index < Classes::count; ++index) {
        ASSERT_EQ(Classes::classOf(Classes::sizeOf(index)), index);
    }
    for (std::size_t capacity = 0; capacity <= exhaustiveUpTo; capacity += 8) {
        const std::size_t index = Classes::classOf(capacity);
        if (capacity < Classes::sizeOf(0)) {
            ASSERT_GE(index, Classes::count) << capacity;
        } else if (capacity <= largest) {
            ASSERT_LT(index, Classes::count) << capacity;
            ASSERT_LE(Classes::sizeOf(index), capacity);
            ASSERT_TRUE(index + 1 == Classes::count || Classes::sizeOf(index + 1) > capacity);
        } else if (index < Classes::count) { // still as good as the largest class
            ASSERT_EQ(index, Classes::count - 1) << capacity;
        }
    }
    ASSERT_GE(Classes::classOf(4 * largest), Classes::count);
}

/// The waste that the table says is the worst that any request meets.
template <SizeClasses Classes>
void expectTheWasteOfAllRequests() {
    const std::size_t largest = Classes::sizeOf(Classes::count - 1);
    Waste worst{0, 1};
    for (std::size_t request = 1; request <= largest && request <= exhaustiveUpTo; ++request) {
        const std::size_t block = Classes::sizeOf(Classes::classFor(request)) + blockTag;
        const Waste waste{block - blockTag - request, block};
        worst = Waste::compare(waste, worst) > 0 ? waste : worst;
    }
    if (largest <= exhaustiveUpTo) {
        ASSERT_EQ(Waste::compare(worst, worstCaseWaste<Classes>()), 0);
    } else {
        ASSERT_LE(Waste::compare(worst, worstCaseWaste<Classes>()), 0);
    }
}

template <class Classes>
void expectModelledSizeClasses() {
    static_assert(SizeClasses<Classes>);
    expectAscendingBlocks<Classes>();
    expectTheSmallestClassThatHolds<Classes>();
    expectTheWayBack<Classes>();
    expectTheWasteOfAllRequests<Classes>();
}

} // namespace heapwright::testing
