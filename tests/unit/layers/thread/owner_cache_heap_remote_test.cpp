// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Granary's cache when one thread frees what another one allocated, or left when it ended.
#include "owner_cache_tests.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace heapwright::testing {
namespace {

/// What one thread gets and another frees is sent to it by batches, up to a limit.
TEST(OwnerCacheHeap, SendsRemoteFreesToTheOwner) {
    struct Name {};
    using Cached = typename Stack<Name>::CachedSmall;
    auto& below = Stack<Name>::Small1::theHeap();
    Cached heap;
    const std::size_t sizeClass = Classes::classFor(48);
    std::vector<void*> objects;
    constexpr std::size_t all = 1000;
    constexpr std::size_t sent = Stack<Name>::Small::mostSentBytes / 48;
    static_assert(sent < all / 2);
    for (std::size_t i = 0; i < all; ++i) {
        objects.push_back(heap.malloc(48));
    }
    heap.flush();
    std::thread([&] {
        for (std::size_t i = 0; i < all - 1; ++i) {
            ASSERT_FALSE(heap.tryFreeFast(objects[i]));
            heap.free(objects[i]);
            ASSERT_LT(below.figuresOf(sizeClass).used, all - i + limits.remoteObjects + sent);
        }
        EXPECT_GT(below.figuresOf(sizeClass).used, 1U);
    }).join();
    EXPECT_GT(below.figuresOf(sizeClass).used, 1U) << "the owner is idle";
    EXPECT_LE(below.figuresOf(sizeClass).used, 1 + sent);
    heap.free(objects.back());
    heap.flush();
    EXPECT_EQ(below.figuresOf(sizeClass).used, 0U);
}

/// The owner gets the objects back when its list is empty, and nothing from below before.
TEST(OwnerCacheHeap, CollectsObjectsThatOthersSent) {
    struct Name {};
    using Cached = typename Stack<Name>::CachedSmall;
    auto& below = Stack<Name>::Small1::theHeap();
    Cached heap;
    const std::size_t sizeClass = Classes::classFor(48);
    std::set<void*> objects;
    while (objects.size() < 64) {
        objects.insert(heap.malloc(48));
    }
    heap.flush();
    std::thread([&] {
        for (void* const object : objects) {
            heap.free(object);
        }
    }).join();
    heap.beforeFork();
    heap.afterForkInChild(); // nothing is lost in it
    const std::size_t used = below.figuresOf(sizeClass).used;
    EXPECT_EQ(used, 64U);
    for (std::size_t i = 0; i < 64; ++i) {
        void* const object = heap.malloc(48);
        EXPECT_EQ(objects.erase(object), 1U);
        EXPECT_EQ(below.figuresOf(sizeClass).used, used);
    }
}

/// A thread that ends leaves nothing in its queue, and senders find it closed.
TEST(OwnerCacheHeap, SendsNothingToAThreadThatHasEnded) {
    struct Name {};
    using Cached = typename Stack<Name>::CachedSmall;
    auto& below = Stack<Name>::Small1::theHeap();
    Cached heap;
    heap.free(heap.malloc(16)); // this thread has another heap
    const std::size_t sizeClass = Classes::classFor(48);
    std::vector<void*> objects;
    std::atomic<int> turn{0};
    std::thread owner([&] {
        for (int i = 0; i < 100; ++i) {
            objects.push_back(heap.malloc(48));
        }
        turn = 1;
        turn.notify_all();
        turn.wait(1);
    });
    turn.wait(0);
    for (std::size_t i = 0; i < 48; ++i) {
        heap.free(objects[i]); // sent while it runs
    }
    turn = 2;
    turn.notify_all();
    owner.join();
    EXPECT_EQ(below.figuresOf(sizeClass).used, 52U);
    for (std::size_t i = 48; i < 100; ++i) {
        heap.free(objects[i]);
    }
    heap.flush();
    EXPECT_EQ(below.figuresOf(sizeClass).used, 0U);
}

/// With the promise about running threads, a thread caches objects of an ended one at once.
TEST(OwnerCacheHeap, AdoptsTheSuperblocksOfAnEndedThread) {
    struct Name {};
    using Cached = typename Stack<Name, OwnHeap<64>, CleanRunningLines>::CachedSmall;
    auto& below = Stack<Name, OwnHeap<64>, CleanRunningLines>::Small1::theHeap();
    Cached heap;
    heap.free(heap.malloc(16)); // this thread has another heap
    std::vector<void*> objects;
    std::thread([&] {
        for (int i = 0; i < 20; ++i) {
            objects.push_back(heap.malloc(200));
        }
    }).join();
    const std::size_t sizeClass = Classes::classFor(200);
    EXPECT_EQ(below.figuresOf(sizeClass).held, 0U);
    EXPECT_FALSE(heap.tryFreeFast(objects[0]));
    heap.free(objects[0]);
    EXPECT_GT(below.figuresOf(sizeClass).held, 0U);
    EXPECT_EQ(below.figuresOf(sizeClass).heldGlobal, 0U);
    for (std::size_t i = 1; i < 4; ++i) {
        EXPECT_TRUE(heap.tryFreeFast(objects[i])) << i;
    }
    EXPECT_EQ(heap.malloc(200), objects[3]);
}

/// Of a running thread it adopts nothing, even if the superblock is in the global heap.
TEST(OwnerCacheHeap, AdoptsNothingOfARunningThread) {
    struct Name {};
    using Cached = typename Stack<Name, OwnHeap<64>, CleanRunningLines>::CachedSmall;
    auto& below = Stack<Name, OwnHeap<64>, CleanRunningLines>::Small1::theHeap();
    Cached heap;
    heap.free(heap.malloc(16));
    std::vector<void*> objects;
    std::atomic<int> turn{0};
    const std::size_t sizeClass = Classes::classFor(200);
    std::thread owner([&] {
        for (int i = 0; i < 1000; ++i) {
            objects.push_back(heap.malloc(200));
        }
        for (std::size_t i = 0; i < objects.size(); ++i) {
            if (i % 40 != 0) {
                heap.free(objects[i]);
            }
        }
        heap.flush();
        turn = 1;
        turn.notify_all();
        turn.wait(1);
    });
    turn.wait(0);
    EXPECT_GT(below.figuresOf(sizeClass).heldGlobal, 0U);
    for (std::size_t i = 0; i < objects.size(); i += 40) {
        EXPECT_FALSE(below.adopt(objects[i]));
    }
    turn = 2;
    turn.notify_all();
    owner.join();
}

/// A free of an ended thread's object counts once, although it could also adopt the superblock.
TEST(OwnerCacheHeap, CountsAFreeOfAnEndedThreadsObjectOnce) {
    struct Name {};
    constexpr std::size_t requests = 10;
    using Cached =
        typename Stack<Name, EarnedHeap<64, 0, requests, requests>, CleanRunningLines>::CachedSmall;
    Cached heap;
    std::vector<void*> objects;
    std::thread([&] {
        while (objects.size() < 3 * requests) {
            objects.push_back(heap.malloc(100));
        }
    }).join();
    objects.erase(objects.begin(), objects.begin() + requests); // those in the shared heap
    std::thread([&] {
        for (std::size_t noted = 1; noted < requests; ++noted) {
            heap.free(objects.back());
            objects.pop_back();
            ASSERT_EQ(heap.tryMallocFast(100), nullptr) << "after " << noted << " requests";
        }
        heap.free(objects.back());
        EXPECT_EQ(heap.tryMallocFast(100), objects.back()) << "adopted";
        for (void* const object : objects) {
            heap.free(object);
        }
    }).join();
}

/// Objects go from hand to hand, and each is whole when it comes back.
TEST(OwnerCacheHeap, FreesObjectsOfOtherThreads) {
    struct Name {};
    using Cached = typename Stack<Name>::CachedSmall;
    Cached heap;
    std::mutex mutex;
    struct Given {
        unsigned char* object;
        std::size_t size;
    };
    std::vector<Given> given;
    const auto expectWhole = [](const Given& one) {
        for (std::size_t at = 0; at < one.size; ++at) {
            ASSERT_EQ(one.object[at], static_cast<unsigned char>(one.size));
        }
    };
    std::vector<std::thread> threads;
    for (unsigned id = 0; id < 4; ++id) {
        threads.emplace_back([&, id] {
            for (unsigned i = 0; i < 20'000; ++i) {
                const std::size_t size = 16 + (id * 31 + i * 7) % 300;
                Given one{static_cast<unsigned char*>(heap.malloc(size)), size};
                std::memset(one.object, static_cast<int>(size & 0xFFU), size);
                {
                    const std::lock_guard<std::mutex> guard(mutex);
                    if (given.size() < 300) {
                        given.push_back(one);
                        one.object = nullptr;
                    } else {
                        std::swap(one, given[(i * 37U) % given.size()]);
                    }
                }
                if (one.object != nullptr) {
                    expectWhole(one);
                    heap.free(one.object);
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (const Given& one : given) {
        expectWhole(one);
        heap.free(one.object);
    }
    heap.flush();
    for (std::size_t index = 0; index < Classes::count; ++index) {
        EXPECT_EQ(Stack<Name>::Small1::theHeap().figuresOf(index).used, 0U);
    }
}

/// An object of another thread that is freed twice is found before it is sent.
TEST(OwnerCacheHeapDeathTest, AbortsOnADoubleFreeOfARemoteObject) {
    struct Name {};
    typename Stack<Name>::Cached heap;
    std::vector<void*> objects;
    for (int i = 0; i < 8; ++i) {
        objects.push_back(heap.malloc(100));
    }
    EXPECT_DEATH(std::thread([&] {
                     for (void* const object : objects) {
                         heap.free(object == objects[5] ? objects[1] : object);
                     }
                 }).join(),
                 "heapwright: free\\(\\): double free\n");
}

} // namespace
} // namespace heapwright::testing
