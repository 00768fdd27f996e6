// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/aligned_block_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/thread/hoard_heap.hpp>

#include <support/counting_heap.hpp>
#include <support/history.hpp>

#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace heapwright::testing {
namespace {

using Classes = GeometricSlots<6, 5, 16, 2 * KiB>;
using Blocks = AlignedBlockHeap<4 * KiB, 1 * MiB, MmapHeap>;
using Rule = Verified<Emptiness<1, 4, 2>>;

template <class Selector, class Lines>
using Hoard = HoardHeap<Classes, Selector, Rule, Lines, Blocks>;

template <class H>
class HoardHeapTest : public ::testing::Test {};
using Kinds =
    ::testing::Types<Hoard<ByThread<1>, AnyLines>, Hoard<ByThread<3>, AnyLines>,
                     Hoard<OwnHeap<64>, AnyLines>, Hoard<OwnHeap<2>, CleanLines>,
                     Hoard<OwnHeap<64>, CleanRunningLines>, Hoard<PerProcessor<128>, CleanLines>,
                     HoardHeap<Classes, OwnHeap<64>, Verified<Never>, AnyLines, Blocks>>;
TYPED_TEST_SUITE(HoardHeapTest, Kinds);

/// Each thread has its own history, and all end with nothing.
TYPED_TEST(HoardHeapTest, ServesThreadsAtOnce) {
    TypeParam heap;
    std::vector<std::thread> threads;
    for (std::uint32_t seed = 0; seed < 4; ++seed) {
        threads.emplace_back([&heap, seed] { runHistory(heap, seed, {1500, 150, 1, 1500, true}); });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (std::size_t index = 0; index < Classes::count; ++index) {
        EXPECT_EQ(heap.figuresOf(index).used, 0U);
    }
    heap.trim(0);
    MemoryUsage usage;
    heap.measure(usage);
    EXPECT_LE(usage.mapped, 2 * MiB + 64 * KiB) << "what the heaps themselves are in";
}

/// Objects go from hand to hand: what one thread gets another frees, while superblocks move.
TYPED_TEST(HoardHeapTest, FreesObjectsOfOtherThreads) {
    TypeParam heap;
    std::mutex mutex;
    std::vector<void*> given;
    std::vector<std::thread> threads;
    for (unsigned id = 0; id < 4; ++id) {
        threads.emplace_back([&, id] {
            for (unsigned i = 0; i < 2000; ++i) {
                const std::size_t size = 16 + (id * 31 + i * 7) % 300;
                void* const mine = heap.malloc(size);
                std::memset(mine, 1, size);
                void* other = mine;
                {
                    const std::lock_guard<std::mutex> guard(mutex);
                    if (given.size() < 300) {
                        given.push_back(mine);
                        other = nullptr;
                    } else {
                        std::swap(other, given[(i * 37U) % given.size()]);
                    }
                }
                if (other != nullptr) {
                    heap.free(other);
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    for (void* const object : given) {
        heap.free(object);
    }
    for (std::size_t index = 0; index < Classes::count; ++index) {
        EXPECT_EQ(heap.figuresOf(index).used, 0U);
    }
}

TEST(HoardHeap, GivesAndTakesInBatches) {
    Hoard<ByThread<2>, AnyLines> heap;
    EXPECT_EQ(heap.mallocBatch(2 * KiB + 1, 4), nullptr);
    std::set<void*> seen;
    ObjectLink* const chain = heap.mallocBatch(100, 200);
    for (ObjectLink* link = chain; link != nullptr; link = link->next) {
        EXPECT_GE(heap.getSize(link), 100U);
        seen.insert(link);
    }
    EXPECT_EQ(seen.size(), 200U);
    heap.freeBatch(chain);
    EXPECT_EQ(heap.figuresOf(Classes::classFor(100)).used, 0U);
    heap.freeBatch(nullptr);
}

TEST(HoardHeap, SaysHowManyCameAndTakesBackSoMany) {
    Hoard<OwnHeap<64>, CleanLines> heap;
    std::size_t number = 3;
    EXPECT_EQ(heap.mallocOwned(2 * KiB + 1, number, nullptr), nullptr);
    EXPECT_EQ(number, 0U);
    number = 150;
    ObjectLink* chain = heap.mallocOwned(100, number, nullptr);
    EXPECT_EQ(number, 150U);
    const std::size_t sizeClass = Classes::classFor(100);
    chain = heap.freeOwned(chain, 60, nullptr);
    EXPECT_EQ(heap.figuresOf(sizeClass).used, 90U);
    ASSERT_NE(chain, nullptr);
    EXPECT_EQ(heap.freeOwned(chain, 0, nullptr), chain);
    EXPECT_EQ(heap.freeOwned(chain, SIZE_MAX, nullptr), nullptr);
    EXPECT_EQ(heap.figuresOf(sizeClass).used, 0U);
}

/// However the owners follow each other in a chain, each is locked once.
TEST(HoardHeap, TakesBackUnderOneLockForEachOwner) {
    HoardHeap<Classes, OwnHeap<64>, Counted<Rule>, CleanLines, Blocks> heap;
    constexpr std::size_t count = 20;
    ObjectLink* others = nullptr;
    std::latch ready(1);
    std::latch done(1);
    std::thread owner([&] {
        std::size_t number = count;
        others = heap.mallocOwned(64, number, nullptr);
        ready.count_down();
        done.wait(); // for when it ends its heap is the next thread's
    });
    ready.wait();
    std::size_t number = count;
    ObjectLink* const mine = heap.mallocOwned(64, number, nullptr);
    EXPECT_EQ(number, count);
    ObjectLink* chain = nullptr;
    for (ObjectLink *a = mine, *b = others; a != nullptr;) { // one of each, by turns
        ObjectLink* const nextA = std::exchange(a->next, b);
        ObjectLink* const nextB = std::exchange(b->next, chain);
        chain = a;
        a = nextA;
        b = nextB;
    }
    HeapSnapshot before;
    heap.inspect(before);
    EXPECT_EQ(heap.freeOwned(chain, SIZE_MAX, nullptr), nullptr);
    HeapSnapshot after;
    heap.inspect(after);
    EXPECT_EQ(after.heapLocks.takes - before.heapLocks.takes, 2U);
    EXPECT_EQ(heap.figuresOf(Classes::classFor(64)).used, 0U);
    done.count_down();
    owner.join();
}

TEST(HoardHeap, ServesWithoutMemoryForAnotherHeap) {
    // A chunk has 255 blocks: one heap's worth more than is refused.
    using Counted = HoardHeap<Classes, ByThread<64>, Rule, AnyLines,
                              AlignedBlockHeap<4 * KiB, 1 * MiB, CountingHeap>>;
    for (const std::size_t refuse : {std::size_t{1}, std::size_t{2}, Ledger::all}) {
        Ledger::begin(refuse);
        {
            Counted heap;
            std::thread([&] {
                std::vector<void*> objects;
                for (int i = 0; i < 300; ++i) {
                    if (void* const object = heap.malloc(2 * KiB)) {
                        objects.push_back(object);
                    }
                }
                EXPECT_GE(objects.size(), refuse == Ledger::all ? 0U : 299U);
                for (void* const object : objects) {
                    heap.free(object);
                }
            }).join();
        }
        EXPECT_TRUE(Ledger::the().live.empty());
        EXPECT_EQ(Ledger::the().wrongFrees, 0U);
    }
}

/// A thread that comes after another finds its memory.
TEST(HoardHeap, NewThreadInheritsTheHeapOfAnEndedThread) {
    HoardHeap<Classes, OwnHeap<64>, Verified<Never>, AnyLines, Blocks> heap;
    void* before = nullptr;
    std::thread([&] {
        before = heap.malloc(100);
        heap.free(before);
    }).join();
    void* after = nullptr;
    std::thread([&] { after = heap.malloc(100); }).join();
    EXPECT_EQ(after, before);
}

/// … but no line on which something of the dead thread's is live.
TEST(HoardHeap, KeepsTheLinesOfTwoTenantsApart) {
    Hoard<OwnHeap<64>, CleanLines> heap;
    std::vector<void*> before;
    std::thread([&] {
        for (int i = 0; i < 40; ++i) {
            before.push_back(heap.malloc(16));
        }
        for (std::size_t i = 1; i < before.size(); i += 2) {
            heap.free(before[i]);
        }
    }).join();
    std::vector<void*> after;
    std::thread([&] {
        for (int i = 0; i < 40; ++i) {
            after.push_back(heap.malloc(16));
        }
    }).join();
    EXPECT_EQ(addressOf(after[0]) / (4 * KiB), addressOf(before[0]) / (4 * KiB)) << "inherited";
    for (void* const object : after) {
        for (std::size_t i = 0; i < before.size(); i += 2) {
            ASSERT_NE(addressOf(object) / 64, addressOf(before[i]) / 64);
        }
    }
}

/// Two threads that share the first heap get no parts of one line.
TEST(HoardHeap, KeepsTheLinesApartInASharedHeap) {
    Hoard<EarnedHeap<64, 0, 1000, 1000>, CleanLines> heap;
    std::set<Address> lines;
    for (int thread = 0; thread < 2; ++thread) {
        std::thread([&] {
            for (const std::size_t size : {1U, 16U, 40U, 64U, 100U, 500U}) {
                void* const object = heap.malloc(size);
                void* const aligned = heap.memalign(32, size);
                EXPECT_EQ(addressOf(aligned) % 32, 0U);
                for (const auto& [at, bytes] : {std::pair{object, size}, {aligned, size}}) {
                    EXPECT_GE(heap.getSize(at), bytes);
                    const Address last = (addressOf(at) + bytes - 1) / 64;
                    for (Address line = addressOf(at) / 64; line <= last; ++line) {
                        EXPECT_TRUE(lines.insert(line).second) << "of " << bytes << " bytes";
                    }
                }
            }
        }).join();
    }
}

TEST(HoardHeap, StartsAfreshAfterClear) {
    Hoard<OwnHeap<8>, AnyLines> heap;
    for (int round = 0; round < 3; ++round) {
        for (int i = 0; i < 500; ++i) {
            ASSERT_NE(heap.malloc(300), nullptr);
        }
        heap.clear();
        MemoryUsage usage;
        heap.measure(usage);
        EXPECT_EQ(usage.mapped, 0U);
    }
}

TEST(HoardHeap, IsHeldOverAFork) {
    Hoard<ByThread<4>, AnyLines> heap;
    void* const object = heap.malloc(100);
    heap.beforeFork();
    heap.afterForkInParent();
    heap.free(object);
    heap.beforeFork();
    heap.afterForkInChild();
    EXPECT_EQ(heap.malloc(100), object);
}

/// A concurrent heap of blocks, during each of whose calls another thread forks. That thread waits
/// for ever if the caller holds a lock.
class ForkingBlocks {
public:
    static constexpr std::size_t blockSize = Blocks::blockSize;
    static constexpr std::size_t alignment = Blocks::alignment;
    static constexpr bool concurrent = true;
    using Below = Heaps<>;

    static inline std::function<void()> fork;
    static inline std::size_t calls = 0;

    void* malloc(std::size_t size) noexcept {
        forkBeside();
        return blocks_.malloc(size);
    }
    void free(void* block) noexcept {
        forkBeside();
        blocks_.free(block);
    }
    bool trim(std::size_t pad) noexcept {
        forkBeside();
        return blocks_.trim(pad);
    }
    bool owns(const void* object) noexcept { return blocks_.owns(object); }

private:
    static void forkBeside() {
        ++calls;
        std::thread(fork).join();
    }
    Blocks blocks_;
};

TEST(HoardHeap, HoldsNoLockDuringACallOfAConcurrentHeapBelow) {
    HoardHeap<Classes, OwnHeap<64>, Rule, AnyLines, ForkingBlocks> heap;
    ForkingBlocks::fork = [&heap] {
        heap.beforeFork();
        heap.afterForkInParent();
    };
    std::vector<void*> objects;
    std::thread([&] { // a further heap is created for this thread
        for (int i = 0; i < 200; ++i) {
            objects.push_back(heap.malloc(100));
        }
    })
        .join();
    const std::size_t created = std::exchange(ForkingBlocks::calls, 0);
    EXPECT_GE(created, 2U);
    for (void* const object : objects) {
        heap.free(object);
    }
    heap.trim(0);
    EXPECT_GE(ForkingBlocks::calls, 2U) << "a superblock and the memory below are returned";
}

/// A walk shows the objects of all threads, and of the global heap; the figures agree with it.
TEST(HoardHeapTest, ShowsAllObjectsAndTheirFigures) {
    using Shown = HoardHeap<Classes, OwnHeap<64>, Counted<Rule>, CleanLines, Blocks>;
    Shown heap;
    std::set<void*> live;
    std::mutex mutex;
    std::vector<std::thread> threads;
    for (std::size_t id = 0; id < 3; ++id) {
        threads.emplace_back([&, id] {
            for (std::size_t i = 0; i < 2000; ++i) {
                void* const object = heap.malloc(16 + (i * 37 + id) % 1000);
                const std::lock_guard hold(mutex);
                if (i % 4 == 0) {
                    live.insert(object);
                } else {
                    heap.free(object);
                }
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    std::set<void*> seen;
    std::size_t bytes = 0;
    const auto collect = [&](const LiveObject& object) {
        EXPECT_TRUE(seen.insert(object.address).second);
        EXPECT_EQ(object.size, heap.getSize(object.address));
        EXPECT_EQ(object.size, heap.sizeOfClass(object.sizeClass));
        EXPECT_FALSE(object.cached);
        bytes += object.size;
    };
    heap.walk(ObjectVisitor(collect));
    EXPECT_EQ(seen, live);

    HeapSnapshot snapshot;
    heap.inspect(snapshot);
    const HeapSnapshot::Totals totals = snapshot.totals();
    EXPECT_EQ(totals.liveObjects, live.size());
    EXPECT_EQ(totals.liveBytes, bytes);
    EXPECT_EQ(snapshot.blockBytes, 4 * KiB);
    EXPECT_GE(snapshot.heaps, 2U); // threads that do not overlap have one
    EXPECT_GE(snapshot.heapLocks.takes, 3U * 2000U * 2U);
    EXPECT_GE(snapshot.globalLock.takes, 1U);

    for (void* const object : live) {
        heap.free(object);
    }
    heap.flush();
    snapshot = {};
    heap.inspect(snapshot);
    std::uint64_t blocks = 0;
    std::uint64_t returned = 0;
    for (const HeapSnapshot::SizeClass& each : snapshot.classes) {
        EXPECT_EQ(each.live(), 0U);
        blocks += each.blocks;
        returned += each.returned;
    }
    EXPECT_EQ(blocks, 0U);
    EXPECT_GE(returned, snapshot.classCount / 2);
}

TEST(HoardHeapTest, MarksCachedObjects) {
    Hoard<OwnHeap<64>, CleanLines> heap;
    void* const kept = heap.malloc(100);
    void* const live = heap.malloc(100);
    int nothing = 0;
    EXPECT_TRUE(heap.mark(kept));
    EXPECT_FALSE(heap.mark(kept));
    EXPECT_FALSE(heap.mark(&nothing));
    std::set<std::pair<void*, bool>> seen;
    const auto collect = [&seen](const LiveObject& each) {
        seen.emplace(each.address, each.cached);
    };
    heap.walk(ObjectVisitor(collect));
    EXPECT_EQ(seen, (std::set<std::pair<void*, bool>>{{kept, true}, {live, false}}));
    heap.unmark();
    heap.free(kept);
    heap.free(live);
}

TEST(HoardHeapDeathTest, ReportsAnInvalidPointer) {
    Hoard<ByThread<4>, AnyLines> heap;
    Hoard<ByThread<4>, CleanLines> clean;
    void* const object = heap.malloc(100);
    void* const other = clean.malloc(100);
    EXPECT_DEATH(heap.free(forward(object, 16)), "heapwright: free\\(\\): invalid pointer\n");
    EXPECT_DEATH(heap.check(forward(object, 16), "here"),
                 "heapwright: here\\(\\): invalid pointer\n");
    EXPECT_DEATH(clean.check(forward(other, 16), "here"),
                 "heapwright: here\\(\\): invalid pointer\n");
    heap.free(object);
    EXPECT_DEATH(heap.free(object), "heapwright: free\\(\\): double free\n");
    EXPECT_DEATH([[maybe_unused]] const std::size_t size = heap.getSize(object),
                 "heapwright: malloc_usable_size\\(\\): use of a freed object\n");
}

} // namespace
} // namespace heapwright::testing
