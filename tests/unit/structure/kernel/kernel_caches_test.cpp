// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/kernel/kernel_caches.hpp>

#include <heapwright/layers/kernel/slub_heap.hpp>
#include <support/kernel_pages.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace heapwright::testing {
namespace {

/// Pages that let something happen at each request.
class WatchedPages : public KernelPages {
public:
    Page* takePages(std::size_t order, Mobility mobility, std::size_t node) noexcept {
        if (const auto what = std::exchange(onTake, nullptr)) {
            what();
        }
        return KernelPages::takePages(order, mobility, node);
    }

    static inline std::function<void()> onTake;
};

using Caches = SlubHeap<FourProcessors, FutexLock, WatchedPages>;

class KernelCachesTest : public ::testing::Test {
protected:
    void SetUp() override {
        FourProcessors::bePresent(4);
        FourProcessors::beOn(0);
    }

    Caches heap;
};

TEST_F(KernelCachesTest, MergeCachesOfEqualSlots) {
    auto* const one = heap.createCache({"one", 77});
    EXPECT_EQ(heap.createCache({"other", 80}), one);
    EXPECT_EQ(heap.createCache({"less aligned", 73, 8}), one);
    EXPECT_NE(heap.createCache({"a word less", 72, 8}), one);
    EXPECT_NE(heap.createCache({"more aligned", 80, 32}), one);
    EXPECT_NE(heap.createCache(Constructed::traits(80)), one);
    EXPECT_TRUE(heap.destroyCache(*one));
    EXPECT_TRUE(heap.destroyCache(*one));
    void* const object = heap.take(*one);
    EXPECT_FALSE(heap.destroyCache(*one)) << "the last one, and an object is live";
    heap.put(*one, object);
    EXPECT_TRUE(heap.destroyCache(*one));
}

TEST_F(KernelCachesTest, ServeLargeRequestsWithBlocksOfPages) {
    void* const object = heap.malloc(3 * bytesOfPage);
    EXPECT_EQ(heap.getSize(object), 4 * bytesOfPage);
    std::size_t used = 0;
    heap.forEachZone([&used](const PageZone& zone) { used += zone.pages() - zone.freePages(); });
    EXPECT_EQ(used, 4U);
    heap.free(object);
    EXPECT_EQ(heap.fallbacks().total(), 1U) << "all pages were movable";
}

TEST_F(KernelCachesTest, ListTheCachesThatHaveSlabsUnderTheirNames) {
    heap.free(heap.malloc(100));
    auto* const cache = heap.createCache({"inode", 600});
    heap.put(*cache, heap.take(*cache));
    auto* const unused = heap.createCache({"unused", 700});
    std::set<std::string> names;
    heap.forEachCache([&names](const CacheFigures& figures) { names.insert(figures.name); });
    EXPECT_EQ(names, (std::set<std::string>{"kmalloc-128", "inode"}));
    EXPECT_TRUE(heap.destroyCache(*unused));
}

TEST_F(KernelCachesTest, ForkInAHandlerThatInterruptedARequest) {
    std::thread([this] { // so that there are several
        auto* const cache = heap.createCache({"inode", 600});
        WatchedPages::onTake = [this] {
            heap.beforeFork();
            heap.afterForkInParent();
        };
        void* const object = heap.take(*cache); // holds its processor's lock then
        ASSERT_NE(object, nullptr);
        WatchedPages::onTake = [this] {
            heap.beforeFork();
            heap.afterForkInChild();
        };
        auto* const other = heap.createCache({"other", 900}); // and here that of all caches
        heap.put(*cache, object);
        EXPECT_TRUE(heap.destroyCache(*cache));
        EXPECT_TRUE(heap.destroyCache(*other));
    })
        .join();
}

TEST_F(KernelCachesTest, ForkSucceedsWhileALockHolderWaitsForPages) {
    auto* const cache = heap.createCache({"inode", 600});
    std::atomic<bool> waits{false};
    std::atomic<bool> goOn{false};
    std::atomic<bool> served{false};
    std::thread other([&] {
        FourProcessors::beOn(1);
        WatchedPages::onTake = [&] {
            waits = true;
            waits.notify_one();
            goOn.wait(false);
        };
        EXPECT_NE(heap.take(*cache), nullptr);
        served = true;
    });
    waits.wait(false);
    heap.beforeFork();
    goOn = true;
    goOn.notify_one();
    EXPECT_FALSE(served);
    heap.afterForkInParent();
    other.join();
    EXPECT_TRUE(served);
}

TEST(ZonedHeap, IsAHeapOfPagesInZones) {
    EXPECT_TRUE(ZonedHeap<KernelPages>);
    EXPECT_FALSE(ZonedHeap<CountedPages>);
}

} // namespace
} // namespace heapwright::testing
