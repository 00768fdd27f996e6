// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What goes on inside Hoard: owners of superblocks, each behind its lock, and how superblocks go
// from one to another. The layer above (layers/thread/hoard_heap.hpp) says what it is for.
//
// A class takes what its heap has: the fullest superblock with room; then what the global heap has
// of the class, the fullest first; then an empty one of another class of its heap; then a new one
// from the superheap, which is used under the global lock unless it is for several threads. (An
// empty one may not come before those of the global heap, else a class could have more and more of
// those there.) Superblocks that are empty when they come to the global heap go to the superheap.
// A superblock changes owners only under the locks of both; who frees an object takes the lock of
// the owner that it sees, and looks again. A heap stands in a block of the superheap.
#pragma once

#include <heapwright/core/traits.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/structure/cache/owner_tag.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/structure/superblock/emptiness.hpp>
#include <heapwright/structure/superblock/hoard_owner.hpp>
#include <heapwright/structure/superblock/owner_set.hpp>
#include <heapwright/structure/superblock/owners_view.hpp>
#include <heapwright/structure/superblock/superblock_classes.hpp>
#include <heapwright/structure/thread/heap_selector.hpp>
#include <heapwright/sync/lock.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

namespace heapwright {

template <class Classes, HeapSelector Selector, class Rule, class Lines, BlockHeap SuperHeap>
class HoardMemory : protected SuperHeap {
protected:
    using Superblocks = SuperblockClasses<SuperHeap::blockSize, Classes, Rule, Lines>;
    using Lists = typename Superblocks::Lists;
    using Block = typename Superblocks::Block;
    using Owner = HoardOwner<Superblocks, Rule>;
    using Hold = Guard<typename Owner::Mutex>;

    static_assert(sizeof(Owner) <= SuperHeap::blockSize);

    /// One that several threads may use is asked for superblocks, and given them, outside of the
    /// locks here: nobody waits for these while the system makes or takes pages.
    static constexpr bool belowNeedsLock = !ConcurrentHeap<SuperHeap>;

    constexpr HoardMemory() noexcept = default;
    ~HoardMemory() = default;

    [[nodiscard, gnu::always_inline]] Owner& mine() noexcept {
        const std::size_t index = Selector::mine();
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
            heap->tenant = keyOfSharedHeap(index);
        }
        owners_.enter(index, *heap);
        return *heap;
    }

    [[nodiscard]] Owner& global() noexcept { return owners_.global(); }

