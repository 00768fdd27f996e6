// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/source/malloc_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/structure/thread/heap_group.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace heapwright::testing {
namespace {

struct Mapped : HeapGroup<3, LockedHeap<FutexLock, MmapHeap>> {
    auto& operator[](std::size_t index) { return heaps_[index]; }
};

TEST(HeapGroup, SumsTheMemoryOfItsHeaps) {
    Mapped group;
    void* const one = group[0].malloc(10'000);
    void* const other = group[2].malloc(10'000);
    MemoryUsage usage;
    group.measure(usage);
    EXPECT_EQ(usage.mapped, 2 * 3 * 4 * KiB);
    group[0].free(one);
    group[2].free(other);
}

TEST(HeapGroup, ForkedChildFreesTheSlotsOfOtherThreads) {
    Mapped group;
    std::thread([&] { // has a slot, and an unreleased one stands beside it
        (void)threadSlot();
        std::thread([&] {
            (void)threadSlot();
            group.beforeFork();
            const pid_t child = ::fork();
            if (child == 0) {
                ::alarm(30);
                group.afterForkInChild();
                void* const object = group[1].malloc(1);
                group[1].free(object);
                // Not by a thread of its own: ThreadSanitizer allows none in such a child.
                const std::uint32_t lowest = detail::ThreadSlot::claimAs(1'000'000);
                ::_exit(object != nullptr && lowest < 2 ? 0 : 1);
            }
            group.afterForkInParent();
            int status = -1;
            ::waitpid(child, &status, 0);
            EXPECT_EQ(status, 0);
        }).join();
    })
        .join();
    EXPECT_FALSE(group.heldByThisThread());
}

template <class Group>
concept Holds = requires(Group group) { group.beforeFork(); };
template <class Group>
concept Clears = requires(Group group) { group.clear(); };

TEST(HeapGroup, HasTheVerbsOfItsHeapsAndNoMore) {
    EXPECT_TRUE(Holds<Mapped>);
    EXPECT_FALSE(Clears<Mapped>);
    EXPECT_FALSE((Holds<HeapGroup<2, MallocHeap>>));
}

} // namespace
} // namespace heapwright::testing
