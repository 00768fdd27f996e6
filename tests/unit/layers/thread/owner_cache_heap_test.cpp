// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/heap.hpp>

#include <support/history.hpp>

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

using Classes = LinearSlots<512, 512, 2 * KiB>;
constexpr auto limits = CacheLimits{.perClassBytes = 1 * KiB,
                                    .perClassObjects = 16,
                                    .refillBytes = 512,
                                    .batchObjects = 8,
                                    .remoteObjects = 8,
                                    .remoteBytes = 4 * KiB};
using Rule = Verified<Emptiness<1, 4, 1>>;

/// A heap of its own for each name, so that each test has one.
template <class Name, class Selector = OwnHeap<64>, class Lines = CleanLines>
struct Stack {
    using Blocks = AlignedBlockHeap<16 * KiB, 1 * MiB, MmapHeap>;
    using Small = HoardHeap<Classes, Selector, Rule, Lines, Blocks>;
    using Shared = UniqueHeap<Name, SplitHeap<2 * KiB, Small, CheckedHeap<MmapHeap>>>;
    using Small1 = UniqueHeap<Name, Small>;
    using Cached = OwnerCacheHeap<Classes, limits, PlainFreelist, Shared>;
    using CachedSmall = OwnerCacheHeap<Classes, limits, PlainFreelist, Small1>;
    using Coarse = OwnerCacheHeap<Classes, limits.withCoarseRefills(3), PlainFreelist, Small1>;
};

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

TEST(OwnerCacheHeap, RefusesAtOnceWhatItCannotDo) {
    struct Name {};
    typename Stack<Name>::Cached heap;
    void* const object = heap.malloc(16);
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
TEST(OwnerCacheHeap, CollectsWhatOthersHaveSent) {
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
TEST(OwnerCacheHeap, KeepsWhatCameFromCleanLinesBesideOldObjects) {
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
    using Stack = testing::Stack<Name, EarnedHeap<64, 0, requests>>;
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

/// A free of an ended thread's object counts once, although it could also adopt the superblock.
TEST(OwnerCacheHeap, CountsAFreeOfAnEndedThreadsObjectOnce) {
    struct Name {};
    constexpr std::size_t requests = 10;
    using Cached =
        typename Stack<Name, EarnedHeap<64, 0, requests>, CleanRunningLines>::CachedSmall;
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
