// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What goes on inside Hoard: owners of superblocks, each behind its lock, and how superblocks go
// from one to another. The layer above (layers/thread/hoard_heap.hpp) says what it is for.
//
// A class takes what its heap has: the fullest superblock with room, or else an empty one of
// whatever class; then what the global heap has, the fullest first; then a new one from the
// superheap, which is used under the global lock only. Superblocks that are empty when they come to
// the global heap go to the superheap.
// A superblock changes owners only under the locks of both; who frees an object takes the lock of
// the owner that it sees, and looks again. A heap stands in a block of the superheap.
#pragma once

#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/structure/emptiness.hpp>
#include <heapwright/structure/heap_choice.hpp>
#include <heapwright/structure/owner_set.hpp>
#include <heapwright/structure/superblock_classes.hpp>
#include <heapwright/sync/futex_lock.hpp>
#include <heapwright/sync/lock.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

namespace heapwright {

template <class Classes, HeapChoice Assignment, class Rule, class Lines, BlockHeap SuperHeap>
class HoardMemory : protected SuperHeap {
protected:
    using Superblocks = SuperblockClasses<SuperHeap::blockSize, Classes, Rule, Lines>;
    using Lists = typename Superblocks::Lists;
    using Block = typename Superblocks::Block;
    using Hold = Guard<FutexLock>;

    /// The superblocks of one owner. It stands in a block of the superheap, which is nobody's.
    struct alignas(64) Owner {
        void* nobody = nullptr; ///< where a superblock says whose it is
        FutexLock lock;
        std::uint32_t heldSince = 0; ///< the fork that holds it, counted from 1; 0: none
        std::uint32_t tenant = 0;    ///< the thread whose heap it is, if it is one thread's
        Superblocks superblocks;
    };

    static_assert(sizeof(Owner) <= SuperHeap::blockSize);

    constexpr HoardMemory() noexcept = default;
    ~HoardMemory() = default;

    [[nodiscard, gnu::always_inline]] Owner& mine() noexcept {
        const std::size_t index = Assignment::mine();
        Owner* const heap = owners_.find(index);
        return heap != nullptr ? *heap : made(index);
    }

    /// Where there is no memory for a heap, the first one serves.
    [[gnu::cold, gnu::noinline]] Owner& made(std::size_t index) noexcept {
        const Hold hold(global().lock);
        if (Owner* const heap = owners_.find(index)) {
            return *heap;
        }
        Owner* heap = &owners_.first();
        if (index != 0) {
            void* const memory = SuperHeap::malloc(sizeof(Owner));
            if (memory == nullptr) {
                return *heap;
            }
            heap = ::new (memory) Owner;
        }
        owners_.enter(index, *heap);
        return *heap;
    }

    [[nodiscard]] Owner& global() noexcept { return owners_.global(); }

    /// Locks whoever owns a superblock. Aborts if nobody does.
    [[nodiscard, gnu::always_inline]] Owner& locked(Block& block,
                                                    std::string_view routine) noexcept {
        for (;;) {
            void* const seen = block.owner.load(std::memory_order_relaxed);
            if (seen == nullptr) [[unlikely]] {
                platform::abortWithMessage(routine, "invalid pointer");
            }
            auto* const owner = static_cast<Owner*>(seen);
            owner->lock.lock();
            if (block.owner.load(std::memory_order_relaxed) == seen) [[likely]] {
                return *owner;
            }
            owner->lock.unlock(); // it has been transferred meanwhile
        }
    }

    // --- under the lock of a heap ---

    [[nodiscard, gnu::always_inline]] void* taken(Owner& heap, std::size_t index) noexcept {
        void* object = takenFromOwn(heap, index);
        if (object == nullptr) [[unlikely]] {
            object = refill(heap, index) ? takenFromOwn(heap, index) : nullptr;
        }
        verify(heap, index);
        return object;
    }

    [[nodiscard, gnu::always_inline]] void* takenFromOwn(Owner& heap, std::size_t index) noexcept {
        if constexpr (Lines::clean) {
            return takenClean(heap, index);
        } else {
            return heap.superblocks[index].take();
        }
    }

    /// From a superblock whose lines are clean for the calling thread. A new tenant of a heap finds
    /// there what was transferred to him.
    [[nodiscard]] void* takenClean(Owner& heap, std::size_t index) noexcept {
        if constexpr (requires { Assignment::isExclusive(index); }) {
            if (&heap != &owners_.first()) {
                heap.tenant = platform::threadNumber() + 1;
            }
        }
        Lists& lists = heap.superblocks[index];
        while (Block* const block = lists.fullest()) {
            if (block->tenant == heap.tenant) [[likely]] {
                return lists.takeFrom(*block);
            }
            block->tenant = heap.tenant;
            block->becomeOld();
            lists.regroup(*block);
        }
        return nullptr;
    }

