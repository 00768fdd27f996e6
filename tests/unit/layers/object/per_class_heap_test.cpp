// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/layers/carve/chunk_heap.hpp>
#include <heapwright/layers/object/align_heap.hpp>
#include <heapwright/layers/object/per_class_heap.hpp>
#include <heapwright/layers/object/size_heap.hpp>
#include <heapwright/layers/reuse/freelist_heap.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>
#include <heapwright/layers/source/mmap_heap.hpp>
#include <heapwright/layers/thread/locked_heap.hpp>
#include <heapwright/sync/futex_lock.hpp>

#include <support/counting_heap.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace heapwright::testing {
namespace {

using Pool = FreelistHeap<CountingHeap>;

/// A test begins with an empty list; what waits on the lists of classes is handed back.
template <class... Classes>
void beginWith() {
    (Classes::classHeap().flush(), ...);
    Ledger::begin();
}

struct Node : PerClassHeap<Node, Pool> {
    virtual ~Node() = default;
    long value = 0;
};
struct LargeNode : Node {
    std::array<long, 10> more{};
};

TEST(PerClassHeap, ServesTheObjectsOfItsClass) {
    beginWith<Node>();
    auto* const first = new Node;
    EXPECT_EQ(Ledger::the().live.size(), 1U);
    delete first;
    auto* const second = new Node;
    EXPECT_EQ(second, first) << "from the list";
    EXPECT_EQ(Ledger::the().requests, 1U);
    const std::unique_ptr<Node> owned(second);
}

TEST(PerClassHeap, TakesNoRoomInTheObject) {
    struct Plain {
        virtual ~Plain() = default;
        long value = 0;
    };
    EXPECT_EQ(sizeof(Node), sizeof(Plain));
}

/// A list of one size must never see an object of another.
TEST(PerClassHeap, LeavesLargerDerivedObjectsToTheProgram) {
    beginWith<Node>();
    for (int i = 0; i < 3; ++i) {
        Node* const large = new LargeNode;
        static_cast<LargeNode*>(large)->more.fill(7);
        EXPECT_EQ(Ledger::the().requests, 0U);
        delete large; // through the base: the size is that of what it is
    }
    delete new Node;
    EXPECT_EQ(Ledger::the().live.size(), 1U) << "just the one waits on the list";
}

TEST(PerClassHeap, LeavesArraysToTheProgramIfItHasOneSize) {
    beginWith<Node>();
    auto* const nodes = new Node[5];
    nodes[4].value = 1;
    delete[] nodes;
    auto* const none = new (std::nothrow) Node[3];
    delete[] none;
    EXPECT_EQ(Ledger::the().requests, 0U);
}

TEST(PerClassHeap, ThrowsOrAnswersNullWhereThereIsNoMemory) {
    beginWith<Node>();
    Ledger::begin(Ledger::all);
    EXPECT_THROW(delete new Node, std::bad_alloc);
    EXPECT_EQ(new (std::nothrow) Node, nullptr);
    Ledger::begin();
    delete new (std::nothrow) Node;
}

TEST(PerClassHeap, CallsTheNewHandlerFirst) {
    beginWith<Node>();
    Ledger::begin(1);
    static int called = 0;
    std::set_new_handler([] { ++called; });
    const std::unique_ptr<Node> node(new Node);
    std::set_new_handler(nullptr);
    EXPECT_EQ(called, 1);
    EXPECT_NE(node, nullptr) << "the second attempt was served";
}

TEST(PerClassHeap, LetsObjectsBeMadeInPlace) {
    beginWith<Node>();
    alignas(Node) std::array<std::byte, sizeof(Node)> place{};
    Node* const node = new (place.data()) Node;
    node->~Node();
    EXPECT_EQ(Ledger::the().requests, 0U);
}

struct Fragile : PerClassHeap<Fragile, Pool> {
    explicit Fragile(bool breaks) {
        if (breaks) {
            throw std::runtime_error("no");
        }
    }
    long value = 0;
};
struct FinalFragile final : PerClassHeap<FinalFragile, Pool> {
    FinalFragile() { throw std::runtime_error("no"); }
    long value = 0;
};

TEST(PerClassHeap, FreesAnObjectWhoseConstructorThrew) {
    beginWith<Fragile>();
    for (int i = 0; i < 3; ++i) {
        EXPECT_THROW(delete new Fragile(true), std::runtime_error);
    }
    EXPECT_EQ(Ledger::the().requests, 1U) << "the same one thrice";
    beginWith<Fragile, FinalFragile>();
    for (int i = 0; i < 3; ++i) {
        EXPECT_THROW(delete new (std::nothrow) FinalFragile, std::runtime_error);
    }
    EXPECT_EQ(Ledger::the().requests, 1U);
}

TEST(PerClassHeap, LeaksAnObjectFreedWithoutItsSize) {
    beginWith<Fragile>();
    EXPECT_THROW(delete new (std::nothrow) Fragile(true), std::runtime_error);
    EXPECT_THROW(delete new (std::nothrow) Fragile(true), std::runtime_error);
    EXPECT_EQ(Ledger::the().requests, 2U) << "not used again, and nothing harmed";
    delete new Fragile(false);
}

struct alignas(64) Wide : PerClassHeap<Wide, Pool> {
    long value = 0;
};
using Anything = AlignHeap<SizeHeap<CountingHeap>>;
struct alignas(64) AnyWide : PerClassHeap<AnyWide, Anything> {
    long value = 0;
};
struct Root : PerClassHeap<Root, Anything> {
    virtual ~Root() = default;
};
struct Leaf : Root {
    std::array<long, 20> more{};
};
struct alignas(128) WideLeaf : Root {
    long value = 0;
};

TEST(PerClassHeap, HonoursTheAlignmentOfTheClass) {
    Ledger::begin();
    std::vector<std::unique_ptr<Wide>> wide;
    std::vector<std::unique_ptr<AnyWide>> any;
    for (int i = 0; i < 10; ++i) {
        wide.push_back(std::make_unique<Wide>());
        any.push_back(std::make_unique<AnyWide>());
        EXPECT_EQ(addressOf(wide.back().get()) % 64, 0U);
        EXPECT_EQ(addressOf(any.back().get()) % 64, 0U);
    }
    const std::unique_ptr<Wide> quiet(new (std::nothrow) Wide);
    EXPECT_EQ(addressOf(quiet.get()) % 64, 0U);
    EXPECT_EQ(Ledger::the().requests, 10U) << "the list has no alignment to give";
    wide.clear();
    any.clear();
    EXPECT_TRUE(Ledger::the().live.empty());
}

TEST(PerClassHeap, ServesEverythingFromAHeapOfAnySize) {
    Ledger::begin();
    std::vector<std::unique_ptr<Root>> roots;
    roots.push_back(std::make_unique<Leaf>());
    roots.emplace_back(new (std::nothrow) Leaf);
    roots.push_back(std::make_unique<WideLeaf>());
    roots.emplace_back(new (std::nothrow) WideLeaf);
    EXPECT_EQ(addressOf(roots.back().get()) % 128, 0U);
    EXPECT_EQ(Ledger::the().live.size(), 4U);
    auto* const array = new Leaf[3];
    auto* const wide = new WideLeaf[3];
    EXPECT_EQ(addressOf(wide) % 128, 0U);
    EXPECT_EQ(Ledger::the().live.size(), 6U);
    delete[] array;
    delete[] wide;
    roots.clear();
    EXPECT_TRUE(Ledger::the().live.empty());
    EXPECT_EQ(Ledger::the().wrongFrees, 0U);
}

/// As a library might have it, with nothing said about its memory.
struct Unmodified {
    Unmodified(std::string name, int size) : name_(std::move(name)), size_(size) {}
    std::string name_;
    int size_;
};

TEST(PooledClass, GivesAnUnmodifiedClassAPool) {
    using Pooled = PooledClass<Unmodified, Pool>;
    beginWith<Pooled>();
    EXPECT_EQ(sizeof(Pooled), sizeof(Unmodified));
    auto* const first = new Pooled("some text that is too long to be kept inside", 3);
    EXPECT_EQ(first->size_, 3);
    delete first;
    const std::unique_ptr<Pooled> second(new (std::nothrow) Pooled("short", 4));
    EXPECT_EQ(second.get(), first);
}

TEST(PooledClass, HasAHeapForEachClassOrShare) {
    using One = PooledClass<Unmodified, Pool>;
    EXPECT_NE(static_cast<void*>(&One::classHeap()), static_cast<void*>(&Node::classHeap()));
}

struct SharedNode : PerClassHeap<SharedNode, LockedHeap<FutexLock, FreelistHeap<MallocHeap>>> {
    explicit SharedNode(std::size_t id) : value(id) {}
    std::size_t value;
};

TEST(PerClassHeap, IsForThreadsIfItsHeapIs) {
    std::atomic<std::size_t> wrong{0};
    std::vector<std::thread> threads;
    for (std::size_t id = 0; id < 4; ++id) {
        threads.emplace_back([&wrong, id] {
            for (int i = 0; i < 2000; ++i) {
                const std::unique_ptr<SharedNode> one(new SharedNode(id));
                const std::unique_ptr<SharedNode> two(new SharedNode(id + 10));
                wrong += one->value != id || two->value != id + 10 ? 1U : 0U;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    EXPECT_EQ(wrong, 0U);
    SharedNode::classHeap().beforeFork();
    SharedNode::classHeap().afterForkInParent();
    SharedNode::classHeap().flush();
}

} // namespace
} // namespace heapwright::testing
