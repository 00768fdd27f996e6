// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The layer conformance suite, on every stack. It has the rules that a heap of any layers must
// obey. The files beside this one say which stacks; they are several so that they compile at once.
#pragma once

#include <heapwright/heap.hpp>

#include <support/counting_heap.hpp>
#include <support/history.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
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

namespace {

template <class S>
class LayerStack : public ::testing::Test {
protected:
    void SetUp() override { Ledger::begin(); }

    /// What the stack took has come back, each block once.
    static void expectNothingLeft() {
        EXPECT_TRUE(Ledger::the().live.empty()) << Ledger::the().live.size() << " blocks are left";
        EXPECT_EQ(Ledger::the().wrongFrees, 0U);
    }
};

TYPED_TEST_SUITE_P(LayerStack);

TYPED_TEST_P(LayerStack, AgreesWithTheModelOverRandomHistories) {
    for (const std::uint32_t seed : {1U, 2U, 3U, 20261121U}) {
        {
            typename TypeParam::Heap heap;
            runHistory(heap, seed, TypeParam::shape);
        }
        this->expectNothingLeft();
    }
}

TYPED_TEST_P(LayerStack, ReturnsEverythingWhenItIsDestroyed) {
    if constexpr (TypeParam::counted && !std::is_same_v<typename TypeParam::Heap, CountingHeap>) {
        constexpr bool tracks = ClearableHeap<typename TypeParam::Heap>;
        std::vector<void*> objects;
        {
            typename TypeParam::Heap heap;
            for (std::size_t i = 0; i < 100; ++i) {
                objects.push_back(heap.malloc(
                    TypeParam::shape.largest / (1 + i % 7) < 48 ? TypeParam::shape.largest : 48));
                ASSERT_NE(objects.back(), nullptr);
            }
            if constexpr (!tracks) { // a heap without a record of its objects gets it first
                for (void* const object : objects) {
                    heap.free(object);
                }
            }
        }
        this->expectNothingLeft();
    }
}

TYPED_TEST_P(LayerStack, ReturnsNullIfTheSourceDoes) {
    if constexpr (TypeParam::counted) {
        for (std::size_t refuse = 1; refuse <= 40; ++refuse) {
            Ledger::begin(refuse);
            {
                typename TypeParam::Heap heap;
                HistoryShape shape = TypeParam::shape;
                shape.steps = 300;
                shape.mayFail = true;
                runHistory(heap, 7, shape);
            }
            this->expectNothingLeft();
        }
    }
}

TYPED_TEST_P(LayerStack, SurvivesASourceThatHasNothing) {
    if constexpr (TypeParam::counted) {
        typename TypeParam::Heap heap;
        Ledger::begin(Ledger::all);
        EXPECT_EQ(heap.malloc(48), nullptr);
        Ledger::begin();
        void* const first = heap.malloc(48);
        ASSERT_NE(first, nullptr);
        heap.free(first);
    }
}

TYPED_TEST_P(LayerStack, RefusesSizesBeyondAnyMemory) {
    if constexpr (TypeParam::shape.largest > 48) {
        typename TypeParam::Heap heap;
        for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 7, SIZE_MAX - 15, SIZE_MAX - 4096,
                                       SIZE_MAX / 2 + 1, SIZE_MAX / 2 - 64}) {
            // Read through a volatile, so that the compiler does not object to the size.
            const volatile std::size_t asked = size;
            EXPECT_EQ(heap.malloc(asked), nullptr) << size;
            if constexpr (AlignedHeap<typename TypeParam::Heap>) {
                EXPECT_EQ(heap.memalign(4096, asked), nullptr) << size;
            }
            if constexpr (ZeroingHeap<typename TypeParam::Heap>) {
                EXPECT_EQ(heap.zalloc(asked), nullptr) << size;
            }
        }
        void* const object = heap.malloc(100);
        ASSERT_NE(object, nullptr);
        heap.free(object);
    }
}

TYPED_TEST_P(LayerStack, HonoursEveryAlignment) {
    if constexpr (AlignedHeap<typename TypeParam::Heap>) {
        {
            typename TypeParam::Heap heap;
            for (std::size_t align = 16; align <= 1 * MiB; align *= 2) {
                std::vector<void*> objects;
                for (const std::size_t size : {1U, 24U, 100U, 3000U}) {
                    void* const object = heap.memalign(align, size);
                    ASSERT_NE(object, nullptr) << align;
                    EXPECT_EQ(addressOf(object) % align, 0U);
                    if constexpr (SizedHeap<typename TypeParam::Heap>) {
                        EXPECT_GE(heap.getSize(object), size);
                    }
                    std::memset(object, 0x11, size);
                    objects.push_back(object);
                }
                for (void* const object : objects) {
                    heap.free(object);
                }
            }
        }
        this->expectNothingLeft();
    }
}

