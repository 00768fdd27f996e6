// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The superblocks of one owner, by size class (structure/superblock/superblock_lists.hpp), and what
// of them is empty: that can serve any class.
//
// Invariant: a class with an empty superblock has its bit set; one whose bit is set may have none.
#pragma once

#include <heapwright/core/introspection.hpp>
#include <heapwright/structure/map/bit_set.hpp>
#include <heapwright/structure/superblock/superblock.hpp>
#include <heapwright/structure/superblock/superblock_lists.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <new>

namespace heapwright {

template <std::size_t Size, class Classes, class Emptiness, class Lines>
class SuperblockClasses {
public:
    using Block = Superblock<Size, Lines>;
    using Lists = SuperblockLists<Block, Emptiness>;
    using Layout = typename Block::Layout;

    static constexpr std::size_t count = Classes::count;
    static_assert(Classes::sizeOf(count - 1) <= Size / 2, "large objects are not for superblocks");

    [[nodiscard]] static constexpr const Layout& layoutOf(std::size_t sizeClass) noexcept {
        return layouts_[sizeClass];
    }

    /// The class for objects of `size` bytes at an alignment of more than 16; `count` if there is
    /// none. Slots of the class have the alignment, or enough room for an object inside.
    [[nodiscard]] static constexpr std::size_t classFor(std::size_t alignment,
                                                        std::size_t size) noexcept {
        const std::size_t plain = Classes::classFor(size);
        if (plain >= count || alignment > Size / 2) {
            return count;
        }
        const bool fits =
            Classes::sizeOf(plain) % alignment == 0 && layouts_[plain].first % alignment == 0;
        return fits ? plain : Classes::classFor(size + alignment - minAlignment);
    }

    [[nodiscard]] Lists& operator[](std::size_t sizeClass) noexcept { return lists_[sizeClass]; }
    [[nodiscard]] const Lists& operator[](std::size_t sizeClass) const noexcept {
        return lists_[sizeClass];
    }

    /// Takes an object back into its superblock, which is one of these. True if the superblocks of
    /// its class are too empty now.
    [[nodiscard, gnu::always_inline]] bool give(Block& block, void* object) noexcept {
        const bool tooEmpty = lists_[block.sizeClass()].give(block, object);
        if (block.used() == 0) {
            empties_.set(block.sizeClass());
        }
        return tooEmpty;
    }

    /// The same for those that a chain begins with, as far as they are of that superblock: `number`
    /// at most, which is then how many there were.
    [[nodiscard]] bool giveChain(Block& block, ObjectLink*& chain, std::uint32_t& number) noexcept {
        const bool tooEmpty = lists_[block.sizeClass()].giveChain(block, chain, number);
        if (block.used() == 0) {
            empties_.set(block.sizeClass());
        }
        return tooEmpty;
    }

    /// Adds a superblock to those of its class.
    void add(Block& block) noexcept {
        lists_[block.sizeClass()].add(block);
        if (block.used() == 0) {
            empties_.set(block.sizeClass());
        }
    }

    void remove(Block& block) noexcept { lists_[block.sizeClass()].remove(block); }

    /// Removes an empty superblock, of whatever class; null if there is none.
    [[nodiscard]] Block* removeEmpty() noexcept {
        return removeEmptyIf([](const Lists& /*lists*/) { return true; });
    }
    /// The same, but of a class that has others: its last one waits for the next request, lest it
    /// goes from class to class where a program has no more than an object at a time.
    [[nodiscard]] Block* removeSpare() noexcept {
        return removeEmptyIf(
            [](const Lists& lists) { return lists.held() > lists.oneEmpty()->count(); });
    }

    /// Memory that is nobody's becomes an empty superblock, in no list yet.
    [[nodiscard]] static Block& make(void* memory, std::size_t sizeClass, void* owner) noexcept {
        Block* const block = ::new (memory) Block(layouts_[sizeClass], sizeClass);
        block->owner.store(owner, std::memory_order_release);
        return *block;
    }

    /// An empty superblock in no list becomes one of another class.
    static void reshape(Block& block, std::size_t sizeClass) noexcept {
        if (block.sizeClass() != sizeClass) {
            block.reshape(layouts_[sizeClass], sizeClass);
        }
    }

    /// Forgets them all.
    void clear() noexcept {
        lists_ = {};
        empties_.clear();
    }

    /// Adds what is free in them.
    void measure(MemoryUsage& usage) const noexcept {
        for (std::size_t at = 0; at < count; ++at) {
            const std::size_t free = lists_[at].held() - lists_[at].used();
            usage.held += free * layouts_[at].slot;
            usage.heldCount += free;
        }
    }

    /// Runs `visit` on each superblock.
    template <class Visit>
    void forEach(Visit visit) const noexcept {
        for (const Lists& lists : lists_) {
            lists.forEach(visit);
        }
    }

private:
    template <class Condition>
    [[nodiscard]] Block* removeEmptyIf(Condition condition) noexcept {
        for (std::size_t at = empties_.next(0); at < count; at = empties_.next(at + 1)) {
            Block* const block = lists_[at].oneEmpty();
            if (block == nullptr) {
                empties_.reset(at);
            } else if (condition(lists_[at])) {
                lists_[at].remove(*block);
                return block;
            }
        }
        return nullptr;
    }

    static constexpr auto layouts_ = [] {
        std::array<Layout, count> table{};
        for (std::size_t at = 0; at < count; ++at) {
            table[at] = Block::layoutFor(Classes::sizeOf(at));
        }
        return table;
    }();

    std::array<Lists, count> lists_{};
    BitSet<count> empties_;
};

} // namespace heapwright
