// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The superblocks that one owner has of one size class, in groups by how full they are, and how
// much of them is used: so that the fullest with room, an empty one and a mostly empty one are each
// found in a few steps.
//
// A superblock goes to the front of its group when an object of it is freed and when it changes
// groups. Groups: empty; equal parts (eighths, unless the rule says otherwise); full; and, where
// free slots may be withheld, those of which none can be used. One that was nearly empty and
// becomes empty stays where it is until another is first there: so nothing moves where a program
// has no more than a few objects at a time. Invariants: `used` and `held` are what the superblocks
// in the lists add up to, counted in slots; a group's bit is set if it has one that can serve.
// Cost: a bit scan to take, and a few stores to give; moving from group to group comes once in such
// a part of a superblock at most when it grows. From Hoard's fullness groups (Berger 2002, 7.2).
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/structure/object/object_chain.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace heapwright {

template <class Block, class Emptiness>
class SuperblockLists {
    static constexpr std::uint32_t empty = 0;
    static constexpr std::uint32_t parts = Emptiness::parts;
    static constexpr std::uint32_t full = parts + 1;
    static constexpr std::uint32_t stuck = parts + 2; ///< some slots free, but none to be used
    static constexpr std::uint32_t groups = Block::clean ? stuck + 1 : full + 1;

public:
    /// A slot of the fullest superblock that has one; null if none has.
    [[nodiscard, gnu::always_inline]] void* take() noexcept {
        if (open_ == 0) [[unlikely]] {
            return nullptr;
        }
        return takeFrom(*first_[floorLog2(open_)]);
    }

    /// A slot of one of the superblocks. Pre: it has one.
    [[nodiscard, gnu::always_inline]] void* takeFrom(Block& block) noexcept {
        void* const slot = block.take();
        ++used_;
        if (block.used() >= block.high || (Block::clean && !block.hasRoom())) [[unlikely]] {
            regroup(block);
        }
        return slot;
    }

    /// Slots of one of the superblocks, up to `most`, in a chain from `*end` on; how many there
    /// are. Pre: it has one.
    [[nodiscard]] std::uint32_t takeChainFrom(Block& block, std::uint32_t most,
                                              ObjectLink**& end) noexcept {
        const std::uint32_t taken = block.takeChain(most, end);
        used_ += taken;
        if (block.used() >= block.high || (Block::clean && !block.hasRoom())) {
            regroup(block);
        }
        return taken;
    }

    /// Takes an object back; aborts if it is none. True if now less is used than should be.
    [[nodiscard, gnu::always_inline]] bool give(Block& block, void* object) noexcept {
        block.give(object);
        --used_;
        return sortIn(block);
    }

    /// The same for those that a chain begins with, as far as they are of the superblock: `number`
    /// at most, which is then how many there were.
    [[nodiscard]] bool giveChain(Block& block, ObjectLink*& chain, std::uint32_t& number) noexcept {
        number = block.giveChain(chain, number);
        used_ -= number;
        return sortIn(block);
    }

    /// The fullest superblock with room; null if there is none.
    [[nodiscard]] Block* fullest() const noexcept {
        return open_ == 0 ? nullptr : first_[floorLog2(open_)];
    }
    /// One that is empty; null if there is none.
    [[nodiscard]] Block* oneEmpty() const noexcept {
        return first_[empty] != nullptr ? first_[empty] : emptyInUse();
    }

    /// One that is at least as empty as the emptiness policy says. Pre: all together are too empty.
    [[nodiscard]] Block* oneMostlyEmpty() const noexcept {
        static_assert(parts % Emptiness::denominator == 0,
                      "where superblocks are empty enough is where a group ends");
        for (std::uint32_t group = empty; group < full; ++group) {
            if (first_[group] != nullptr) {
                return Emptiness::isMostlyEmpty(first_[group]->used(), first_[group]->count())
                           ? first_[group]
                           : nullptr;
            }
        }
        return nullptr;
    }
    /// Any superblock; null if there is none.
    [[nodiscard]] Block* any() const noexcept {
        for (Block* const first : first_) {
            if (first != nullptr) {
                return first;
            }
        }
        return nullptr;
    }
    /// One of which no slot can be used, though not all are live; null if there is none.
    [[nodiscard]] Block* oneStuck() const noexcept {
        if constexpr (Block::clean) {
            return first_[stuck];
        } else {
            return nullptr;
        }
    }

    void add(Block& block) noexcept {
        used_ += block.used();
        changeHeld(held_ + block.count(), block.count());
        link(block);
    }

    void remove(Block& block) noexcept {
        used_ -= block.used();
        changeHeld(held_ - block.count(), block.count());
        unlink(block);
    }

    /// After a superblock has got more or less room in another way than by its owner's hand.
    void regroup(Block& block) noexcept {
        unlink(block);
        link(block);
    }

    [[nodiscard]] std::size_t used() const noexcept { return used_; }
    [[nodiscard]] std::size_t held() const noexcept { return held_; }
    /// Whether less is used than the emptiness policy allows.
    [[nodiscard]] bool isTooEmpty() const noexcept { return used_ < least_; }

    /// Runs `visit` on each superblock.
    template <class Visit>
    void forEach(Visit visit) const noexcept {
        for (Block* const first : first_) {
            for (Block* block = first; block != nullptr;) {
                Block* const next = block->next;
                visit(*block);
                block = next;
            }
        }
    }

    /// Whether the figures are those of the superblocks in the lists, and each is where it should
    /// be.
    [[nodiscard]] bool isConsistent() const noexcept {
        std::size_t used = 0;
        std::size_t held = 0;
        bool placed = true;
        for (std::uint32_t group = 0; group < groups; ++group) {
            const bool opens = group <= parts && first_[group] != nullptr;
            placed = placed && opens == ((open_ >> group & 1U) != 0);
            for (const Block* block = first_[group]; block != nullptr; block = block->next) {
                used += block->used();
                held += block->count();
                const std::uint32_t proper = groupOf(*block);
                placed = placed && block->group == group && block->used() <= block->count() &&
                         (proper == group || (group == 1 && block == emptyInUse()));
            }
        }
        return placed && used == used_ && held == held_;
    }

private:
    [[nodiscard]] static std::uint32_t groupOf(const Block& block) noexcept {
        if (block.used() == 0) {
            return empty;
        }
        if (block.used() == block.count()) {
            return full;
        }
        if (!block.hasRoom()) {
            return stuck;
        }
        return 1 + block.partUsed(parts);
    }

    /// After one or more objects of a superblock have been freed: it serves next. True if less is
    /// used now than should be.
    [[nodiscard, gnu::always_inline]] bool sortIn(Block& block) noexcept {
        if (block.used() < block.low) [[unlikely]] {
            regroup(block);
        } else if (first_[block.group] != &block) {
            moveToFront(block);
        }
        return used_ < least_;
    }

    /// The superblock that is empty, and first among those that are nearly.
    [[nodiscard]] Block* emptyInUse() const noexcept {
        return first_[1] != nullptr && first_[1]->used() == 0 ? first_[1] : nullptr;
    }

    /// The least number of used slots with which a superblock is in a group or a later one.
    [[nodiscard]] static std::uint16_t leastIn(std::uint32_t group, std::size_t count) noexcept {
        return static_cast<std::uint16_t>(((group - 1) * count + parts - 1) / parts);
    }

    void link(Block& block) noexcept {
        const std::uint32_t group = groupOf(block);
        block.group = static_cast<std::uint16_t>(group);
        switch (group) {
        case empty:
            block.low = 0;
            block.high = 1;
            break;
        case full:
        case stuck: // any free may change that
            block.low = block.high = static_cast<std::uint16_t>(block.count());
            break;
        default:
            block.low = leastIn(group, block.count());
            block.high = leastIn(group + 1, block.count());
        }
        pushFront(block);
    }

    void pushFront(Block& block) noexcept {
        if (block.group == 1) {
            if (Block* const other = emptyInUse()) [[unlikely]] {
                regroup(*other);
            }
        }
        Block*& first = first_[block.group];
        block.previous = nullptr;
        block.next = first;
        if (first != nullptr) {
            first->previous = &block;
        }
        first = &block;
        if (block.group <= parts) {
            open_ |= 1U << block.group;
        }
    }

    /// Pre: it is not there.
    void moveToFront(Block& block) noexcept {
        block.previous->next = block.next;
        if (block.next != nullptr) {
            block.next->previous = block.previous;
        }
        pushFront(block);
    }

    void unlink(Block& block) noexcept {
        if (block.next != nullptr) {
            block.next->previous = block.previous;
        }
        if (block.previous != nullptr) {
            block.previous->next = block.next;
            return;
        }
        first_[block.group] = block.next;
        if (block.next == nullptr) {
            open_ &= ~(1U << block.group);
        }
    }

    void changeHeld(std::size_t held, std::size_t each) noexcept {
        held_ = held;
        least_ = Emptiness::least(held, each);
    }

    std::uint32_t open_ = 0; ///< a bit for each group that has a superblock with room
    std::size_t used_ = 0;   ///< slots that are live: Hoard's u
    std::size_t least_ = 0;  ///< below so many the owner has more than it should
    std::size_t held_ = 0;   ///< slots of all superblocks: Hoard's a
    std::array<Block*, groups> first_{};
};

} // namespace heapwright
