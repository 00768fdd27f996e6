// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include "owner_cache_tests.hpp"

#include <support/history.hpp>

#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace heapwright::testing {
namespace {

std::size_t lineOf(const void* object) {
    return addressOf(object) / 64;
}

TEST(OwnerCacheHeap, ReusesAnObjectThatItsOwnerThreadFreed) {
    struct Name {};
    typename Stack<Name>::Cached heap;
    EXPECT_EQ(heap.tryMallocFast(100), nullptr) << "the thread has not begun";
    void* const object = heap.malloc(100);
    EXPECT_EQ(heap.getSize(object), 112U);
    EXPECT_TRUE(heap.tryFreeFast(object));
    EXPECT_EQ(heap.tryMallocFast(50), nullptr);
    EXPECT_EQ(heap.tryMallocFast(112), object);
    EXPECT_TRUE(heap.tryFreeFast(object));
    EXPECT_EQ(heap.malloc(97), object);
    heap.free(object);
}

TEST(OwnerCacheHeap, ReportsTheSizeOfAnObjectThatItServesAtOnce) {
    struct Name {};
    typename Stack<Name>::Cached heap;
    std::size_t usable = 0;
    EXPECT_EQ(heap.tryMallocKnown(100, usable), nullptr) << "the thread has not begun";
    for (const std::size_t size : {1U, 16U, 97U, 512U, 513U, 2048U}) {
        void* const object = heap.malloc(size);
        heap.free(object);
        EXPECT_EQ(heap.tryMallocKnown(size, usable), object);
        EXPECT_EQ(usable, heap.getSize(object));
        heap.free(object);
    }
}

TEST(OwnerCacheHeap, RefusesImpossibleRequestsAtOnce) {
    struct Name {};
    typename Stack<Name>::Cached heap;
    void* const object = heap.malloc(16);
    for (const std::size_t size : {std::size_t{0}, 2 * KiB + 1, SIZE_MAX}) {
        std::size_t usable = 0;
        EXPECT_EQ(heap.tryMallocKnown(size, usable), nullptr);
    }
    EXPECT_EQ(heap.tryMallocFast(0), nullptr);
    EXPECT_EQ(heap.tryMallocFast(SIZE_MAX), nullptr);
    EXPECT_EQ(heap.tryMallocFast(2 * KiB + 1), nullptr);
    EXPECT_FALSE(heap.tryFreeFast(nullptr));
    void* const large = heap.malloc(100 * KiB);
    EXPECT_FALSE(heap.tryFreeFast(large));
    EXPECT_GE(heap.getSize(large), 100 * KiB);
    heap.free(large);
    heap.free(object);
}

TEST(OwnerCacheHeap, KnowsAtOnceTheSizesOfItsOwnObjectsOnly) {
    struct Name {};
    typename Stack<Name>::Cached heap;
    void* const object = heap.malloc(16);
    void* const large = heap.malloc(100 * KiB);
    EXPECT_EQ(heap.tryGetSizeFast(object), heap.getSize(object));
    EXPECT_EQ(heap.tryGetSizeFast(large), 0U);
    std::thread([&] {
        EXPECT_EQ(heap.tryGetSizeFast(object), 0U);
        EXPECT_GE(heap.getSize(object), 16U);
    }).join();
    heap.free(large);
    heap.free(object);
}

TEST(OwnerCacheHeap, TakesNoMoreThanItsLimitFromTheHeapBelow) {
    struct Name {};
    using Cached = typename Stack<Name>::CachedSmall;
    auto& below = Stack<Name>::Small1::theHeap();
    Cached heap;
    const std::size_t sizeClass = Classes::classFor(64);
    std::vector<void*> objects;
    for (int i = 0; i < 100; ++i) {
        objects.push_back(heap.malloc(64));
        ASSERT_LE(below.figuresOf(sizeClass).used, objects.size() + limits.roomFor(64));
    }
    while (!objects.empty()) {
        heap.free(objects.back());
        objects.pop_back();
        ASSERT_LE(below.figuresOf(sizeClass).used, objects.size() + limits.roomFor(64));
    }
    EXPECT_GT(below.figuresOf(sizeClass).used, 0U);
    EXPECT_TRUE(heap.flush());
    EXPECT_EQ(below.figuresOf(sizeClass).used, 0U);
}

TEST(OwnerCacheHeap, KeepsNothingThatIsAlignedInsideItsSlot) {
    struct Name {};
    typename Stack<Name>::Cached heap;
    void* const plain = heap.malloc(1000);
    void* const inside = heap.memalign(512, 500);
    EXPECT_EQ(addressOf(inside) % 512, 0U);
    EXPECT_GE(heap.getSize(inside), 500U);
    std::memset(inside, 1, heap.getSize(inside));
    heap.free(inside);
    heap.free(plain);
    heap.flush();
    void* const again = heap.malloc(1000);
    EXPECT_TRUE(heap.tryFreeFast(again)) << "it is regular again";
}

/// A thread that inherits the heap of another must not share lines with what that left.
TEST(OwnerCacheHeap, KeepsTheLinesOfTwoThreadsApart) {
    struct Name {};
    typename Stack<Name>::Cached heap;
    std::set<std::size_t> lines;
    std::vector<void*> kept;
    std::thread([&] {
        std::vector<void*> objects;
        for (int i = 0; i < 200; ++i) {
            objects.push_back(heap.malloc(16));
        }
        for (std::size_t i = 0; i < objects.size(); ++i) {
            if (i % 5 == 0) {
                kept.push_back(objects[i]);
                lines.insert(lineOf(objects[i]));
            } else {
                heap.free(objects[i]);
            }
        }
    }).join();
    std::thread([&] {
        for (int i = 0; i < 1000; ++i) {
            ASSERT_FALSE(lines.contains(lineOf(heap.malloc(16))));
        }
        heap.free(kept.back());
        kept.pop_back();
        for (int i = 0; i < 1000; ++i) {
            void* const object = heap.malloc(16);
            for (void* const other : kept) {
                ASSERT_NE(lineOf(object), lineOf(other));
            }
        }
    }).join();
}

/// Only the old object itself has no owner, not all objects in its superblock.
TEST(OwnerCacheHeap, KeepsObjectsOfCleanLinesBesideOldOnes) {
    struct Name {};
    typename Stack<Name>::Cached heap;
    std::vector<void*> old;
    std::thread([&] {
        for (int i = 0; i < 3; ++i) {
            old.push_back(heap.malloc(64));
        }
    }).join();
    std::thread([&] {
        void* const object = heap.malloc(64);
        ASSERT_EQ(addressOf(object) / (16 * KiB), addressOf(old[0]) / (16 * KiB));
        EXPECT_FALSE(heap.tryFreeFast(object)) << "the owner tag cannot say it";
        heap.free(object);
        EXPECT_EQ(heap.tryMallocFast(64), object) << "but it was kept";
        EXPECT_TRUE(heap.freeAmongOthers(object)) << "it need not even go there";
        EXPECT_EQ(heap.tryMallocFast(64), object);
        EXPECT_FALSE(heap.freeAmongOthers(old[0]));
        const auto hidden = std::exchange(heap.threadState(), {});
        EXPECT_FALSE(heap.freeAmongOthers(object)) << "in a handler that interrupted";
        heap.threadState() = hidden;
        heap.free(old[0]);
        EXPECT_NE(heap.malloc(64), old[0]) << "this one was not";
    }).join();
    std::thread([&] {
        heap.free(old[1]);
        heap.free(old[2]);
        heap.flush();
    }).join();
}

TEST(OwnerCacheHeap, SharesTheSuperblocksOfAnEndedThread) {
    struct Name {};
    using Cached = typename Stack<Name>::CachedSmall;
    auto& below = Stack<Name>::Small1::theHeap();
    Cached heap;
    const std::size_t sizeClass = Classes::classFor(256);
    heap.free(heap.malloc(16)); // this thread has another heap
    void* left = nullptr;
    std::thread([&] {
        left = heap.malloc(256);
        heap.free(heap.malloc(1024));
        EXPECT_GT(below.figuresOf(sizeClass).held, 0U);
    }).join();
    EXPECT_EQ(below.figuresOf(sizeClass).held, 0U);
    EXPECT_GT(below.figuresOf(sizeClass).heldGlobal, 0U) << "one object is live";
    EXPECT_EQ(below.figuresOf(Classes::classFor(1024)).heldGlobal, 0U) << "this one was empty";
    EXPECT_EQ(unitOf<16 * KiB>(heap.malloc(256)), unitOf<16 * KiB>(left));
}

TEST(OwnerCacheHeap, ServesThreadsWithoutAHeap) {
    struct Name {};
    using Cached = typename Stack<Name, OwnHeap<1>>::CachedSmall;
    auto& below = Stack<Name, OwnHeap<1>>::Small1::theHeap();
    Cached heap;
    heap.free(heap.malloc(100)); // this thread may have the only one
    std::thread([&] {
        void* const object = heap.malloc(100);
        ASSERT_NE(object, nullptr);
        EXPECT_EQ(heap.tryMallocFast(100), nullptr);
        EXPECT_FALSE(heap.tryFreeFast(object));
        heap.free(object);
        EXPECT_EQ(heap.tryMallocFast(100), nullptr);
    }).join();
    heap.flush();
    EXPECT_EQ(below.figuresOf(Classes::classFor(100)).used, 0U);
}

/// A thread that allocates little has no cache and no superblock.
TEST(OwnerCacheHeap, HasACacheOnlyWhenTheThreadHasEarnedIt) {
    struct Name {};
    constexpr std::uint32_t requests = 10;
    using Stack = testing::Stack<Name, EarnedHeap<64, 0, requests, requests>>;
    using Cached = typename Stack::CachedSmall;
    auto& below = Stack::Small1::theHeap();
    Cached heap;
    std::thread([&] {
        for (std::uint32_t noted = 2; noted < requests; noted += 2) {
            void* const object = heap.malloc(100);
            EXPECT_EQ(below.figuresOf(Classes::classFor(128)).used, 1U) << "a whole line";
            heap.free(object);
            EXPECT_EQ(heap.tryMallocFast(100), nullptr);
        }
        EXPECT_EQ(below.figuresOf(Classes::classFor(128)).used, 0U);
        void* const shared = heap.malloc(100); // the last but one
        void* const own = heap.malloc(100);
        EXPECT_TRUE(heap.tryFreeFast(own));
        EXPECT_EQ(heap.tryMallocFast(100), own);
        EXPECT_FALSE(heap.tryFreeFast(shared));
        heap.free(shared);
        heap.free(own);
    }).join();
    for (std::size_t index = 0; index < Classes::count; ++index) {
        EXPECT_EQ(below.figuresOf(index).used, 0U);
    }
}

TEST(OwnerCacheHeap, HasNoCacheAnyMoreAfterItHasLeft) {
    struct Name {};
    using Cached = typename Stack<Name>::CachedSmall;
    auto& below = Stack<Name>::Small1::theHeap();
    Cached heap;
    std::thread([&] {
        void* const object = heap.malloc(100);
        heap.free(object);
        Cached::leave();
        EXPECT_EQ(below.figuresOf(Classes::classFor(100)).used, 0U);
        void* const after = heap.malloc(100);
        EXPECT_EQ(below.figuresOf(Classes::classFor(100)).used, 1U);
        heap.free(after);
        EXPECT_EQ(heap.tryMallocFast(100), nullptr);
    }).join();
    EXPECT_EQ(below.figuresOf(Classes::classFor(100)).used, 0U);
}

TEST(OwnerCacheHeap, ServesThreadsAtOnce) {
    struct Name {};
    using Cached = typename Stack<Name>::Cached;
    Cached heap;
    std::vector<std::thread> threads;
    for (std::uint32_t seed = 0; seed < 4; ++seed) {
        threads.emplace_back([&heap, seed] { runHistory(heap, seed, {4000, 150, 1, 3000, true}); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
}

TEST(OwnerCacheHeap, GoesOnAfterAFork) {
    struct Name {};
    typename Stack<Name>::Cached heap;
    void* const object = heap.malloc(100);
    heap.free(object);
    heap.beforeFork();
    heap.afterForkInParent();
    EXPECT_EQ(heap.malloc(100), object);
    heap.free(object);
    heap.beforeFork();
    heap.afterForkInChild();
    EXPECT_EQ(heap.malloc(100), object) << "its own list is as it was";
}

TEST(OwnerCacheHeapDeathTest, AbortsOnAWrongFreeInTheHeapBelow) {
    struct Name {};
    typename Stack<Name>::Cached heap;
    void* const object = heap.malloc(100);
    [[maybe_unused]] void* const other = heap.malloc(100); // so that the superblock stays
    EXPECT_DEATH(
        {
            heap.free(forward(object, 16));
            heap.flush();
        },
        "heapwright: free\\(\\): invalid pointer\n");
    EXPECT_DEATH(
        {
            heap.free(object);
            heap.flush();
            heap.free(object);
            heap.flush();
        },
        "heapwright: free\\(\\): double free\n");
}

/// A seldom used class has no superblock of its own.
TEST(OwnerCacheHeap, ServesFewObjectsOfManyClassesFromCoarserClasses) {
    struct Name {};
    auto& below = Stack<Name>::Small1::theHeap();
    typename Stack<Name>::Coarse heap;
    const auto superblocksOf = [&below](std::size_t size) {
        return below.figuresOf(Classes::classFor(size)).held;
    };
    std::vector<void*> objects;
    for (std::size_t size = 272; size <= 512; size += 16) {
        objects.push_back(heap.malloc(size));
        EXPECT_GE(heap.getSize(objects.back()), size);
        EXPECT_LT(heap.getSize(objects.back()), size + size / 2);
    }
    for (std::size_t size = 272; size <= 512; size += 16) {
        EXPECT_EQ(superblocksOf(size) != 0, size == 384 || size == 512) << size;
    }
    for (void* const object : objects) {
        heap.free(object);
    }
}

TEST(OwnerCacheHeap, ServesAClassThatIsUsedOftenFromItself) {
    struct Name {};
    typename Stack<Name>::Coarse heap;
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(heap.getSize(heap.malloc(272)), 384U);
    }
    for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(heap.getSize(heap.malloc(272)), 272U);
    }
}

TEST(OwnerCacheHeapDeathTest, FindsADoubleFreeInARowBeforeItIsUsed) {
    struct Name {};
    typename Stack<Name>::Cached heap;
    void* const object = heap.malloc(100);
    void* const other = heap.malloc(100);
    void* const elsewhere = heap.malloc(500);
    const char* const words = "heapwright: free\\(\\): double free\n";
    EXPECT_DEATH( // by the next request of the class
        {
            heap.free(object);
            heap.free(object);
            static_cast<void>(heap.malloc(100));
        },
        words);
    EXPECT_DEATH( // below other freed objects
        {
            heap.free(object);
            heap.free(object);
            heap.free(other);
            static_cast<void>(heap.malloc(100));
            static_cast<void>(heap.malloc(100));
        },
        words);
    EXPECT_DEATH( // by a flush
        {
            heap.free(object);
            heap.free(object);
            heap.flush();
        },
        words);
    heap.free(object); // other classes, and the same address later, are not affected
    heap.free(elsewhere);
    EXPECT_EQ(heap.malloc(500), elsewhere);
    EXPECT_EQ(heap.malloc(100), object);
    heap.free(object);
    EXPECT_EQ(heap.malloc(100), object);
}

} // namespace
} // namespace heapwright::testing