TYPED_TEST_P(LayerStack, WritesWithinTheCapacityChangeNoOtherObject) {
    if constexpr (SizedHeap<typename TypeParam::Heap>) {
        typename TypeParam::Heap heap;
        std::vector<void*> objects;
        for (std::size_t i = 0; i < 60; ++i) {
            const std::size_t size =
                TypeParam::shape.smallest +
                (i * 97) % (TypeParam::shape.largest - TypeParam::shape.smallest + 1);
            void* const object = heap.malloc(size);
            ASSERT_NE(object, nullptr);
            std::memset(object, static_cast<int>(i), heap.getSize(object));
            objects.push_back(object);
        }
        for (std::size_t i = 0; i < objects.size(); ++i) {
            const auto* bytes = static_cast<const unsigned char*>(objects[i]);
            for (std::size_t at = 0; at < heap.getSize(objects[i]); ++at) {
                ASSERT_EQ(bytes[at], i);
            }
        }
        for (void* const object : objects) {
            heap.free(object);
        }
    }
}

TYPED_TEST_P(LayerStack, StartsAfreshAfterClear) {
    if constexpr (ClearableHeap<typename TypeParam::Heap>) {
        {
            typename TypeParam::Heap heap;
            for (int round = 0; round < 3; ++round) {
                for (int i = 0; i < 50; ++i) {
                    ASSERT_NE(heap.malloc(48), nullptr);
                }
                heap.clear();
                this->expectNothingLeft();
            }
            runHistory(heap, 5, TypeParam::shape);
        }
        this->expectNothingLeft();
    }
}

TYPED_TEST_P(LayerStack, ServesFromHeldMemoryWithoutTheHeapBelow) {
    if constexpr (TypeParam::counted && HoldingHeap<typename TypeParam::Heap>) {
        typename TypeParam::Heap heap;
        EXPECT_EQ(heap.mallocHeld(48), nullptr);
        EXPECT_EQ(Ledger::the().requests, 0U);
        void* const object = heap.malloc(48);
        heap.free(object);
        const std::size_t before = Ledger::the().requests;
        void* const again = heap.mallocHeld(48);
        EXPECT_EQ(Ledger::the().requests, before);
        if (again != nullptr) { // a span that was all of one object may have gone back
            heap.free(again);
        }
    }
}

TYPED_TEST_P(LayerStack, MeasuresWhatItHasTaken) {
    if constexpr (MeasurableHeap<typename TypeParam::Heap> && !TypeParam::counted) {
        typename TypeParam::Heap heap;
        std::vector<void*> objects;
        for (int i = 0; i < 100; ++i) {
            objects.push_back(heap.malloc(3000));
        }
        MemoryUsage full;
        heap.measure(full);
        EXPECT_GE(full.mapped, 300'000U);
        EXPECT_GE(full.mapped, full.direct + full.held);
        for (void* const object : objects) {
            heap.free(object);
        }
        MemoryUsage empty;
        heap.measure(empty);
        EXPECT_LE(empty.mapped, full.mapped);
        EXPECT_TRUE(empty.mapped == 0 || empty.held > 0);
    }
}

TYPED_TEST_P(LayerStack, IsDrawnFromItsType) {
    constexpr std::string_view drawing = describe<typename TypeParam::Heap>();
    EXPECT_EQ(drawing.front(), '{');
    EXPECT_EQ(drawing.back(), '}');
    EXPECT_EQ(std::count(drawing.begin(), drawing.end(), '{'),
              std::count(drawing.begin(), drawing.end(), '}'));
    EXPECT_EQ(drawing.find("::"), std::string_view::npos) << drawing;
}

REGISTER_TYPED_TEST_SUITE_P(LayerStack, AgreesWithTheModelOverRandomHistories,
                            ReturnsEverythingWhenItIsDestroyed, ReturnsNullIfTheSourceDoes,
                            SurvivesASourceThatHasNothing, RefusesSizesBeyondAnyMemory,
                            HonoursEveryAlignment, WritesWithinTheCapacityChangeNoOtherObject,
                            StartsAfreshAfterClear, ServesFromHeldMemoryWithoutTheHeapBelow,
                            MeasuresWhatItHasTaken, IsDrawnFromItsType);

} // namespace
} // namespace heapwright::testing
