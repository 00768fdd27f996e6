// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The superblocks of one owner: a list structure for each size class (`SuperblockLists`), and all
// classes together (`SuperblockClasses`).
//
// The superblocks of a class are sorted into groups by fullness. So the owner finds the fullest one
// with room, an empty one and a mostly empty one in a few steps. The groups are: empty; equal parts
// (eighths, unless the emptiness policy sets another number); full; and stuck. A stuck superblock
// has free slots, but all of them are withheld (only with `CleanLines`).
//
// A superblock moves to the front of its group when it changes groups or when an object of it is
// freed. A superblock that becomes empty stays first in group 1 until another one is first there.
// So a program with few live objects moves no superblock.
//
// An empty superblock can serve any size class.
//
// Invariant: `used` and `held` are the sums over the superblocks in the lists, in slots.
// Invariant: a group's bit in `open_` is set if and only if the group has a superblock with room.
// Invariant: a class with an empty superblock has its bit in `empties_` set. The converse may fail.
// Pre: the caller holds the owner's lock.
// Cost: a bit scan to allocate, a few stores to free. A growing superblock changes groups once for
// each part.
// Source: Hoard's fullness groups (Berger 2002, 7.2).
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/bulk.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/structure/map/bit_set.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/structure/superblock/superblock.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace heapwright {

template <class Block, class Emptiness>
class SuperblockLists {
    static constexpr std::uint32_t empty = 0;
    static constexpr std::uint32_t parts = Emptiness::parts;
    static constexpr std::uint32_t full = parts + 1;
    static constexpr std::uint32_t stuck = parts + 2; ///< all free slots are withheld
    static constexpr std::uint32_t groups = Block::clean ? stuck + 1 : full + 1;

public:
    /// A slot of the fullest superblock with room; null if there is none.
    [[nodiscard, gnu::always_inline]] void* allocate() noexcept {
        if (open_ == 0) [[unlikely]] {
            return nullptr;
        }
        return allocateFrom(*first_[floorLog2(open_)]);
    }

    /// A slot of a superblock in these lists.
    /// Pre: the superblock has room.
    [[nodiscard, gnu::always_inline]] void* allocateFrom(Block& block) noexcept {
        void* const slot = block.allocate();
        ++used_;
        if (block.used() >= block.high || (Block::clean && !block.hasRoom())) [[unlikely]] {
            regroup(block);
        }
        return slot;
    }

    /// Appends up to `most` slots of a superblock to a chain at `*end`, and returns their number.
    /// Pre: the superblock has room.
    [[nodiscard]] std::uint32_t allocateChainFrom(Block& block, std::uint32_t most,
                                                  ObjectLink**& end) noexcept {
        const std::uint32_t count = block.allocateChain(most, end);
        used_ += count;
        if (block.used() >= block.high || (Block::clean && !block.hasRoom())) {
            regroup(block);
        }
        return count;
    }

    /// Frees an object; aborts if it is not live. True if the class is then too empty.
    [[nodiscard, gnu::always_inline]] bool free(Block& block, void* object) noexcept {
        block.free(object);
        --used_;
        return regroupAfterFree(block);
    }

    /// Frees up to `number` objects of a superblock from the front of a chain. True if the class is
    /// then too empty.
    /// Post: `number` is the number of objects freed.
    [[nodiscard]] bool freeChain(Block& block, ObjectLink*& chain, std::uint32_t& number) noexcept {
        number = block.freeChain(chain, number);
        used_ -= number;
        return regroupAfterFree(block);
    }

    /// The fullest superblock with room; null if there is none.
    [[nodiscard]] Block* fullest() const noexcept {
        return open_ == 0 ? nullptr : first_[floorLog2(open_)];
    }
    /// An empty superblock; null if there is none.
    [[nodiscard]] Block* oneEmpty() const noexcept {
        return first_[empty] != nullptr ? first_[empty] : emptyInUse();
    }

    /// A superblock that the emptiness policy calls mostly empty; null if there is none.
    /// Pre: `isTooEmpty()`.
    [[nodiscard]] Block* oneMostlyEmpty() const noexcept {
        static_assert(parts % Emptiness::denominator == 0,
                      "the limit of `isMostlyEmpty` is the limit of a group");
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
    /// A superblock whose free slots are all withheld; null if there is none.
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

    /// Moves a superblock to the group of its fullness, after a change made elsewhere.
    void regroup(Block& block) noexcept {
        unlink(block);
        link(block);
    }

    [[nodiscard]] std::size_t used() const noexcept { return used_; }
    [[nodiscard]] std::size_t held() const noexcept { return held_; }
    /// Whether fewer slots are used than the emptiness policy requires.
    [[nodiscard]] bool isTooEmpty() const noexcept { return used_ < least_; }
    /// Whether that would be so with one more superblock.
    [[nodiscard]] bool isTooEmptyWith(const Block& block) const noexcept {
        return used_ + block.used() < Emptiness::least(held_ + block.count(), block.count());
    }

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

    /// Whether the sums match the superblocks in the lists, and each is in the right group.
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
                const std::uint32_t expected = groupOf(*block);
                placed = placed && block->group == group && block->used() <= block->count() &&
                         (expected == group || (group == 1 && block == emptyInUse()));
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

    /// Makes a superblock serve the next request, after objects of it were freed. True if the class
    /// is then too empty.
    [[nodiscard, gnu::always_inline]] bool regroupAfterFree(Block& block) noexcept {
        if (block.used() < block.low) [[unlikely]] {
            regroup(block);
        } else if (first_[block.group] != &block) {
            moveToFront(block);
        }
        return used_ < least_;
    }

    /// The empty superblock at the front of group 1; null if there is none.
    [[nodiscard]] Block* emptyInUse() const noexcept {
        return first_[1] != nullptr && first_[1]->used() == 0 ? first_[1] : nullptr;
    }

    /// The least number of used slots of a superblock in a group, for `count` slots.
    [[nodiscard]] static std::uint16_t leastUsedIn(std::uint32_t group,
                                                   std::size_t count) noexcept {
        return static_cast<std::uint16_t>(((group - 1) * count + parts - 1) / parts);
    }

    /// Out of line, since it is seldom called and long.
    [[gnu::noinline]] void link(Block& block) noexcept {
        const std::uint32_t group = groupOf(block);
        block.group = static_cast<std::uint16_t>(group);
        switch (group) {
        case empty:
            block.low = 0;
            block.high = 1;
            break;
        case full:
        case stuck: // any free may change the group
            block.low = block.high = static_cast<std::uint16_t>(block.count());
            break;
        default:
            block.low = leastUsedIn(group, block.count());
            block.high = leastUsedIn(group + 1, block.count());
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

    /// Pre: it is not the first of its group.
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

    std::uint32_t open_ = 0; ///< bit set: the groups that have a superblock with room
    std::size_t used_ = 0;   ///< live slots: Hoard's u
    std::size_t least_ = 0;  ///< least number of used slots that the emptiness policy requires
    std::size_t held_ = 0;   ///< slots of all superblocks: Hoard's a
    std::array<Block*, groups> first_{}; ///< by group
};

template <std::size_t Size, class Classes, class Emptiness, class Lines>
class SuperblockClasses {
public:
    using Block = Superblock<Size, Lines>;
    using Lists = SuperblockLists<Block, Emptiness>;
    using Layout = typename Block::Layout;

    static constexpr std::size_t count = Classes::count;
    static_assert(Classes::sizeOf(count - 1) <= Size / 2,
                  "a superblock holds at least two objects");

    [[nodiscard]] static constexpr const Layout& layoutOf(std::size_t sizeClass) noexcept {
        return layouts_[sizeClass];
    }

    /// The class for objects of `size` bytes at an alignment of more than 16; `count` if there is
    /// none.
    /// Post: its slots have the alignment, or room for an aligned object inside.
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

    /// The next class from `sizeClass` on whose slots are whole cache lines; `sizeClass` if there
    /// is none.
    [[nodiscard]] static constexpr std::size_t classOfWholeLines(std::size_t sizeClass) noexcept {
        for (std::size_t at = sizeClass; at < count; ++at) {
            if (layouts_[at].slot % Layout::cacheLine == 0) {
                return at;
            }
        }
        return sizeClass;
    }

    [[nodiscard]] Lists& operator[](std::size_t sizeClass) noexcept { return lists_[sizeClass]; }
    [[nodiscard]] const Lists& operator[](std::size_t sizeClass) const noexcept {
        return lists_[sizeClass];
    }

    /// Frees an object of a superblock of this owner. True if its class is then too empty.
    [[nodiscard, gnu::always_inline]] bool free(Block& block, void* object) noexcept {
        const bool tooEmpty = lists_[block.sizeClass()].free(block, object);
        if (block.used() == 0) {
            empties_.set(block.sizeClass());
        }
        return tooEmpty;
    }

    /// Frees up to `number` objects of a superblock from the front of a chain. True if the class is
    /// then too empty.
    /// Post: `number` is the number of objects freed.
    [[nodiscard]] bool freeChain(Block& block, ObjectLink*& chain, std::uint32_t& number) noexcept {
        const bool tooEmpty = lists_[block.sizeClass()].freeChain(block, chain, number);
        if (block.used() == 0) {
            empties_.set(block.sizeClass());
        }
        return tooEmpty;
    }

    /// Adds a superblock to the lists of its class.
    void add(Block& block) noexcept {
        lists_[block.sizeClass()].add(block);
        if (block.used() == 0) {
            empties_.set(block.sizeClass());
        }
    }

    void remove(Block& block) noexcept { lists_[block.sizeClass()].remove(block); }

    /// Removes an empty superblock of any class; null if there is none.
    [[nodiscard]] Block* removeEmpty() noexcept {
        return removeEmptyIf([](const Lists& /*lists*/) { return true; });
    }
    /// Removes an empty superblock of a class that has others. The last superblock of a class
    /// stays, so that it does not change classes in a program with one live object at a time.
    [[nodiscard]] Block* removeSpare() noexcept {
        return removeEmptyIf(
            [](const Lists& lists) { return lists.held() > lists.oneEmpty()->count(); });
    }

    /// Constructs an empty superblock that is in no list.
    [[nodiscard]] static Block& make(void* memory, std::size_t sizeClass, void* owner) noexcept {
        Block* const block = ::new (memory) Block(layouts_[sizeClass], sizeClass);
        block->owner.store(owner, std::memory_order_release);
        return *block;
    }

    /// Changes the class of an empty superblock that is in no list.
    static void reshape(Block& block, std::size_t sizeClass) noexcept {
        if (block.sizeClass() != sizeClass) {
            block.reshape(layouts_[sizeClass], sizeClass);
        }
    }

    /// Empties all lists. The superblocks are not touched.
    void clear() noexcept {
        lists_ = {};
        empties_.clear();
    }

    /// Adds the free slots to `held`.
    void measure(MemoryUsage& usage) const noexcept {
        for (std::size_t at = 0; at < count; ++at) {
            const std::size_t slots = lists_[at].held() - lists_[at].used();
            usage.held += slots * layouts_[at].slot;
            usage.heldCount += slots;
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

    std::array<Lists, count> lists_{}; ///< by size class
    BitSet<count> empties_;            ///< classes that may have an empty superblock
};

} // namespace heapwright