    /// Locks whoever owns a superblock. Aborts if nobody does.
    [[nodiscard, gnu::always_inline]] Owner& locked(Block& block,
                                                    std::string_view routine) noexcept {
        for (;;) {
            void* const seen = block.owner.load(std::memory_order_acquire); // it may be new
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

    /// Up to `most` objects of a class, in a chain from `*end` on; how many there are. They come
    /// from one superblock.
    [[nodiscard]] std::uint32_t takenChain(Owner& heap, std::size_t index, std::uint32_t most,
                                           ObjectLink**& end) noexcept {
        Block* block = serving(heap, index);
        if (block == nullptr && refill(heap, index)) {
            block = serving(heap, index);
        }
        const std::uint32_t taken =
            block == nullptr ? 0U : heap.superblocks[index].takeChainFrom(*block, most, end);
        verify(heap, index);
        return taken;
    }

    [[nodiscard, gnu::always_inline]] void* takenFromOwn(Owner& heap, std::size_t index) noexcept {
        if constexpr (Lines::clean) {
            Block* const block = serving(heap, index);
            return block == nullptr ? nullptr : heap.superblocks[index].takeFrom(*block);
        } else {
            return heap.superblocks[index].take();
        }
    }

    /// The fullest superblock with room for the calling thread; null if there is none. A new tenant
    /// of a heap finds there what is his now, too.
    [[nodiscard]] Block* serving(Owner& heap, std::size_t index) noexcept {
        Lists& lists = heap.superblocks[index];
        Block* block = lists.fullest();
        if constexpr (Lines::clean) {
            letToThisThread(heap);
            for (; block != nullptr && block->tenant() != heap.tenant; block = lists.fullest()) {
                block->letTo(heap.tenant);
                lists.regroup(*block);
            }
        }
        return block;
    }

    /// Says whose a heap is that is one thread's.
    void letToThisThread(Owner& heap) noexcept {
        if constexpr (ExclusiveHeapSelector<Selector>) {
            if (&heap != &owners_.first()) {
                heap.tenant = keyOfThread(platform::threadNumber());
            }
        }
    }

    [[gnu::always_inline]] void give(Owner& owner, Block& block, void* object) noexcept {
        [[maybe_unused]] const std::size_t index = block.sizeClass();
        const bool tooEmpty = owner.superblocks.give(block, object);
        if (tooEmpty || &owner == &global()) [[unlikely]] {
            settle(owner, block); // and then it may be somebody else's
        }
        verify(owner, index);
    }

    /// The same for those that a chain begins with, as far as they are of the superblock: `number`
    /// at most, which is then how many there were.
    void giveChain(Owner& owner, Block& block, ObjectLink*& chain, std::uint32_t& number) noexcept {
        [[maybe_unused]] const std::size_t index = block.sizeClass();
        const bool tooEmpty = owner.superblocks.giveChain(block, chain, number);
        if (tooEmpty || &owner == &global()) [[unlikely]] {
            settle(owner, block);
        }
        verify(owner, index);
    }

    /// A class of a heap has become too empty, or a superblock empty.
    [[gnu::noinline]] void settle(Owner& owner, Block& block) noexcept {
        if (&owner == &global()) {
            const std::size_t index = block.sizeClass();
            if (block.used() == 0) {
                owner.superblocks.remove(block);
                retire(block);
                freeBelow(owner, block);
            }
            sayWhetherGlobalServes(index);
            return;
        }
        Lists& lists = owner.superblocks[block.sizeClass()];
        while (lists.isTooEmpty()) {
            Block* const mostlyEmpty = lists.oneMostlyEmpty();
            Block* const moving = mostlyEmpty != nullptr ? mostlyEmpty : lists.oneStuck();
            if (moving == nullptr) {
                break;
            }
            giveAway(owner, lists, *moving);
        }
    }

    /// A superblock goes to the global heap. It stays its tenant's until it gets another.
    void giveAway(Owner& owner, Lists& lists, Block& block) noexcept {
        lists.remove(block);
        bool leaves = block.used() == 0;
        {
            const Hold hold(global().lock);
            ++globalTakes_;
            if (!leaves) {
                addToGlobal(block);
            } else if (belowNeedsLock) {
                discard(block);
                leaves = false;
            } else {
                retire(block);
            }
        }
        if (leaves) {
            freeBelow(owner, block);
        }
    }

    /// All superblocks of a heap go to the global heap.
    void giveAllAway(Owner& heap) noexcept {
        for (std::size_t index = 0; index < Superblocks::count; ++index) {
            Lists& lists = heap.superblocks[index];
            while (Block* const block = lists.any()) {
                giveAway(heap, lists, *block);
            }
        }
    }

    /// One more superblock for a class, with room; false if there is no memory. Only when there is
    /// none of the class elsewhere is one taken from another class.
    [[gnu::noinline]] bool refill(Owner& heap, std::size_t index) noexcept {
        Block* block = fromGlobal(heap, index);
        block = block != nullptr ? block : heap.superblocks.removeSpare();
        block = block != nullptr ? block : fresh(heap, index);
        block = block != nullptr ? block : heap.superblocks.removeEmpty();
        if (block == nullptr) {
            return false;
        }
        Superblocks::reshape(*block, index);
        if constexpr (Lines::clean) {
            block->letTo(heap.tenant);
        }
        heap.superblocks.add(*block);
        if constexpr (Lines::clean) {
            Lists& lists = heap.superblocks[index];
            for (Block* stuck = lists.oneStuck(); stuck != nullptr && lists.isTooEmpty();
                 stuck = lists.oneStuck()) {
                giveAway(heap, lists, *stuck);
            }
        }
        return true;
    }

    /// The fullest superblock of the global heap that has room for the tenant of a heap. Those that
    /// turn out to have none, since what is live there is old now, stay.
    [[nodiscard]] Block* fromGlobal(Owner& heap, std::size_t index) noexcept {
        if (!globalServes_[index].load(std::memory_order_relaxed)) {
            return nullptr;
        }
        const Hold hold(global().lock);
        ++globalTakes_;
        Lists& lists = global().superblocks[index];
        Block* block = lists.fullest();
        if constexpr (Lines::clean) {
            for (; block != nullptr; block = lists.fullest()) {
                block->letTo(heap.tenant);
                if (block->hasRoom()) {
                    break;
                }
                lists.regroup(*block);
            }
        }
        if (block != nullptr) {
            lists.remove(*block);
            block->owner.store(&heap, std::memory_order_release);
        }
        sayWhetherGlobalServes(index);
        return block;
    }

    /// A superblock that was none.
    [[nodiscard]] Block* fresh(Owner& heap, std::size_t index) noexcept {
        void* memory = nullptr;
        if constexpr (belowNeedsLock) {
            const Hold hold(global().lock);
            ++globalTakes_;
            memory = SuperHeap::malloc(SuperHeap::blockSize);
        } else {
            heap.lock.unlock();
            memory = SuperHeap::malloc(SuperHeap::blockSize);
            heap.lock.lock();
        }
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

    void addToGlobal(Block& block) noexcept {
        block.owner.store(&global(), std::memory_order_release);
        global().superblocks.add(block);
        sayWhetherGlobalServes(block.sizeClass());
    }

    /// So that who needs a superblock finds out without a lock whether it is worth while.
    void sayWhetherGlobalServes(std::size_t index) noexcept {
        const bool serves = global().superblocks[index].fullest() != nullptr;
        if (serves != globalServes_[index].load(std::memory_order_relaxed)) {
            globalServes_[index].store(serves, std::memory_order_relaxed);
        }
    }

    /// An empty superblock that is in no list goes to the superheap.
    void discard(Block& block) noexcept {
        retire(block);
        SuperHeap::free(&block);
    }
    /// Lets the owner's lock go for as long as that takes, where it may: so who waits for a lock
    /// further down holds up nobody, not even a signal handler that forks while its thread has it.
    void freeBelow(Owner& owner, Block& block) noexcept {
        if constexpr (belowNeedsLock) {
            SuperHeap::free(&block);
        } else {
            owner.lock.unlock();
            SuperHeap::free(&block);
            owner.lock.lock();
        }
    }
    /// It is nobody's, and about to go there.
    void retire(Block& block) noexcept {
        ++returned_[block.sizeClass()];
        block.endHome();
        block.owner.store(nullptr, std::memory_order_relaxed);
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

    /// Forgets all superblocks and heaps. Nobody else may be inside, here and below.
    void forget() noexcept {
        owners_.forget();
        owners_.first().superblocks.clear();
        global().superblocks.clear();
        for (SharedWord<bool>& serves : globalServes_) {
            serves.store(false, std::memory_order_relaxed);
        }
    }

    /// Gives all superblocks to the superheap, whatever is live in them, and the heaps.
    void giveAllBack() noexcept {
        const auto giveBack = [this](Block& block) { discard(block); };
        owners_.forEachHeap([this, giveBack](Owner& heap) {
            heap.superblocks.forEach(giveBack);
            if (&heap != &owners_.first()) {
                SuperHeap::free(&heap);
            }
        });
        global().superblocks.forEach(giveBack);
        forget();
    }

    /// For who looks at all of it, held still; what is held of a size class, in slots; and how
    /// often the global lock was taken.
    using View = OwnersView<Superblocks, Classes, OwnerSet<Owner, Selector::count>>;
    [[nodiscard]] View view() noexcept { return View(owners_); }
    [[nodiscard]] auto figuresOf(std::size_t sizeClass) noexcept {
        return view().figuresOf(sizeClass);
    }
    [[nodiscard]] std::size_t globalTakes() const noexcept { return globalTakes_; }

    OwnerSet<Owner, Selector::count> owners_;
    std::size_t globalTakes_ = 0;                          ///< under the global lock
    std::array<std::uint64_t, Classes::count> returned_{}; ///< superblocks, under it, too
    /// Whether the global heap has a superblock with room, class by class; written under its lock.
    std::array<SharedWord<bool>, Classes::count> globalServes_{};
};

} // namespace heapwright
