// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Hoard in every order of its threads' steps. It has a remote free against reuse, and superblocks
// that move to the global heap and return. Threads end and leave their heap to others, and memory
// is returned meanwhile. After each operation the invariant of the heap is verified by the heap
// itself. What a free that does not look again for the owner comes to is found out.
#include "heap_scenario.hpp"

#include <heapwright/layers/carve/aligned_block_heap.hpp>
#include <heapwright/layers/thread/hoard_heap.hpp>
#include <heapwright/structure/superblock/emptiness.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <utility>

namespace heapwright::testing::model {
namespace {

/// One class of objects, four in a superblock.
struct OneClass {
    static constexpr std::size_t count = 1;
    static constexpr std::size_t size = 224;
    [[nodiscard]] static constexpr std::size_t classFor(std::size_t wanted) {
        return wanted <= size ? 0 : 1;
    }
    [[nodiscard]] static constexpr std::size_t classOf(std::size_t capacity) {
        return classFor(capacity);
    }
    [[nodiscard]] static constexpr std::size_t sizeOf(std::size_t /*index*/) { return size; }
};

/// The heap of a thread is that of its number; thread 0 shares that of the scenario's maker.
struct ByNumber {
    static constexpr std::size_t count = 2;
    [[nodiscard]] static std::size_t mine() { return platform::threadNumber() % count; }
};

/// A heap for each of two threads; the scenario's maker had that of thread 0.
struct OwnByNumber {
    static constexpr std::size_t count = 3;
    [[nodiscard]] static std::size_t mine() { return 1 + platform::threadNumber() % 2; }
    [[nodiscard]] static constexpr bool isExclusive(std::size_t index) { return index != 0; }
};

using Blocks = AlignedBlockHeap<1 * KiB, 1 * MiB, BufferHeap>;
/// A heap keeps one superblock's worth, or half of what it has.
using Rule = Verified<Emptiness<1, 2, 1>>;

template <class Choice, class Lines>
using Hoard = HoardHeap<OneClass, Choice, Rule, Lines, Blocks>;

void expectRight(const Exploration& found) {
    EXPECT_TRUE(found.complete && found.failure.empty()) << toText(found);
    EXPECT_GT(found.runs, 1U);
    ::testing::Test::RecordProperty("runs", static_cast<int>(found.runs));
    ::testing::Test::RecordProperty("cut", static_cast<int>(found.cut));
    ::testing::Test::RecordProperty("steps", static_cast<int>(found.steps));
}

/// The maker of the scenario, whose heap is that of thread 0, holds eight objects in two
/// superblocks, or what it left of them.
template <class H>
class HoardScenario : public HeapScenario<H> {
public:
    /// How often the global lock was taken in the run in which that was most.
    static inline std::size_t mostTakes = 0;

    void atEnd() override {
        mostTakes = std::max(mostTakes, this->heap().globalTakes());
        require(this->heap().figuresOf(0).used == this->hands().count(), "the count is wrong");
        for (void*& object : objects_) {
            this->give(std::exchange(object, nullptr));
        }
        require(this->heap().figuresOf(0).used == 0, "an object was lost");
        this->endHeap();
    }

protected:
    HoardScenario() {
        for (void*& object : objects_) {
            object = this->take(OneClass::size);
        }
    }

