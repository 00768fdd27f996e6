// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/region/obstack_heap.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace heapwright::testing {
namespace {

using Obstack = ObstackHeap<1 * KiB, CountingHeap>;

static_assert(ClearableHeap<Obstack> && OwningHeap<Obstack> && stackHeap<Obstack>);
static_assert(!SizedHeap<Obstack> && !AnyOrderHeap<Obstack>);

std::string_view textAt(const void* object, std::size_t size) {
    return {static_cast<const char*>(object), size};
}

TEST(ObstackHeap, FreesAnObjectWithAllThatCameAfter) {
    Ledger::begin();
    Obstack heap;
    void* const first = heap.malloc(100);
    void* const second = heap.malloc(100);
    for (int i = 0; i < 100; ++i) {
        ASSERT_NE(heap.malloc(100), nullptr);
    }
    EXPECT_GT(Ledger::the().live.size(), 10U);
    heap.free(second);
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    EXPECT_EQ(heap.malloc(10), second);
    heap.free(first);
    EXPECT_EQ(heap.malloc(10), first);
}

TEST(ObstackHeap, GrowsAnObjectByteByByteAndByPieces) {
    Ledger::begin();
    Obstack heap;
    ASSERT_TRUE(heap.grow('a'));
    ASSERT_TRUE(heap.grow("bcd", 3));
    EXPECT_EQ(heap.objectSize(), 4U);
    EXPECT_EQ(textAt(heap.base(), 4), "abcd");
    const std::size_t room = heap.room();
    ASSERT_TRUE(heap.blank(10));
    EXPECT_EQ(heap.room(), room - 10);
    heap.shrink(11);
    EXPECT_EQ(heap.objectSize(), 3U);
    void* const object = heap.finish();
    EXPECT_EQ(textAt(object, 3), "abc");
    EXPECT_EQ(heap.objectSize(), 0U);
    EXPECT_EQ(addressOf(heap.malloc(1)), addressOf(object) + 16);
}

TEST(ObstackHeap, MallocFinishesTheGrowingObject) {
    Ledger::begin();
    Obstack heap;
    ASSERT_TRUE(heap.grow("head", 4));
    void* const object = heap.malloc(4);
    std::memcpy(forward(object, 4), "tail", 4);
    EXPECT_EQ(textAt(object, 8), "headtail");
    EXPECT_EQ(addressOf(heap.malloc(1)), addressOf(object) + 16);
}

TEST(ObstackHeap, AnObjectThatOutgrowsItsChunkMoves) {
    Ledger::begin();
    Obstack heap;
    void* const first = heap.malloc(500);
    std::string expected;
    for (std::size_t i = 0; i < 20'000; ++i) {
        const char byte = static_cast<char>('a' + i % 26);
        ASSERT_TRUE(heap.grow(byte));
        expected += byte;
    }
    // The chunks in which it stood alone are gone: there is the first object's, and its own.
    EXPECT_EQ(Ledger::the().live.size(), 2U);
    void* const object = heap.finish();
    EXPECT_EQ(textAt(object, expected.size()), expected);
    heap.free(object);
    EXPECT_EQ(heap.malloc(1), object);
    heap.free(first);
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(ObstackHeap, NoTwoObjectsStandAtOneAddress) {
    Ledger::begin();
    Obstack heap;
    void* const empty = heap.finish();
    void* const other = heap.malloc(0);
    ASSERT_NE(empty, nullptr);
    EXPECT_NE(empty, other);
    for (int i = 0; i < 200; ++i) { // also where a chunk ends
        ASSERT_NE(heap.malloc(0), nullptr);
    }
    ASSERT_TRUE(heap.grow('x'));
    heap.free(other); // what was under construction goes too
    EXPECT_EQ(heap.objectSize(), 0U);
    EXPECT_EQ(heap.malloc(8), other);
}

TEST(ObstackHeap, AChunkOfOneObjectFinishedWithoutBytesIsKept) {
    Ledger::begin();
    Obstack heap;
    void* const empty = heap.finish();
    ASSERT_TRUE(heap.blank(5000)); // moves to a new chunk
    EXPECT_TRUE(heap.owns(empty));
    heap.free(empty);
    EXPECT_EQ(heap.malloc(8), empty);
}

TEST(ObstackHeap, KeepsTheObjectIfTheHeapBelowReturnsNull) {
    Ledger::begin();
    Obstack heap;
    ASSERT_TRUE(heap.grow("kept", 4));
    const std::size_t room = heap.room();
    ASSERT_TRUE(heap.blank(room));
    Ledger::the().refuse = Ledger::all;
    EXPECT_FALSE(heap.grow('x'));
    EXPECT_FALSE(heap.grow("xyz", 3));
    EXPECT_FALSE(heap.blank(100));
    EXPECT_EQ(heap.malloc(100), nullptr);
    EXPECT_EQ(heap.objectSize(), room + 4);
    EXPECT_EQ(textAt(heap.base(), 4), "kept");
    ASSERT_NE(heap.finish(), nullptr);
    EXPECT_EQ(heap.finish(), nullptr); // an empty one would need memory
    Ledger::the().refuse = 0;
    EXPECT_NE(heap.finish(), nullptr);
}

TEST(ObstackHeap, RefusesSizesThatOverflow) {
    Ledger::begin();
    Obstack heap;
    ASSERT_TRUE(heap.grow("abc", 3));
    for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 3, SIZE_MAX - 32, SIZE_MAX / 2}) {
        const volatile std::size_t asked = size;
        EXPECT_EQ(heap.malloc(asked), nullptr);
        EXPECT_FALSE(heap.blank(asked));
    }
    EXPECT_EQ(heap.objectSize(), 3U);
}

