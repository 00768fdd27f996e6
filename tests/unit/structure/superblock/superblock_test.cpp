// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
#include <heapwright/structure/superblock/superblock.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace heapwright::testing {
namespace {

constexpr std::size_t size = 8 * KiB;

template <class Lines>
class Made {
public:
    using Block = Superblock<size, Lines>;

    explicit Made(std::size_t slot)
        : memory_(std::aligned_alloc(size, size)),
          block_(::new(std::memset(memory_.get(), 0xEE, size)) Block(Block::layoutFor(slot), 7)) {}

    Block& operator*() { return *block_; }
    Block* operator->() { return block_; }

    /// Every slot that can be had.
    std::vector<void*> takeAll() {
        std::vector<void*> objects;
        while (block_->hasRoom()) {
            objects.push_back(block_->allocate());
        }
        return objects;
    }

private:
    struct Free {
        void operator()(void* memory) const { std::free(memory); }
    };
    std::unique_ptr<void, Free> memory_;
    Block* block_;
};

using Any = Made<AnyLines>;
using Clean = Made<CleanLines>;

std::size_t lineOf(const void* address) {
    return addressOf(address) / 64;
}

TEST(Superblock, HasAHeaderOfACacheLine) {
    static_assert(sizeof(Superblock<size, AnyLines>) <= 64);
    static_assert(sizeof(Superblock<size, CleanLines>) <= 64);
    static_assert(Superblock<size, AnyLines>::layoutFor(16).count >= 440, "of 512");
    static_assert(Superblock<size, AnyLines>::layoutFor(4 * KiB).count == 1);
    static_assert(Superblock<64 * KiB, AnyLines>::layoutFor(8).count > 6000);
}

TEST(Superblock, GivesEverySlotOnceInTheOrderOfAddresses) {
    for (const std::size_t slot : {8U, 16U, 48U, 112U, 1000U, 2048U, 4096U}) {
        Any block(slot);
        const std::vector<void*> objects = block.takeAll();
        EXPECT_EQ(objects.size(), block->count());
        EXPECT_EQ(block->used(), block->count());
        EXPECT_EQ(addressOf(objects.front()) % 64, 0U);
        EXPECT_LE(addressOf(objects.back()) + slot, addressOf(&*block) + size);
        for (std::size_t i = 1; i < objects.size(); ++i) {
            ASSERT_EQ(addressOf(objects[i]), addressOf(objects[i - 1]) + slot);
        }
        for (void* const object : objects) {
            std::memset(object, 0xFF, slot);
            ASSERT_EQ(&Any::Block::of(object), &*block);
            ASSERT_EQ(block->capacityAt(object), slot);
            block->check(object, "test");
        }
        for (void* const object : objects) {
            block->free(object);
        }
        EXPECT_EQ(block->used(), 0U);
        EXPECT_EQ(block->sizeClass(), 7U);
    }
}

TEST(Superblock, UsesTheLatestFreedSlotFirst) {
    Any block(32);
    void* const first = block->allocate();
    void* const second = block->allocate();
    block->free(first);
    block->free(second);
    EXPECT_EQ(block->allocate(), second);
    EXPECT_EQ(block->allocate(), first);
}

/// Of a chain it takes its own objects, and no more than the given number.
TEST(Superblock, TakesBackSoManyOfAChain) {
    Any block(48);
    Any other(48);
    ObjectLink* chain = nullptr;
    ObjectLink** end = &chain;
    ASSERT_EQ(block->allocateChain(5, end), 5U);
    ASSERT_EQ(other->allocateChain(2, end), 2U);
    EXPECT_EQ(block->freeChain(chain, 3), 3U);
    EXPECT_EQ(block->used(), 2U);
    EXPECT_EQ(block->freeChain(chain, 100), 2U) << "the next is another superblock's";
    EXPECT_EQ(block->used(), 0U);
    EXPECT_EQ(other->freeChain(chain, 100), 2U);
    EXPECT_EQ(chain, nullptr);
    EXPECT_EQ(other->used(), 0U);
}

TEST(Superblock, FindsTheSlotOfEveryAddress) {
    for (std::size_t slot = 8; slot <= 4096; slot += 8) {
        const auto layout = Any::Block::layoutFor(slot);
        ASSERT_GE(layout.count, 1U);
        ASSERT_LE(std::size_t{layout.first} + std::size_t{layout.count} * slot, size);
        for (std::uint64_t offset = 0; offset < std::uint64_t{layout.count} * slot; offset += 7) {
            ASSERT_EQ(offset * layout.reciprocal >> 32U, offset / slot) << slot;
        }
    }
    for (const std::size_t slot : {8U, 24U, 40U, 8176U, 32768U}) {
        const auto layout = Superblock<64 * KiB, AnyLines>::layoutFor(slot);
        for (std::uint64_t offset = 0; offset < std::uint64_t{layout.count} * slot; ++offset) {
            ASSERT_EQ(offset * layout.reciprocal >> 32U, offset / slot) << slot;
        }
    }
}

TEST(Superblock, HoldsAnAlignedObjectInsideItsSlot) {
    Any block(1008);
    for (const std::size_t alignment : {32U, 64U, 256U, 512U}) {
        void* const slot = block->allocate();
        void* const object = Any::Block::alignInSlot(slot, alignment);
        EXPECT_EQ(addressOf(object) % alignment, 0U);
        EXPECT_EQ(addressOf(object) + block->capacityAt(object), addressOf(slot) + 1008);
        block->check(object, "test");
        block->free(object);
        EXPECT_EQ(block->allocate(), slot);
    }
}

TEST(SuperblockDeathTest, AbortsOnAWrongFree) {
    Any block(112);
    void* const object = block->allocate();
    void* const freed = block->allocate();
    block->free(freed);
    EXPECT_DEATH(block->free(freed), "heapwright: free\\(\\): double free\n");
    EXPECT_DEATH(block->check(freed, "realloc"),
                 "heapwright: realloc\\(\\): use of a freed object\n");
    for (const std::size_t inside : {1U, 8U, 16U, 100U}) {
        EXPECT_DEATH(block->free(forward(object, inside)),
                     "heapwright: free\\(\\): invalid pointer\n");
    }
    EXPECT_DEATH(block->free(&*block), "invalid pointer");
    EXPECT_DEATH(block->free(forward(&*block, 72)), "invalid pointer");
    EXPECT_DEATH(block->free(forward(&*block, size - 1)), "invalid pointer");
}

/// An object that was freed twice in a row links to itself, in a list that links its objects.
TEST(SuperblockDeathTest, AbortsOnAnObjectThatLinksToItself) {
    for (const std::uint32_t others : {0U, 3U}) {
        Any block(64);
        ObjectLink* chain = nullptr;
        ObjectLink** end = &chain;
        ASSERT_EQ(block->allocateChain(others + 1, end), others + 1);
        ObjectLink* last = chain;
        while (last->next != nullptr) {
            last = last->next;
        }
        last->next = last;
        EXPECT_DEATH(block->freeChain(chain, 100), "heapwright: free\\(\\): double free\n");
    }
}

TEST(SuperblockDeathTest, AbortsOnAWrongFreeOfAnAlignedObject) {
    Any block(1008);
    [[maybe_unused]] void* const other = block->allocate();
    void* const slot = block->allocate();
    void* const object = Any::Block::alignInSlot(slot, 512);
    ASSERT_NE(object, slot);
    EXPECT_DEATH(block->free(slot), "invalid pointer");
    EXPECT_DEATH(block->free(forward(object, 64)), "invalid pointer");
    block->free(object);
    EXPECT_DEATH(block->free(object), "double free");
}

TEST(SuperblockDeathTest, KeepsCachedObjectsUsed) {
    Any block(64);
    void* const object = block->allocate();
    block->markCached(object, "free");
    EXPECT_DEATH(block->markCached(object, "free"), "double free");
    EXPECT_DEATH(block->check(object, "realloc"), "use of a freed object");
    EXPECT_EQ(block->used(), 1U);
    block->unmarkCached(object);
    block->check(object, "realloc");
    block->free(object);
    EXPECT_EQ(block->used(), 0U);
}

TEST(Superblock, IsReshapedForAnotherClass) {
    Any block(16);
    for (void* const object : block.takeAll()) {
        block->free(object);
    }
    block->reshape(Any::Block::layoutFor(2000), 3);
    EXPECT_EQ(block->sizeClass(), 3U);
    EXPECT_EQ(block.takeAll().size(), 4U);
}

/// The lines on which old objects are.
std::set<std::size_t> linesOf(const std::set<void*>& objects, std::size_t slot) {
    std::set<std::size_t> lines;
    for (void* const object : objects) {
        for (std::size_t at = 0; at < slot; ++at) {
            lines.insert(lineOf(forward(object, at)));
        }
    }
    return lines;
}

/// Transfers at random, and what is given afterwards shares no line with what is live from before:
/// but all else can be had.
TEST(Superblock, WithholdsThePartlyUsedLinesOfATransfer) {
    for (const std::size_t slot : {8U, 16U, 48U, 80U, 96U, 272U, 1008U}) {
        Clean block(slot);
        std::mt19937 random(static_cast<unsigned>(slot));
        std::set<void*> live;
        std::set<void*> old;
        block->assignTo(keyOfThread(0));
        for (std::uint32_t round = 0; round < 40; ++round) {
            const std::set<std::size_t> forbidden = linesOf(old, slot);
            std::set<void*> taken;
            while (block->hasRoom()) {
                taken.insert(block->allocate());
            }
            for (void* const object : taken) {
                ASSERT_FALSE(live.contains(object));
                for (std::size_t at = 0; at < slot; ++at) {
                    ASSERT_FALSE(forbidden.contains(lineOf(forward(object, at)))) << slot;
                }
                live.insert(object);
            }
            if (old.empty()) {
                ASSERT_EQ(live.size(), block->count()) << "nothing is withheld for no reason";
            }
            const bool transfers = round % 3 == 0;
            for (auto each = live.begin(); each != live.end();) {
                if (random() % 3 == 0 || (round % 10 == 9 && old.contains(*each))) {
                    block->free(*each);
                    old.erase(*each);
                    each = live.erase(each);
                } else {
                    ++each;
                }
            }
            ASSERT_EQ(block->used(), live.size());
            if (transfers) {
                block->assignTo(keyOfThread(round + 1));
                old = live;
            }
        }
        for (void* const object : live) {
            block->free(object);
        }
        EXPECT_EQ(block->used(), 0U);
        EXPECT_EQ(block.takeAll().size(), block->count());
    }
}

TEST(Superblock, HasTheOwnerTagFirstAndTheOwnerNext) {
    struct alignas(8 * KiB) Memory {
        std::array<std::byte, 8 * KiB> bytes;
    };
    static Memory memory;
    auto* const block = ::new (&memory) Clean::Block(Clean::Block::layoutFor(48), 5);
    block->assignTo(keyOfThread(3));
    block->owner.store(&memory, std::memory_order_relaxed);
    EXPECT_EQ(*reinterpret_cast<const OwnerTag*>(&memory), keyOfThread(3));
    EXPECT_EQ(addressOf(&block->owner), addressOf(&memory) + sizeof(OwnerTag));
    void* const object = block->allocate();
    EXPECT_EQ(ownerTagOf<8 * KiB>(object), keyOfThread(3));
    EXPECT_EQ(block->capacityAt(object), 48U);
    EXPECT_EQ(block->capacityAt(forward(object, 16)), 32U);
    EXPECT_EQ(block->classOfLive(object, "here"), 5U);
    EXPECT_EQ(block->count(), SuperblockLayout::of(8 * KiB, 48).count);
    EXPECT_EQ(block->partUsed(8), 0U);
}

TEST(SuperblockLayout, HasAsManySlotsAsFit) {
    for (const std::size_t bytes : {4 * KiB, 32 * KiB, 64 * KiB}) {
        for (std::size_t slot = 16; slot <= bytes / 2; slot += 16) {
            const SuperblockLayout layout = SuperblockLayout::of(bytes, slot);
            ASSERT_GE(layout.count, 1U);
            ASSERT_EQ(layout.slot, slot);
            ASSERT_EQ(layout.first % 64, 0U);
            ASSERT_GE(layout.first, 64 + 2 * layout.count);
            ASSERT_LE(layout.first + layout.count * slot, bytes);
            const std::size_t more = layout.count + std::size_t{1};
            ASSERT_GT(roundUp(64 + 2 * more, 64) + more * slot, bytes) << "one more does not";
        }
    }
}

} // namespace
} // namespace heapwright::testing