    /// Frees one of the eight: 0 to 3 are in one superblock, 4 to 7 in the other.
    void giveOne(std::size_t index) { this->give(std::exchange(objects_.at(index), nullptr)); }
    [[nodiscard]] void* letGoOne(std::size_t index) {
        return this->letGo(std::exchange(objects_.at(index), nullptr));
    }
    void takeOne(std::size_t index) { objects_.at(index) = this->take(OneClass::size); }

private:
    std::array<void*, 8> objects_{};
};

/// Thread 0 goes on with its heap while thread 1 frees objects of it: no superblock moves.
template <class H>
class RemoteFree : public HoardScenario<H> {
public:
    [[nodiscard]] std::size_t threads() const override { return 2; }
    void thread(std::size_t index) override {
        if (index == 0) {
            this->giveOne(0);
            this->takeOne(0);
        } else {
            this->giveOne(1);
            this->giveOne(4);
        }
    }
};

/// Each of the next frees makes the heap too empty. Superblocks move to the global heap, and with
/// them the objects that another thread is about to free.
template <class H>
class Transfer : public HoardScenario<H> {
public:
    Transfer() {
        for (const std::size_t index : {0U, 1U, 4U, 5U}) {
            this->giveOne(index);
        }
    }
    [[nodiscard]] std::size_t threads() const override { return 2; }
    void thread(std::size_t index) override {
        this->giveOne(index == 0 ? 2 : 3);
        this->giveOne(index == 0 ? 6 : 7);
    }
};

/// The same, and another thread takes what comes to the global heap for its own.
template <class H>
class TransferAndBack : public Transfer<H> {
public:
    [[nodiscard]] std::size_t threads() const override { return 3; }
    void thread(std::size_t index) override {
        if (index == 2) {
            this->giveOne(7);
            this->giveOne(3);
        } else if (index == 1) {
            this->takeOne(0);
            this->giveOne(2);
            this->takeOne(1);
        } else {
            this->giveOne(6);
            this->takeOne(4);
        }
    }
};

/// The process forks, and holds all locks for that, while superblocks move and a heap is made.
template <class H>
class Forking : public Transfer<H> {
public:
    [[nodiscard]] std::size_t threads() const override { return 3; }
    void thread(std::size_t index) override {
        if (index == 0) {
            this->heap().beforeFork();
            this->heap().afterForkInParent();
        } else if (index == 1) {
            this->takeOne(0);
            this->giveOne(2);
        } else {
            this->giveOne(6);
            this->giveOne(7);
        }
    }
};

/// Empty superblocks are handed down while others use the heap.
template <class H>
class Trimming : public Transfer<H> {
public:
    [[nodiscard]] std::size_t threads() const override { return 2; }
    void thread(std::size_t index) override {
        if (index == 0) {
            static_cast<void>(this->heap().trim(0));
        } else {
            this->giveOne(2);
            this->giveOne(3);
            this->takeOne(2);
        }
    }
};

/// Threads start, take an object, free one, and end. A later thread inherits the heap.
template <class H>
class ThreadsEnd : public HoardScenario<H> {
public:
    ThreadsEnd() { giveThreadSlotBack(); }
    [[nodiscard]] std::size_t threads() const override { return 3; }
    void thread(std::size_t index) override {
        if (index == 2) {
            this->giveOne(5);
        } else {
            this->giveOne(index == 0 ? 0 : 4);
            this->takeOne(index == 0 ? 0 : 4);
        }
    }
};

/// Thread 0, which inherits the heap of the scenario's maker, frees, collects and perhaps ends.
/// Thread 1 sends objects of two superblocks to it, while they move to the global heap.
template <class H, bool ends>
class Sending : public Transfer<H> {
public:
    Sending() { static_cast<void>(this->heap().ownerTagOfThread()); }
    [[nodiscard]] std::size_t threads() const override { return 2; }
    void thread(std::size_t index) override {
        if (index == 1) {
            ObjectLink* const last = ::new (this->letGoOne(7)) ObjectLink{nullptr};
            this->heap().sendOwned(::new (this->letGoOne(3)) ObjectLink{last}, 2);
            return;
        }
        this->giveOne(2);
        this->heap().freeBatch(this->heap().collectSent());
        if constexpr (ends) {
            this->heap().releaseOwnership();
        }
    }
    void atEnd() override {
        if constexpr (!ends) { // otherwise nothing may have stayed behind
            static_cast<void>(this->heap().flush());
        }
        Transfer<H>::atEnd();
    }
};

/// Thread 0 ends, and thread 1 adopts a superblock if it comes after that. Thread 2 frees.
template <class H>
class Adopting : public HoardScenario<H> {
public:
    /// In how many runs the superblock was adopted.
    static inline std::size_t adopted = 0;

