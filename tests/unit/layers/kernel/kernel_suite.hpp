// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the four heaps of the kernel have in common: caches, and objects of any size.
#pragma once

#include <heapwright/structure/thread/processor_selector.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/history.hpp>
#include <support/kernel_pages.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <set>
#include <string_view>
#include <thread>
#include <vector>

namespace heapwright::testing {

/// The figures of a cache, by its name and the size of its objects.
template <class H>
CacheFigures figuresOf(H& heap, std::string_view name, std::size_t size) {
    CacheFigures found;
    heap.forEachCache([&](const CacheFigures& figures) {
        if (figures.name == name && figures.size == size) {
            found = figures;
        }
    });
    return found;
}

template <class H>
std::size_t mappedBy(H& heap) {
    MemoryUsage usage;
    heap.measure(usage);
    return usage.mapped;
}

template <class H>
class KernelHeap : public ::testing::Test {
protected:
    void SetUp() override {
        FourProcessors::bePresent(FourProcessors::count);
        FourProcessors::beOn(0);
    }
    H heap;
};

TYPED_TEST_SUITE_P(KernelHeap);

TYPED_TEST_P(KernelHeap, AgreesWithTheModelOverRandomHistories) {
    for (const std::uint32_t seed : {1U, 2U, 20261122U}) {
        TypeParam fresh;
        runHistory(fresh, seed, {3000, 200, 1, 9000, false});
    }
}

TYPED_TEST_P(KernelHeap, GivesPowersOfTwoAlignedToThemselves) {
    for (std::size_t size = 16; size <= 4096; size *= 2) {
        for (int each = 0; each < 20; ++each) {
            void* const object = this->heap.malloc(size);
            ASSERT_NE(object, nullptr);
            EXPECT_EQ(addressOf(object) % size, 0U) << size;
            std::memset(object, each, size);
        }
    }
}

TYPED_TEST_P(KernelHeap, HonoursAlignments) {
    for (std::size_t align = 16; align <= 64 * KiB; align *= 2) {
        for (const std::size_t size : {std::size_t{1}, align - 1, align + 1, 3 * align}) {
            void* const object = this->heap.memalign(align, size);
            ASSERT_NE(object, nullptr);
            EXPECT_EQ(addressOf(object) % align, 0U);
            EXPECT_GE(this->heap.getSize(object), size);
            this->heap.free(object);
        }
    }
}

TYPED_TEST_P(KernelHeap, AnswersNullBeyondABlockOfPages) {
    void* const object = this->heap.malloc(4 * MiB);
    ASSERT_NE(object, nullptr);
    this->heap.free(object);
    EXPECT_EQ(this->heap.malloc(4 * MiB + 1), nullptr);
    EXPECT_EQ(this->heap.malloc(SIZE_MAX), nullptr);
    EXPECT_EQ(this->heap.memalign(4096, SIZE_MAX - 15), nullptr);
    EXPECT_EQ(this->heap.memalign(1 * MiB, SIZE_MAX / 2 + 2), nullptr);
}

TYPED_TEST_P(KernelHeap, GivesAllMemoryBack) {
    std::vector<void*> objects;
    for (std::size_t size = 1; size < 3000; size += 7) {
        objects.push_back(this->heap.malloc(size));
    }
    EXPECT_GT(mappedBy(this->heap), 0U);
    for (void* const object : objects) {
        this->heap.free(object);
    }
    this->heap.flush();
    EXPECT_EQ(mappedBy(this->heap), 0U);
}

TYPED_TEST_P(KernelHeap, KeepsObjectsOfACacheApartAndWhole) {
    auto* const cache = this->heap.createCache({"inode", 600, 64});
    ASSERT_NE(cache, nullptr);
    std::mt19937 random(5);
    std::vector<unsigned char*> objects;
    for (int step = 0; step < 20'000; ++step) {
        FourProcessors::beOn(random() % 4);
        if (random() % 2 == 0 || objects.empty()) {
            auto* const object = static_cast<unsigned char*>(this->heap.take(*cache));
            ASSERT_NE(object, nullptr);
            ASSERT_EQ(addressOf(object) % 64, 0U);
            std::memset(object, static_cast<int>(addressOf(object) >> 6U), 600);
            objects.push_back(object);
        } else {
            std::swap(objects[random() % objects.size()], objects.back());
            unsigned char* const object = objects.back();
            for (std::size_t at = 0; at < 600; ++at) {
                ASSERT_EQ(object[at], static_cast<unsigned char>(addressOf(object) >> 6U));
            }
            this->heap.put(*cache, object);
            objects.pop_back();
        }
    }
    EXPECT_EQ(figuresOf(this->heap, "inode", 600).live, objects.size());
    EXPECT_FALSE(this->heap.destroyCache(*cache));
    for (unsigned char* const object : objects) {
        this->heap.put(*cache, object);
    }
    EXPECT_TRUE(this->heap.destroyCache(*cache));
    this->heap.flush();
    EXPECT_EQ(mappedBy(this->heap), 0U);
}

TYPED_TEST_P(KernelHeap, HandsOutConstructedObjectsAndDestroysEachOnce) {
    auto* const cache = this->heap.createCache(Constructed::traits(200));
    ASSERT_NE(cache, nullptr);
    std::mt19937 random(9);
    std::vector<Constructed*> objects;
    for (int step = 0; step < 8'000; ++step) {
        FourProcessors::beOn(random() % 4);
        if (random() % 2 == 0 || objects.empty()) {
            auto* const object = static_cast<Constructed*>(this->heap.take(*cache));
            ASSERT_EQ(object->word, Constructed::mark);
            ++object->uses;
            objects.push_back(object);
        } else {
            std::swap(objects[random() % objects.size()], objects.back());
            this->heap.put(*cache, objects.back());
            objects.pop_back();
        }
    }
    for (Constructed* const object : objects) {
        this->heap.put(*cache, object);
    }
    EXPECT_TRUE(this->heap.destroyCache(*cache));
    EXPECT_GT(Constructed::constructed, 0U);
    EXPECT_EQ(Constructed::destroyed, Constructed::constructed);
}

TYPED_TEST_P(KernelHeap, ServesThreadsThatFreeWhatOthersTook) {
    constexpr std::size_t threads = 4;
    constexpr std::size_t each = 3000;
    auto* const cache = this->heap.createCache({"message", 120});
    std::vector<std::vector<void*>> handed(threads, std::vector<void*>(each));
    for (int round = 0; round < 3; ++round) {
        for (const bool taking : {true, false}) {
            std::vector<std::thread> crew;
            for (std::size_t thread = 0; thread < threads; ++thread) {
                crew.emplace_back([&, thread] {
                    FourProcessors::beOn(thread);
                    for (std::size_t nth = 0; nth < each; ++nth) {
                        if (taking) {
                            handed[thread][nth] = this->heap.take(*cache);
                            std::memset(handed[thread][nth], static_cast<int>(thread), 120);
                        } else {
                            void* const object = handed[(thread + 1) % threads][nth];
                            EXPECT_EQ(*static_cast<unsigned char*>(object), (thread + 1) % threads);
                            this->heap.put(*cache, object);
                        }
                    }
                });
            }
            for (std::thread& thread : crew) {
                thread.join();
            }
            if (taking) {
                std::set<void*> all;
                for (const auto& objects : handed) {
                    all.insert(objects.begin(), objects.end());
                }
                ASSERT_EQ(all.size(), threads * each);
            }
        }
    }
    EXPECT_EQ(figuresOf(this->heap, "message", 120).live, 0U);
    EXPECT_TRUE(this->heap.destroyCache(*cache));
}

TYPED_TEST_P(KernelHeap, GoesOnAfterAFork) {
    void* const object = this->heap.malloc(100);
    this->heap.beforeFork();
    this->heap.afterForkInChild();
    this->heap.free(object);
    this->heap.beforeFork();
    this->heap.afterForkInParent();
    EXPECT_NE(this->heap.malloc(100), nullptr);
}

REGISTER_TYPED_TEST_SUITE_P(KernelHeap, AgreesWithTheModelOverRandomHistories,
                            GivesPowersOfTwoAlignedToThemselves, HonoursAlignments,
                            AnswersNullBeyondABlockOfPages, GivesAllMemoryBack,
                            KeepsObjectsOfACacheApartAndWhole,
                            HandsOutConstructedObjectsAndDestroysEachOnce,
                            ServesThreadsThatFreeWhatOthersTook, GoesOnAfterAFork);

} // namespace heapwright::testing
