// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The layer conformance suite: the rules that a heap of any layers must obey.
#include "stack_suite.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace heapwright::testing {
namespace {

TEST_P(LayerStack, AgreesWithTheModelOverRandomHistories) {
    for (const std::uint32_t seed : {1U, 2U, 3U, 20261121U}) {
        {
            const Life life(verbs());
            runHistoryOf(life.heap(), seed, shape());
        }
        expectNothingLeft();
    }
}

TEST_P(LayerStack, ReturnsEverythingWhenItIsDestroyed) {
    if (!counted() || GetParam().source) {
        return;
    }
    std::vector<void*> objects;
    {
        const Life life(verbs());
        const AnyHeap heap = life.heap();
        for (std::size_t i = 0; i < 100; ++i) {
            const std::size_t part = shape().largest / (1 + i % 7);
            objects.push_back(heap.malloc(part < 48 ? shape().largest : 48));
            ASSERT_NE(objects.back(), nullptr);
        }
        if (verbs().clear == nullptr) { // a heap without a record of its objects gets it first
            for (void* const object : objects) {
                heap.free(object);
            }
        }
    }
    expectNothingLeft();
}

TEST_P(LayerStack, ReturnsNullIfTheSourceDoes) {
    if (!counted()) {
        return;
    }
    for (std::size_t refuse = 1; refuse <= 40; ++refuse) {
        Ledger::begin(refuse);
        {
            const Life life(verbs());
            HistoryShape some = shape();
            some.steps = 300;
            some.mayFail = true;
            runHistoryOf(life.heap(), 7, some);
        }
        expectNothingLeft();
    }
}

TEST_P(LayerStack, SurvivesASourceThatHasNothing) {
    if (!counted()) {
        return;
    }
    const Life life(verbs());
    const AnyHeap heap = life.heap();
    Ledger::begin(Ledger::all);
    EXPECT_EQ(heap.malloc(48), nullptr);
    Ledger::begin();
    void* const first = heap.malloc(48);
    ASSERT_NE(first, nullptr);
    heap.free(first);
}

TEST_P(LayerStack, RefusesSizesBeyondAnyMemory) {
    if (shape().largest <= 48) {
        return;
    }
    const Life life(verbs());
    const AnyHeap heap = life.heap();
    for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 7, SIZE_MAX - 15, SIZE_MAX - 4096,
                                   SIZE_MAX / 2 + 1, SIZE_MAX / 2 - 64}) {
        EXPECT_EQ(heap.malloc(size), nullptr) << size;
        if (verbs().memalign != nullptr) {
            EXPECT_EQ(verbs().memalign(heap.heap, 4096, size), nullptr) << size;
        }
        if (verbs().zalloc != nullptr) {
            EXPECT_EQ(verbs().zalloc(heap.heap, size), nullptr) << size;
        }
    }
    void* const object = heap.malloc(100);
    ASSERT_NE(object, nullptr);
    heap.free(object);
}

TEST_P(LayerStack, HonoursEveryAlignment) {
    if (verbs().memalign == nullptr) {
        return;
    }
    {
        const Life life(verbs());
        const AnyHeap heap = life.heap();
        for (std::size_t align = 16; align <= 1 * MiB; align *= 2) {
            std::vector<void*> objects;
            for (const std::size_t size : {1U, 24U, 100U, 3000U}) {
                void* const object = verbs().memalign(heap.heap, align, size);
                ASSERT_NE(object, nullptr) << align;
                EXPECT_EQ(addressOf(object) % align, 0U);
                if (verbs().getSize != nullptr) {
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
    expectNothingLeft();
}

TEST_P(LayerStack, WritesWithinTheCapacityChangeNoOtherObject) {
    if (verbs().getSize == nullptr) {
        return;
    }
    const Life life(verbs());
    const AnyHeap heap = life.heap();
    std::vector<void*> objects;
    for (std::size_t i = 0; i < 60; ++i) {
        const std::size_t size =
            shape().smallest + (i * 97) % (shape().largest - shape().smallest + 1);
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

TEST_P(LayerStack, StartsAfreshAfterClear) {
    if (verbs().clear == nullptr) {
        return;
    }
    {
        const Life life(verbs());
        const AnyHeap heap = life.heap();
        for (int round = 0; round < 3; ++round) {
            for (int i = 0; i < 50; ++i) {
                ASSERT_NE(heap.malloc(48), nullptr);
            }
            verbs().clear(heap.heap);
            expectNothingLeft();
        }
        runHistoryOf(heap, 5, shape());
    }
    expectNothingLeft();
}

TEST_P(LayerStack, ServesFromHeldMemoryWithoutTheHeapBelow) {
    if (!counted() || verbs().mallocHeld == nullptr) {
        return;
    }
    const Life life(verbs());
    const AnyHeap heap = life.heap();
    EXPECT_EQ(verbs().mallocHeld(heap.heap, 48), nullptr);
    EXPECT_EQ(Ledger::the().requests, 0U);
    void* const object = heap.malloc(48);
    heap.free(object);
    const std::size_t before = Ledger::the().requests;
    void* const again = verbs().mallocHeld(heap.heap, 48);
    EXPECT_EQ(Ledger::the().requests, before);
    if (again != nullptr) { // a span that was all of one object may have gone back
        heap.free(again);
    }
}

TEST_P(LayerStack, MeasuresWhatItHasTaken) {
    if (counted() || verbs().measure == nullptr) {
        return;
    }
    const Life life(verbs());
    const AnyHeap heap = life.heap();
    std::vector<void*> objects;
    for (int i = 0; i < 100; ++i) {
        objects.push_back(heap.malloc(3000));
    }
    MemoryUsage full;
    verbs().measure(heap.heap, full);
    EXPECT_GE(full.mapped, 300'000U);
    EXPECT_GE(full.mapped, full.direct + full.held);
    for (void* const object : objects) {
        heap.free(object);
    }
    MemoryUsage empty;
    verbs().measure(heap.heap, empty);
    EXPECT_LE(empty.mapped, full.mapped);
    EXPECT_TRUE(empty.mapped == 0 || empty.held > 0);
}

TEST_P(LayerStack, IsDrawnFromItsType) {
    const std::string_view drawing = GetParam().drawing;
    EXPECT_EQ(drawing.front(), '{');
    EXPECT_EQ(drawing.back(), '}');
    EXPECT_EQ(std::count(drawing.begin(), drawing.end(), '{'),
              std::count(drawing.begin(), drawing.end(), '}'));
    EXPECT_EQ(drawing.find("::"), std::string_view::npos) << drawing;
}

} // namespace
} // namespace heapwright::testing
