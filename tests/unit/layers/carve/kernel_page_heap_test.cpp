// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/kernel_page_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

/// Mapped memory until the test lets it refuse.
class Source : private MmapHeap {
public:
    static constexpr std::size_t alignment = MmapHeap::alignment;
    static constexpr bool concurrent = true;
    static inline bool refuses = false;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return refuses ? nullptr : MmapHeap::malloc(size);
    }
    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        return refuses ? nullptr : MmapHeap::memalign(align, size);
    }
    using MmapHeap::free;
};

template <std::size_t Nodes, std::size_t Least>
using Pages = KernelPageHeap<Nodes, Least, FutexLock, MmapHeap>;
using OneNode = Pages<1, 16 * MiB>;

TEST(KernelPageHeap, GivesBlocksOfPagesAlignedToTheirSize) {
    OneNode heap;
    for (std::size_t size = 1; size <= OneNode::largest; size = size * 3 + 1) {
        void* const object = heap.malloc(size);
        ASSERT_NE(object, nullptr);
        const std::size_t block = heap.getSize(object);
        EXPECT_GE(block, size);
        EXPECT_TRUE(block == bytesOfPage || block / 2 < size);
        EXPECT_EQ(addressOf(object) % block, 0U);
        std::memset(object, 0x5A, block);
        EXPECT_TRUE(heap.owns(object));
        heap.free(object);
    }
    EXPECT_EQ(heap.malloc(OneNode::largest + 1), nullptr);
}

TEST(KernelPageHeap, ReturnsSectionsThatAreWhollyFree) {
    OneNode heap;
    void* const object = heap.malloc(1);
    EXPECT_FALSE(heap.flush());
    heap.free(object);
    EXPECT_FALSE(heap.trim(16 * MiB));
    EXPECT_TRUE(heap.trim(0));
    EXPECT_FALSE(heap.owns(object));
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_EQ(usage.mapped, 0U);
    EXPECT_EQ(usage.held, 0U);
}

TEST(KernelPageHeap, GrowsOnlyWhenNoOtherMobilityCanServe) {
    OneNode heap;
    while (heap.fallbacks().total() == 0) {
        ASSERT_NE(heap.takePages(0, Mobility::movable, 0), nullptr);
        ASSERT_NE(heap.takePages(0, Mobility::unmovable, 0), nullptr);
    }
    std::size_t pages = 0;
    heap.forEachZone([&pages](const PageZone& zone) { pages += zone.pages(); });
    EXPECT_EQ(pages, PageSection::usablePages());
    for (std::size_t taken = 2; taken <= PageSection::usablePages(); ++taken) {
        ASSERT_NE(heap.takePages(0, Mobility::movable, 0), nullptr);
    }
    pages = 0;
    heap.forEachZone([&pages](const PageZone& zone) { pages += zone.pages(); });
    EXPECT_EQ(pages, 2 * PageSection::usablePages());
}

TEST(KernelPageHeap, TakesItsLeastAtOnce) {
    Pages<1, 48 * MiB> heap;
    heap.free(heap.malloc(1));
    heap.forEachZone([](const PageZone& zone) {
        EXPECT_EQ(zone.pages(), 3 * PageSection::usablePages());
        EXPECT_EQ(zone.freePages(), zone.pages());
    });
}

TEST(KernelPageHeap, ServesANodeFromItsOwnMemoryAndThenFromTheNext) {
    using Bounded = KernelPageHeap<2, 16 * MiB, FutexLock, Source>;
    Bounded heap;
    Page* const first = heap.takePages(0, Mobility::movable, 0);
    Page* const second = heap.takePages(0, Mobility::movable, 1);
    ASSERT_TRUE(first != nullptr && second != nullptr);
    EXPECT_EQ(PageSection::of(first).node, 0U);
    EXPECT_EQ(PageSection::of(second).node, 1U);
    Source::refuses = true;
    std::size_t fromSecond = 0;
    while (Page* const page = heap.takePages(0, Mobility::movable, 0)) {
        fromSecond += PageSection::of(page).node;
    }
    EXPECT_EQ(fromSecond, PageSection::usablePages() - 1);
    Source::refuses = false;
}

TEST(KernelPageHeap, ServesSeveralThreadsAtOnce) {
    Pages<2, 16 * MiB> heap;
    std::vector<std::thread> threads;
    for (std::size_t thread = 0; thread < 4; ++thread) {
        threads.emplace_back([&heap, thread] {
            std::vector<Page*> pages;
            for (std::size_t step = 0; step < 4000; ++step) {
                Page* const page =
                    heap.takePages(step % 4, static_cast<Mobility>(step % mobilities), thread % 2);
                ASSERT_NE(page, nullptr);
                std::memset(PageSection::addressOfPage(*page), static_cast<int>(thread), 64);
                pages.push_back(page);
                if (step % 3 != 0) {
                    heap.givePages(*pages.front());
                    pages.erase(pages.begin());
                }
            }
            for (Page* const page : pages) {
                heap.givePages(*page);
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    heap.forEachZone([](const PageZone& zone) { EXPECT_EQ(zone.freePages(), zone.pages()); });
}

} // namespace
} // namespace heapwright::testing