TEST(ObstackHeap, ClearAndTheDestructorReturnEverything) {
    Ledger::begin();
    {
        Obstack heap;
        heap.clear();
        for (int i = 0; i < 100; ++i) {
            ASSERT_NE(heap.malloc(300), nullptr);
        }
        ASSERT_TRUE(heap.grow('x'));
        heap.clear();
        EXPECT_TRUE(Ledger::the().live.empty());
        EXPECT_EQ(heap.room() + heap.objectSize(), 0U);
        ASSERT_NE(heap.malloc(300), nullptr);
        ASSERT_TRUE(heap.grow('x'));
    }
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

TEST(ObstackHeap, MeasuresTheRoomInItsChunk) {
    Ledger::begin();
    Obstack heap;
    ASSERT_TRUE(heap.grow('x'));
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.mapped, 1 * KiB - 32);
    EXPECT_EQ(usage.held, heap.room());
}

/// A stack of texts, as the obstack should have it.
class Model {
public:
    explicit Model(std::uint32_t seed) : random_(seed) {}

    void run(std::size_t steps) {
        for (std::size_t i = 0; i < steps && !::testing::Test::HasFatalFailure(); ++i) {
            step();
        }
    }

private:
    struct Finished {
        void* object;
        std::string text;
    };

    std::size_t below(std::size_t bound) {
        return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_);
    }

    void step() {
        const std::size_t action = below(20);
        if (action < 6) {
            const char byte = static_cast<char>(random_());
            ASSERT_TRUE(heap_.grow(byte));
            growing_ += byte;
        } else if (action < 10) {
            const std::string piece(below(below(8) == 0 ? 3000 : 40), static_cast<char>(random_()));
            ASSERT_TRUE(heap_.grow(piece.data(), piece.size()));
            growing_ += piece;
        } else if (action < 12) {
            const std::size_t less = below(growing_.size() + 1);
            heap_.shrink(less);
            growing_.resize(growing_.size() - less);
        } else if (action < 19) {
            void* const object = heap_.finish();
            ASSERT_NE(object, nullptr);
            ASSERT_EQ(addressOf(object) % minAlignment, 0U);
            stack_.push_back({object, growing_});
            growing_.clear();
        } else if (!stack_.empty()) {
            freeFrom(below(stack_.size()));
        }
        ASSERT_EQ(textAt(heap_.base(), heap_.objectSize()), growing_);
    }

    /// Everything on the stack is as it was when one of it goes.
    void freeFrom(std::size_t index) {
        for (const Finished& one : stack_) {
            ASSERT_EQ(textAt(one.object, one.text.size()), one.text);
            ASSERT_TRUE(heap_.owns(one.object));
        }
        heap_.free(stack_[index].object);
        stack_.resize(index);
        growing_.clear();
    }

    Obstack heap_;
    std::mt19937 random_;
    std::vector<Finished> stack_;
    std::string growing_;
};

TEST(ObstackHeap, AgreesWithAStackOfTextsOverRandomHistories) {
    for (const std::uint32_t seed : {1U, 2U, 3U, 20261122U}) {
        SCOPED_TRACE(seed);
        Ledger::begin();
        Model(seed).run(5000);
        EXPECT_TRUE(Ledger::the().live.empty());
        EXPECT_EQ(Ledger::the().wrongFrees, 0U);
    }
}

} // namespace
} // namespace heapwright::testing
