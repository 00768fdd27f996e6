// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The guarantees of Hoard, checked over histories that are made to break them. They are how much it
// holds at any time, and how often the global lock is taken. The invariant of each heap and class
// is looked after by the heap itself (Verified) after every operation.
//
// The threads of a history are heaps that the test chooses. A heap sees only the identity of
// threads, and so every history is the same each time.
#include <heapwright/heap.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace heapwright::testing {
namespace {

constexpr std::size_t heaps = 6;

/// The thread whose turn it is.
struct Turn {
    static constexpr std::size_t count = heaps;
    static std::size_t mine() { return now; }
    static inline std::size_t now = 0;
};

constexpr std::size_t blockSize = 8 * KiB;
using Classes = GeometricSlots<6, 5, 16, 4 * KiB>;
using Blocks = AlignedBlockHeap<blockSize, 1 * MiB, MmapHeap>;

template <class Rule, class Lines = AnyLines>
using Hoard = HoardHeap<Classes, Turn, Verified<Rule>, Lines, Blocks>;

/// A heap under watch: what is live of each class at most, and what is held.
template <class Rule>
class Watched {
public:
    void* malloc(std::size_t size) {
        void* const object = heap_.malloc(size);
        note(Classes::classFor(size));
        return object;
    }
    void free(void* object, std::size_t size) {
        heap_.free(object);
        note(Classes::classFor(size));
    }
    std::size_t globalTakes() { return heap_.globalTakes(); }
    auto figures(std::size_t size) { return heap_.figuresOf(Classes::classFor(size)); }

    /// The largest part of its bound that a class has held.
    double tightest = 0;

private:
    /// A <= max U / (1 - f) + H K S for the class, counted in bytes of its slots.
    void note(std::size_t sizeClass) {
        const std::size_t slot = Classes::sizeOf(sizeClass);
        const auto now = heap_.figuresOf(sizeClass);
        most_[sizeClass] = std::max(most_[sizeClass], now.used);
        const double bound = static_cast<double>(most_[sizeClass] * slot * Rule::denominator) /
                                 static_cast<double>(Rule::denominator - Rule::numerator) +
                             static_cast<double>(now.heaps * Rule::kept * blockSize);
        const auto held = static_cast<double>((now.held + now.heldGlobal) * slot);
        ASSERT_LE(held, bound) << "objects of " << slot << " bytes";
        tightest = std::max(tightest, held / bound);
    }

