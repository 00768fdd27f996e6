// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/sizeclass/geometric_slots.hpp>
#include <heapwright/structure/superblock/emptiness.hpp>
#include <heapwright/structure/superblock/superblock.hpp>
#include <heapwright/structure/superblock/superblock_lists.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

namespace heapwright::testing {
namespace {

constexpr std::size_t size = 4 * KiB;

struct Free {
    void operator()(void* memory) const { std::free(memory); }
};

template <class Lines>
struct Shelf {
    using Block = Superblock<size, Lines>;

    Block& make(std::size_t slot) {
        memory.emplace_back(std::aligned_alloc(size, size));
        return *::new (memory.back().get()) Block(Block::layoutFor(slot), 0);
    }

    std::vector<std::unique_ptr<void, Free>> memory;
};

using Any = Shelf<AnyLines>;
using Lists = SuperblockLists<Any::Block, Emptiness<1, 4, 1>>;

TEST(SuperblockLists, ServeFromTheFullestWithRoom) {
    Any shelf;
    Lists lists;
    EXPECT_EQ(lists.allocate(), nullptr);
    Any::Block& one = shelf.make(64);
    Any::Block& other = shelf.make(64);
    for (int i = 0; i < 40; ++i) {
        ASSERT_NE(one.allocate(), nullptr);
    }
    ASSERT_NE(other.allocate(), nullptr);
    lists.add(one);
    lists.add(other);
    EXPECT_EQ(lists.fullest(), &one);
    while (one.hasRoom()) {
        ASSERT_EQ(&Any::Block::of(lists.allocate()), &one);
    }
    EXPECT_EQ(&Any::Block::of(lists.allocate()), &other);
    EXPECT_EQ(lists.used(), one.count() + 2);
    EXPECT_EQ(lists.held(), one.count() * 2);
    EXPECT_TRUE(lists.isConsistent());
}

TEST(SuperblockLists, ServeNextFromWhereAnObjectWasFreed) {
    Any shelf;
    Lists lists;
    Any::Block& one = shelf.make(64);
    Any::Block& other = shelf.make(64);
    lists.add(one);
    lists.add(other);
    std::vector<void*> objects;
    for (int i = 0; i < 20; ++i) {
        objects.push_back(one.allocate());
        objects.push_back(other.allocate());
    }
    lists.remove(one);
    lists.remove(other);
    Lists both;
    both.add(one);
    both.add(other);
    [[maybe_unused]] const bool first = both.free(one, objects[0]);
    EXPECT_EQ(both.allocate(), objects[0]);
    [[maybe_unused]] const bool second = both.free(other, objects[1]);
    EXPECT_EQ(both.allocate(), objects[1]);
}

TEST(SuperblockLists, ReportTooLittleUseAndTheSuperblockToMove) {
    Any shelf;
    Lists lists;
    std::vector<void*> objects;
    for (int i = 0; i < 4; ++i) {
        lists.add(shelf.make(64));
        while (void* const object = lists.allocate()) {
            objects.push_back(object);
        }
    }
    const std::size_t least = objects.size() - objects.size() / 4;
    for (std::size_t used = objects.size(); used-- > 0;) {
        const bool tooEmpty = lists.free(Any::Block::of(objects[used]), objects[used]);
        ASSERT_EQ(tooEmpty, used < least) << used;
        ASSERT_EQ(lists.isTooEmpty(), tooEmpty);
        if (tooEmpty) {
            ASSERT_NE(lists.oneMostlyEmpty(), nullptr);
            ASSERT_LE(lists.oneMostlyEmpty()->used() * 4, lists.oneMostlyEmpty()->count() * 3);
        }
    }
    EXPECT_NE(lists.oneEmpty(), nullptr);
    EXPECT_TRUE(lists.isConsistent());
}

template <class Shelf, class Rule>
void expectConsistentOverAHistory(std::size_t slot) {
    Shelf shelf;
    SuperblockLists<typename Shelf::Block, Rule> lists;
    std::mt19937 random(static_cast<unsigned>(slot));
    std::vector<void*> live;
    std::vector<typename Shelf::Block*> aside;
    std::uint32_t tenants = 0;
    for (int step = 0; step < 4000; ++step) {
        const auto action = random() % 100;
        if (action < 50) {
            void* object = lists.allocate();
            if (object == nullptr) {
                auto& block = shelf.make(slot);
                if constexpr (Shelf::Block::clean) {
                    block.assignTo(keyOfThread(tenants));
                }
                lists.add(block);
                object = lists.allocate();
            }
            ASSERT_NE(object, nullptr);
            live.push_back(object);
        } else if (action < 98 && !live.empty()) {
            std::swap(live[random() % live.size()], live.back());
            auto& block = Shelf::Block::of(live.back());
            if (block.group == 99) { // it is away
                block.free(live.back());
            } else {
                [[maybe_unused]] const bool tooEmpty = lists.free(block, live.back());
            }
            live.pop_back();
        } else if (auto* const block = lists.fullest(); action == 98 && block != nullptr) {
            lists.remove(*block);
            if constexpr (Shelf::Block::clean) {
                block->assignTo(keyOfThread(++tenants));
            }
            block->group = 99;
            aside.push_back(block);
        } else if (!aside.empty()) {
            lists.add(*aside.back());
            aside.pop_back();
        }
        ASSERT_TRUE(lists.isConsistent()) << "slots of " << slot << ", step " << step;
    }
}

TEST(SuperblockLists, KeepTheirFiguresAndPlacesOverAnyHistory) {
    for (const std::size_t slot : {16U, 112U, 640U, 1008U, 2048U}) {
        expectConsistentOverAHistory<Shelf<AnyLines>, Emptiness<1, 2, 2>>(slot);
        expectConsistentOverAHistory<Shelf<CleanLines>, Emptiness<1, 2, 2>>(slot);
        expectConsistentOverAHistory<Shelf<AnyLines>, InParts<4, Emptiness<1, 2, 2>>>(slot);
        expectConsistentOverAHistory<Shelf<AnyLines>, InParts<20, Never>>(slot);
    }
}

TEST(SuperblockLists, VisitEverySuperblock) {
    Any shelf;
    Lists lists;
    for (int i = 0; i < 3; ++i) {
        lists.add(shelf.make(1008));
        [[maybe_unused]] void* const object = lists.allocate();
    }
    std::size_t seen = 0;
    lists.forEach([&](Any::Block&) { ++seen; });
    EXPECT_EQ(seen, 3U);
}

using Classes = GeometricSlots<6, 5, 16, 4 * KiB>;
using Superblocks = SuperblockClasses<8 * KiB, Classes, Never, AnyLines>;

class SuperblockClassesTest : public ::testing::Test {
protected:
    Superblocks::Block& make(std::size_t sizeClass) {
        memory_.emplace_back(std::aligned_alloc(8 * KiB, 8 * KiB));
        return Superblocks::make(memory_.back().get(), sizeClass, this);
    }
    void* takeFromNew(std::size_t sizeClass) {
        superblocks_.add(make(sizeClass));
        return superblocks_[sizeClass].allocate();
    }
    void give(void* object) {
        [[maybe_unused]] const bool tooEmpty =
            superblocks_.free(Superblocks::Block::of(object), object);
    }

    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::vector<std::unique_ptr<void, Free>> memory_;
    Superblocks superblocks_;
};

TEST_F(SuperblockClassesTest, KeepEachClassApart) {
    void* const small = takeFromNew(0);
    void* const large = takeFromNew(Classes::count - 1);
    EXPECT_EQ(Superblocks::Block::of(small).capacityAt(small), 16U);
    EXPECT_EQ(Superblocks::Block::of(large).capacityAt(large), 4 * KiB);
    EXPECT_EQ(superblocks_[0].used(), 1U);
    EXPECT_EQ(superblocks_[1].used(), 0U);
    EXPECT_EQ(superblocks_[1].allocate(), nullptr);
}

TEST_F(SuperblockClassesTest, FindWhatIsEmptyWhateverItsClass) {
    EXPECT_EQ(superblocks_.removeEmpty(), nullptr);
    void* const one = takeFromNew(3);
    void* const other = takeFromNew(20);
    EXPECT_EQ(superblocks_.removeEmpty(), nullptr);
    give(other);
    Superblocks::Block* const block = superblocks_.removeEmpty();
    ASSERT_EQ(block, &Superblocks::Block::of(other));
    EXPECT_EQ(superblocks_[20].held(), 0U);
    Superblocks::reshape(*block, 3);
    superblocks_.add(*block);
    EXPECT_EQ(superblocks_[3].held(), 2 * block->count());
    give(one);
    EXPECT_NE(superblocks_.removeEmpty(), nullptr);
    EXPECT_NE(superblocks_.removeEmpty(), nullptr);
    EXPECT_EQ(superblocks_.removeEmpty(), nullptr);
}

TEST_F(SuperblockClassesTest, SpareOnesAreThoseOfAClassThatHasOthers) {
    void* const one = takeFromNew(3);
    give(one);
    EXPECT_EQ(superblocks_.removeSpare(), nullptr);
    superblocks_.add(make(3));
    EXPECT_NE(superblocks_.removeSpare(), nullptr);
    EXPECT_EQ(superblocks_.removeSpare(), nullptr);
}

TEST_F(SuperblockClassesTest, MeasureWhatIsFree) {
    [[maybe_unused]] void* const object = takeFromNew(Classes::classFor(1024));
    MemoryUsage usage;
    superblocks_.measure(usage);
    const auto& layout = Superblocks::layoutOf(Classes::classFor(1024));
    EXPECT_EQ(usage.heldCount, layout.count - 1U);
    EXPECT_EQ(usage.held, (layout.count - 1U) * layout.slot);
    superblocks_.clear();
    MemoryUsage after;
    superblocks_.measure(after);
    EXPECT_EQ(after.held, 0U);
}

TEST(SuperblockClasses, ChooseAClassWithRoomForTheAlignment) {
    for (std::size_t alignment = 32; alignment <= 64 * KiB; alignment *= 2) {
        for (std::size_t bytes = 1; bytes <= 5000; bytes += 13) {
            const std::size_t index = Superblocks::classFor(alignment, bytes);
            if (index == Superblocks::count) {
                ASSERT_GT(bytes + alignment, 4 * KiB);
                continue;
            }
            const auto& layout = Superblocks::layoutOf(index);
            for (std::size_t slot = 0; slot < layout.count; ++slot) {
                const std::size_t start = layout.first + slot * layout.slot;
                ASSERT_LE(roundUp(start, alignment) + bytes, start + layout.slot);
            }
        }
    }
}

TEST(SuperblockClasses, ChooseTheNextClassOfWholeLines) {
    const auto sizeOf = [](std::size_t index) { return Superblocks::layoutOf(index).slot; };
    for (std::size_t index = 0; index < Superblocks::count; ++index) {
        const std::size_t whole = Superblocks::classOfWholeLines(index);
        ASSERT_GE(whole, index);
        if (sizeOf(whole) % 64 != 0) {
            ASSERT_EQ(whole, index) << "there is none";
        }
        for (std::size_t between = index; between < whole; ++between) {
            ASSERT_NE(sizeOf(between) % 64, 0U);
        }
    }
}

} // namespace
} // namespace heapwright::testing