    [[gnu::always_inline]] void give(Owner& owner, Block& block, void* object) noexcept {
        [[maybe_unused]] const std::size_t index = block.sizeClass();
        const bool tooEmpty = owner.superblocks.give(block, object);
        if (tooEmpty || (block.used() == 0 && &owner == &global())) [[unlikely]] {
            settle(owner, block); // and then it may be somebody else's
        }
        verify(owner, index);
    }

    /// A class of a heap has become too empty, or a superblock empty.
    [[gnu::noinline]] void settle(Owner& owner, Block& block) noexcept {
        if (&owner == &global()) {
            if (block.used() == 0) {
                owner.superblocks.remove(block);
                discard(block);
            }
            return;
        }
        Lists& lists = owner.superblocks[block.sizeClass()];
        while (lists.isTooEmpty()) {
            Block* const mostlyEmpty = lists.oneMostlyEmpty();
            Block* const moving = mostlyEmpty != nullptr ? mostlyEmpty : lists.oneStuck();
            if (moving == nullptr) {
                break;
            }
            giveAway(lists, *moving);
        }
    }

    void giveAway(Lists& lists, Block& block) noexcept {
        lists.remove(block);
        if constexpr (Lines::clean) {
            block.becomeOld();
        }
        const Hold hold(global().lock);
        ++globalTakes_;
        if (block.used() == 0) {
            discard(block);
        } else {
            block.owner.store(&global(), std::memory_order_relaxed);
            global().superblocks.add(block);
        }
    }

    /// One more superblock for a class; false if there is no memory.
    [[gnu::noinline]] bool refill(Owner& heap, std::size_t index) noexcept {
        Block* block = heap.superblocks.removeSpare();
        if (block == nullptr) {
            block = fromGlobal(heap, index);
        }
        if (block == nullptr) {
            block = heap.superblocks.removeEmpty();
        }
        if (block == nullptr) {
            return false;
        }
        Superblocks::reshape(*block, index);
        block->tenant = heap.tenant;
        heap.superblocks.add(*block);
        if constexpr (Lines::clean) {
            Lists& lists = heap.superblocks[index];
            for (Block* stuck = lists.oneStuck(); stuck != nullptr && lists.isTooEmpty();
                 stuck = lists.oneStuck()) {
                giveAway(lists, *stuck);
            }
        }
        return true;
    }

    [[nodiscard]] Block* fromGlobal(Owner& heap, std::size_t index) noexcept {
        const Hold hold(global().lock);
        ++globalTakes_;
        Lists& lists = global().superblocks[index];
        if (Block* const block = lists.fullest()) {
            lists.remove(*block);
            block->owner.store(&heap, std::memory_order_relaxed);
            return block;
        }
        void* const memory = SuperHeap::malloc(SuperHeap::blockSize);
        return memory == nullptr ? nullptr : &Superblocks::make(memory, index, &heap);
    }

    void verify([[maybe_unused]] Owner& owner, [[maybe_unused]] std::size_t index) noexcept {
        if constexpr (Rule::verified) {
            const Lists& lists = owner.superblocks[index];
            if (!lists.isConsistent() || (&owner != &global() && lists.isTooEmpty())) {
                platform::abortWithMessage("hoard", "the invariant of a heap does not hold");
            }
        }
    }

    // --- under the global lock ---

    /// An empty superblock that is in no list goes to the superheap.
    void discard(Block& block) noexcept {
        block.owner.store(nullptr, std::memory_order_relaxed);
        SuperHeap::free(&block);
    }

    // --- everything ---

    bool returnEmpty() noexcept {
        bool any = false;
        owners_.forEachHeap([&](Owner& heap) {
            const Hold hold(heap.lock);
            while (Block* const block = heap.superblocks.removeEmpty()) {
                const Hold holdGlobal(global().lock);
                discard(*block);
                any = true;
            }
        });
        return any;
    }

    /// What is held of a size class, in slots, and how often the global lock was taken. Nobody else
    /// may be inside.
    struct Figures {
        std::size_t used = 0;       ///< live, anywhere
        std::size_t held = 0;       ///< by the heaps of threads
        std::size_t heldGlobal = 0; ///< by the global heap
        std::size_t heaps = 0;      ///< how many heaps of threads there are
    };
    [[nodiscard]] Figures figuresOf(std::size_t sizeClass) noexcept {
        Figures sum;
        owners_.forEachHeap([&](Owner& heap) {
            sum.used += heap.superblocks[sizeClass].used();
            sum.held += heap.superblocks[sizeClass].held();
            ++sum.heaps;
        });
        sum.used += global().superblocks[sizeClass].used();
        sum.heldGlobal = global().superblocks[sizeClass].held();
        return sum;
    }

    [[nodiscard]] std::size_t globalTakes() const noexcept { return globalTakes_; }

    OwnerSet<Owner, Assignment::count> owners_;
    std::size_t globalTakes_ = 0; ///< under the global lock
};

} // namespace heapwright