    Hoard<Rule> heap_;
    std::array<std::size_t, Classes::count> most_{};
};

template <class Rule>
class HoardBound : public ::testing::Test {};
using Rules = ::testing::Types<Emptiness<1, 4, 4>, Emptiness<1, 8, 1>, Emptiness<1, 2, 2>,
                               Emptiness<3, 4, 1>>;
TYPED_TEST_SUITE(HoardBound, Rules);

struct Object {
    void* address;
    std::size_t size;
};

TYPED_TEST(HoardBound, HoldsOverRandomHistories) {
    for (const std::uint32_t seed : {1U, 2U, 20261122U}) {
        Watched<TypeParam> heap;
        std::mt19937 random(seed);
        std::vector<Object> live;
        const std::array<std::size_t, 5> sizes = {16, 96, 500, 1200, 4096};
        // Phases that grow and shrink, so that heaps are left with what others gave them.
        for (unsigned step = 0; step < 8000; ++step) {
            Turn::now = random() % heaps;
            const bool grows = (step / 1000) % 2 == 0;
            if (live.empty() || random() % 10 < (grows ? 7U : 3U)) {
                const std::size_t size = sizes[random() % sizes.size()];
                live.push_back({heap.malloc(size), size});
                ASSERT_NE(live.back().address, nullptr);
            } else {
                std::swap(live[random() % live.size()], live.back());
                heap.free(live.back().address, live.back().size);
                live.pop_back();
            }
        }
    }
}

/// Each heap in turn allocates what the one before has freed, leaving one object in each superblock
/// where that hurts most. With private heaps the memory would grow with each turn.
TYPED_TEST(HoardBound, HoldsWhereTheMemoryGoesFromThreadToThread) {
    Watched<TypeParam> heap;
    constexpr std::size_t size = 96;
    for (std::size_t round = 0; round < 3 * heaps; ++round) {
        Turn::now = round % heaps;
        std::vector<void*> objects;
        for (int i = 0; i < 600; ++i) {
            objects.push_back(heap.malloc(size));
        }
        Turn::now = (round + 1) % heaps;
        for (void* const object : objects) {
            heap.free(object, size);
        }
    }
    EXPECT_EQ(heap.figures(size).used, 0U);
}

TYPED_TEST(HoardBound, HoldsWhereOneObjectIsLeftInEachSuperblock) {
    Watched<TypeParam> heap;
    constexpr std::size_t size = 208;
    std::vector<void*> left;
    for (std::size_t round = 0; round < 2 * heaps; ++round) {
        Turn::now = round % heaps;
        std::vector<void*> objects;
        for (int i = 0; i < 400; ++i) {
            objects.push_back(heap.malloc(size));
        }
        for (std::size_t i = 0; i < objects.size(); ++i) {
            if (i % 39 == 0) {
                left.push_back(objects[i]);
            } else {
                heap.free(objects[i], size);
            }
        }
    }
    for (void* const object : left) {
        heap.free(object, size);
    }
}

/// Memory that is used in turns of two: a producer allocates, a consumer frees, all the time.
TEST(HoardBlowup, IsConstantWhereAProducerFeedsAConsumer) {
    Watched<Emptiness<1, 4, 4>> heap;
    constexpr std::size_t size = 64;
    std::size_t early = 0;
    for (int round = 0; round < 200; ++round) {
        std::vector<void*> batch;
        Turn::now = 0;
        for (int i = 0; i < 100; ++i) {
            batch.push_back(heap.malloc(size));
        }
        Turn::now = 1;
        for (void* const object : batch) {
            heap.free(object, size);
        }
        const auto now = heap.figures(size);
        early = round == 10 ? now.held + now.heldGlobal : early;
        if (round > 10) {
            ASSERT_LE(now.held + now.heldGlobal, early);
        }
    }
}

/// While a heap grows it takes the global lock once for each superblock, of which at least f is
/// free. So k operations take it k / (f n) times at most, with n slots in a superblock, and one
/// more.
TEST(HoardSynchronisation, IsRareWhileAHeapGrows) {
    using Rule = Emptiness<1, 4, 4>;
    for (const std::size_t size : {16U, 64U, 208U, 1008U}) {
        const std::size_t sizeClass = Classes::classFor(size);
        const std::size_t perBlock =
            Superblock<blockSize, AnyLines>::layoutFor(Classes::sizeOf(sizeClass)).count;
        Hoard<Rule> heap;
        // First what others have left: superblocks that are f empty, and not more.
        Turn::now = 1;
        std::vector<void*> others;
        for (std::size_t i = 0; i < 40 * perBlock; ++i) {
            others.push_back(heap.malloc(size));
        }
        for (std::size_t i = 0; i < others.size(); ++i) {
            if (i % perBlock <= perBlock / 4) {
                heap.free(others[i]);
            }
        }
        ASSERT_GT(heap.figuresOf(sizeClass).heldGlobal, 0U);
        Turn::now = 2;
        const std::size_t before = heap.globalTakes();
        const std::size_t operations = 60 * perBlock;
        for (std::size_t i = 1; i <= operations; ++i) {
            ASSERT_NE(heap.malloc(size), nullptr);
            ASSERT_LE((heap.globalTakes() - before - 1) * perBlock, i * 4) << size << " bytes";
        }
    }
}

/// The worst case of shrinking, apart: where every superblock stands exactly at the threshold,
/// about each free moves one to the global heap.
TEST(HoardSynchronisation, IsOneGlobalLockAFreeAtWorstWhileAHeapShrinks) {
    using Rule = Emptiness<1, 4, 1>;
    constexpr std::size_t size = 2048; // three to a superblock: none is partly used for long
    Hoard<Rule> heap;
    Turn::now = 1;
    std::vector<void*> objects;
    for (int i = 0; i < 300; ++i) {
        objects.push_back(heap.malloc(size));
    }
    const std::size_t before = heap.globalTakes();
    std::size_t frees = 0;
    for (std::size_t i = 0; i < objects.size(); i += 3) {
        heap.free(objects[i]); // each leaves a superblock at the threshold, or moves one
        ++frees;
    }
    const std::size_t takes = heap.globalTakes() - before;
    EXPECT_LE(takes, frees);
    EXPECT_GE(takes * 10, frees * 6) << "the pathological case of the text";
}

} // namespace
} // namespace heapwright::testing
