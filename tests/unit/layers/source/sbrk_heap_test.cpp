// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/source/sbrk_heap.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace heapwright::testing {
namespace {

// These tests share the break with all other code of the process. None may rely on it staying.

TEST(SbrkHeap, MakesTheNewestRunLongerInPlace) {
    SbrkHeap heap;
    auto* const run = static_cast<unsigned char*>(heap.malloc(1000));
    ASSERT_NE(run, nullptr);
    EXPECT_GE(heap.getSize(run), 1000U);
    std::memset(run, 1, heap.getSize(run));
    if (heap.resize(run, 200'000)) { // unless other code has moved the break
        EXPECT_GE(heap.getSize(run), 200'000U);
        EXPECT_EQ(run[999], 1);
        run[199'999] = 1;
        EXPECT_TRUE(heap.resize(run, 1000));
        EXPECT_LT(heap.getSize(run), 20'000U);
    }
    heap.free(run);
}

TEST(SbrkHeap, StartsANewRunAfterAForeignSbrk) {
    SbrkHeap heap;
    auto* const first = static_cast<unsigned char*>(heap.malloc(1000));
    ASSERT_NE(first, nullptr);
    if (platform::moveBreak(100) == 0) {
        GTEST_SKIP() << "this C library does not move the break";
    }
    EXPECT_FALSE(heap.resize(first, 100'000));
    auto* const second = static_cast<unsigned char*>(heap.malloc(1000));
    ASSERT_NE(second, nullptr);
    EXPECT_EQ(addressOf(second) % 16, 0U);
    std::memset(first, 1, heap.getSize(first));
    std::memset(second, 2, heap.getSize(second));
    EXPECT_EQ(first[999], 1);
    heap.free(first); // in the middle: its pages return, not its addresses
    heap.free(second);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.mapped, 0U);
}

TEST(SbrkHeap, ClearsTheRestOfASharedPage) {
    const Address mine = platform::moveBreak(2000);
    if (mine == 0) {
        GTEST_SKIP() << "this C library does not move the break";
    }
    std::memset(pointerTo(mine), 0xFF, 2000);
    ASSERT_NE(platform::moveBreak(-1500), 0U); // what shares a page with the rest stays as it is
    SbrkHeap heap;
    auto* const run = static_cast<unsigned char*>(heap.zalloc(10'000));
    ASSERT_NE(run, nullptr);
    for (std::size_t i = 0; i < 10'000; ++i) {
        ASSERT_EQ(run[i], 0) << i;
    }
    heap.free(run);
}

TEST(SbrkHeap, MapsPagesWhereTheBreakSticks) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(30);
        SbrkHeap heap;
        // A mapping just behind the break is in its way.
        const Address wall = roundUp(platform::currentBreak(), platform::pageSize());
        void* const blocked = ::mmap(pointerTo(wall), platform::pageSize(), PROT_NONE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (blocked != pointerTo(wall)) {
            ::_exit(2);
        }
        auto* const run = static_cast<unsigned char*>(heap.malloc(100'000));
        const bool mapped = run != nullptr && Tag::of(run).has(Flag::direct);
        if (mapped) {
            run[99'999] = 1;
            heap.free(run);
        }
        ::_exit(mapped ? 0 : 1);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
        GTEST_SKIP() << "the place behind the break is taken";
    }
    EXPECT_EQ(status, 0);
}

} // namespace
} // namespace heapwright::testing