    [[nodiscard]] std::size_t threads() const override { return 3; }
    void thread(std::size_t index) override {
        if (index == 0) {
            this->heap().releaseOwnership();
        } else if (index == 1) {
            void* const object = this->letGoOne(0);
            const bool did = this->heap().adopt(object);
            adopted += did ? 1U : 0U;
            this->heap().free(object);
            this->takeOne(0);
        } else {
            this->giveOne(1);
            this->giveOne(5);
        }
    }
};

/// As Hoard, but a free does not check again whether the owner whose lock it waited for is still
/// the owner.
class CarelessHoard : private HoardMemory<OneClass, ByNumber, Rule, AnyLines, Blocks> {
public:
    ~CarelessHoard() { Blocks::clear(); }

    [[nodiscard]] void* malloc(std::size_t /*size*/) noexcept {
        Owner& heap = heapOfThread();
        const Hold hold(heap.lock);
        return allocate(heap, 0);
    }
    void free(void* object) noexcept {
        Block& block = Block::of(object);
        Owner& owner = *static_cast<Owner*>(block.owner.load(std::memory_order_relaxed));
        const Hold hold(owner.lock);
        freeInto(owner, block, object);
    }
    using HoardMemory::figuresOf;
    using HoardMemory::globalTakes;
};

template <class S>
void expectMoves() {
    expectRight(explore<S>());
    EXPECT_GT(S::mostTakes, 2U) << "no superblock moved: the scenario is not what it should be";
}

TEST(HoardModel, ARemoteFreeMeetsReuse) {
    expectRight(explore<RemoteFree<Hoard<ByNumber, AnyLines>>>());
    expectRight(explore<RemoteFree<Hoard<ByNumber, CleanLines>>>());
}

TEST(HoardModel, SuperblocksMoveToTheGlobalHeapDuringRequests) {
    expectMoves<Transfer<Hoard<ByNumber, AnyLines>>>();
    expectMoves<Transfer<Hoard<ByNumber, CleanLines>>>();
}

TEST(HoardModel, SuperblocksMoveFromTheGlobalHeapToAnother) {
    expectMoves<TransferAndBack<Hoard<ByNumber, AnyLines>>>();
}

TEST(HoardModel, SuperblocksMoveFromTheGlobalHeapToAnotherOnCleanLines) {
    expectMoves<TransferAndBack<Hoard<ByNumber, CleanLines>>>();
}

TEST(HoardModel, FreeWithoutASecondOwnerCheckIsDetected) {
    const Exploration found = explore<TransferAndBack<CarelessHoard>>();
    EXPECT_EQ(found.failure, "two threads write to a word, and nothing says who is first");
    // Taken to its end, the same run breaks the heap.
    EXPECT_EQ(replay<TransferAndBack<CarelessHoard>>(found.schedule).failure,
              "the heap ended the program");
}

TEST(HoardModel, ForkDuringRequestsDoesNotDeadlock) {
    expectMoves<Forking<Hoard<ByNumber, AnyLines>>>();
}

TEST(HoardModel, ObjectsAreSentToAnOwnerThatCollects) {
    expectMoves<Sending<Hoard<OwnByNumber, CleanLines>, false>>();
    expectMoves<Sending<Hoard<OwnByNumber, CleanRunningLines>, false>>();
}

TEST(HoardModel, NothingStaysInTheQueueOfAThreadThatEnds) {
    expectMoves<Sending<Hoard<OwnByNumber, CleanRunningLines>, true>>();
}

TEST(HoardModel, ASuperblockIsAdoptedWhileOthersFree) {
    using Found = Adopting<Hoard<OwnByNumber, CleanRunningLines>>;
    expectRight(explore<Found>());
    EXPECT_GT(Found::adopted, 0U);
}

TEST(HoardModel, TrimReturnsEmptySuperblocksDuringRequests) {
    expectMoves<Trimming<Hoard<ByNumber, AnyLines>>>();
}

TEST(HoardModel, AHeapIsInheritedWhenItsThreadEnds) {
    expectRight(explore<ThreadsEnd<Hoard<OwnHeap<3>, AnyLines>>>());
    expectRight(explore<ThreadsEnd<Hoard<OwnHeap<3>, CleanLines>>>());
}

TEST(HoardModel, ThreadsWithoutASlotShareAHeap) {
    expectRight(explore<ThreadsEnd<Hoard<OwnHeap<1>, AnyLines>>>());
}

} // namespace
} // namespace heapwright::testing::model
