// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/thread/heap_array.hpp>

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

/// Writes down what is done to which of the heaps, in order; some are held by the thread already.
class Noting {
public:
    static constexpr std::size_t alignment = 16;

    static inline std::vector<std::string> did;
    static inline const Noting* first = nullptr;
    static inline std::vector<std::size_t> heldAlready;

    void* malloc(std::size_t /*size*/) noexcept { return nullptr; }
    void free(void* /*object*/) noexcept {}
    bool flush() noexcept { return note("flush") == 1; }
    bool trim(std::size_t pad) noexcept {
        note("trim " + std::to_string(pad));
        return false;
    }
    void clear() noexcept { note("clear"); }
    void measure(MemoryUsage& usage) const noexcept { usage.mapped += 10; }
    bool owns(const void* object) const noexcept { return object == this; }
    void beforeFork() noexcept { note("hold"); }
    void afterForkInParent() noexcept { note("let go"); }
    void afterForkInChild() noexcept { note("make free"); }
    [[nodiscard]] bool heldByThisThread() const noexcept {
        for (const std::size_t index : heldAlready) {
            if (index == place()) {
                return true;
            }
        }
        return false;
    }

    [[nodiscard]] std::size_t place() const {
        return static_cast<std::size_t>(reinterpret_cast<const char*>(this) -
                                        reinterpret_cast<const char*>(first)) /
               64;
    }

private:
    std::size_t note(const std::string& what) {
        did.push_back(what + " " + std::to_string(place()));
        return place();
    }
};

class HeapArrayTest : public ::testing::Test {
protected:
    void SetUp() override {
        Noting::did.clear();
        Noting::heldAlready.clear();
        Noting::first = &heaps[0];
    }

    HeapArray<3, Noting> heaps;
};

using Did = std::vector<std::string>;

TEST_F(HeapArrayTest, GivesEachLiveThreadAHeapOfItsOwn) {
    const std::size_t mine = heaps.myIndex();
    std::size_t other = mine;
    std::size_t third = mine;
    std::size_t heir = mine;
    std::thread([&] {
        other = heaps.myIndex();
        std::thread([&] { third = heaps.myIndex(); }).join();
    }).join();
    std::thread([&] { heir = heaps.myIndex(); }).join();
    EXPECT_EQ(mine + other + third, 0U + 1U + 2U);
    EXPECT_EQ((mine == other || mine == third || other == third), false);
    EXPECT_EQ(heir, other) << "what a thread leaves is the next one's";
    EXPECT_EQ(&heaps.mine(), &heaps[mine]);
}

TEST_F(HeapArrayTest, KeepsHeapsOnLinesOfTheirOwn) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&heaps[1]) % 64, 0U);
    EXPECT_EQ(heaps[1].place(), 1U);
}

TEST_F(HeapArrayTest, FlushTrimClearAndMeasureReachEveryHeap) {
    EXPECT_TRUE(heaps.flush()) << "one of them had something";
    EXPECT_FALSE(heaps.trim(301)) << "none had";
    heaps.clear();
    EXPECT_EQ(Noting::did, (Did{"flush 0", "flush 1", "flush 2", "trim 100 0", "trim 100 1",
                                "trim 100 2", "clear 0", "clear 1", "clear 2"}));
    MemoryUsage usage;
    heaps.measure(usage);
    EXPECT_EQ(usage.mapped, 30U);
    EXPECT_TRUE(heaps.owns(&heaps[2]));
    EXPECT_FALSE(heaps.owns(this));
}

TEST_F(HeapArrayTest, ForkLocksInOrderAndUnlocksInReverse) {
    heaps.beforeFork();
    heaps.afterForkInParent();
    heaps.beforeFork();
    heaps.afterForkInChild();
    EXPECT_EQ(Noting::did,
              (Did{"hold 0", "hold 1", "hold 2", "let go 2", "let go 1", "let go 0", "hold 0",
                   "hold 1", "hold 2", "make free 2", "make free 1", "make free 0"}));
}

/// The fork of a signal handler that interrupted a request: that request's lock is its own.
TEST_F(HeapArrayTest, SkipsHeapsThatTheThreadHolds) {
    std::thread([&] { // so that there is more than one
        for (const std::size_t held : {0U, 1U}) {
            Noting::did.clear();
            Noting::heldAlready = {held};
            heaps.beforeFork();
            const std::string other = std::to_string(1 - held);
            EXPECT_EQ(Noting::did, (Did{"hold " + other, "hold 2"}));
            Noting::heldAlready = {0, 1, 2};
            heaps.beforeFork(); // another, inside
            heaps.afterForkInParent();
            EXPECT_EQ(Noting::did.size(), 2U) << "it held nothing, so it lets nothing go";
            heaps.afterForkInChild();
            EXPECT_EQ(Noting::did,
                      (Did{"hold " + other, "hold 2", "make free 2", "make free " + other}));
        }
    })
        .join();
}

} // namespace
} // namespace heapwright::testing
