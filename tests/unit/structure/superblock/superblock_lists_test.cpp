// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
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
    EXPECT_EQ(lists.take(), nullptr);
    Any::Block& one = shelf.make(64);
    Any::Block& other = shelf.make(64);
    for (int i = 0; i < 40; ++i) {
        ASSERT_NE(one.take(), nullptr);
    }
    ASSERT_NE(other.take(), nullptr);
    lists.add(one);
    lists.add(other);
    EXPECT_EQ(lists.fullest(), &one);
    while (one.hasRoom()) {
        ASSERT_EQ(&Any::Block::of(lists.take()), &one);
    }
    EXPECT_EQ(&Any::Block::of(lists.take()), &other);
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
        objects.push_back(one.take());
        objects.push_back(other.take());
    }
    lists.remove(one);
    lists.remove(other);
    Lists both;
    both.add(one);
    both.add(other);
    [[maybe_unused]] const bool first = both.give(one, objects[0]);
    EXPECT_EQ(both.take(), objects[0]);
    [[maybe_unused]] const bool second = both.give(other, objects[1]);
    EXPECT_EQ(both.take(), objects[1]);
}

TEST(SuperblockLists, SayWhenTooLittleIsUsedAndWhatToGiveAway) {
    Any shelf;
    Lists lists;
    std::vector<void*> objects;
    for (int i = 0; i < 4; ++i) {
        lists.add(shelf.make(64));
        while (void* const object = lists.take()) {
            objects.push_back(object);
        }
    }
    const std::size_t least = objects.size() - objects.size() / 4;
    for (std::size_t used = objects.size(); used-- > 0;) {
        const bool tooEmpty = lists.give(Any::Block::of(objects[used]), objects[used]);
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
            void* object = lists.take();
            if (object == nullptr) {
                auto& block = shelf.make(slot);
                if constexpr (Shelf::Block::clean) {
                    block.letTo(keyOfThread(tenants));
                }
                lists.add(block);
                object = lists.take();
            }
            ASSERT_NE(object, nullptr);
            live.push_back(object);
        } else if (action < 98 && !live.empty()) {
            std::swap(live[random() % live.size()], live.back());
            auto& block = Shelf::Block::of(live.back());
            if (block.group == 99) { // it is away
                block.give(live.back());
            } else {
                [[maybe_unused]] const bool tooEmpty = lists.give(block, live.back());
            }
            live.pop_back();
        } else if (auto* const block = lists.fullest(); action == 98 && block != nullptr) {
            lists.remove(*block);
            if constexpr (Shelf::Block::clean) {
                block->letTo(keyOfThread(++tenants));
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
        [[maybe_unused]] void* const object = lists.take();
    }
    std::size_t seen = 0;
    lists.forEach([&](Any::Block&) { ++seen; });
    EXPECT_EQ(seen, 3U);
}

} // namespace
} // namespace heapwright::testing
