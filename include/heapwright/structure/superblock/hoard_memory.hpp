// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Hoard's algorithm: how superblocks move between the heaps of threads, the global heap and the
// heap below. `HoardHeap` (layers/thread/hoard_heap.hpp) is the layer on top.
//
// A class of a thread's heap takes a slot from the first of these that exists:
//   1. the fullest superblock of the class with room, in the thread's heap;
//   2. the fullest superblock of the class with room, in the global heap;
//   3. an empty superblock of another class of the thread's heap;
//   4. a new superblock from the heap below;
//   5. the last superblock of another class, if it is empty.
// Step 3 leaves each class one superblock. Step 2 precedes step 3. Otherwise the superblocks of a
// class in the global heap could grow without bound. An empty superblock that reaches the global
// heap is freed to the heap below.
//
// A thread that ends leaves all its superblocks to the global heap. With `CleanRunningLines` they
// have no tenant there. A thread that frees an object of one adopts it, unless its class would then
// be too empty.
//
// Invariant: a superblock changes its owner under the locks of both owners.
// Invariant: a freeing thread takes the lock of the owner that it loaded, then loads the owner
// again. If the owner has changed, the thread starts again.
// Invariant: the heap below is called under the global lock, or without a lock if it is concurrent.
// So no thread waits for a lock during a system call, and no handler that interrupted it and forks.
#pragma once

#include <heapwright/core/traits.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/structure/cache/owner_tag.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/structure/superblock/emptiness.hpp>
#include <heapwright/structure/superblock/hoard_owner.hpp>
#include <heapwright/structure/superblock/superblock_lists.hpp>
#include <heapwright/structure/superblock/superblock_view.hpp>
#include <heapwright/structure/thread/heap_selector.hpp>
#include <heapwright/sync/lock.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>
#include <utility>

namespace heapwright {

template <class Classes, HeapSelector Selector, class Rule, class Lines, BlockHeap SuperHeap>
class HoardMemory : protected SuperHeap {
protected:
    using Superblocks = SuperblockClasses<SuperHeap::blockSize, Classes, Rule, Lines>;
    using Lists = typename Superblocks::Lists;
    using Block = typename Superblocks::Block;
    /// Other threads may leave the objects of one superblock to an owner.
    static constexpr std::size_t remoteBytes = SuperHeap::blockSize;
    using Owner = HoardOwner<Superblocks, Rule, remoteBytes>;
    using Hold = Guard<typename Owner::Mutex>;

    static_assert(sizeof(Owner) <= SuperHeap::blockSize);

    static constexpr bool belowNeedsLock = !ConcurrentHeap<SuperHeap>;

    constexpr HoardMemory() noexcept = default;
    ~HoardMemory() = default;

    /// The calling thread's heap.
    [[nodiscard, gnu::always_inline]] Owner& heapOfThread() noexcept {
        const std::size_t index = Selector::mine();
        Owner* const heap = owners_.find(index);
        return heap != nullptr ? *heap : createHeap(index);
    }

    /// Creates the heap with a number. The first heap serves if there is no memory for another.
    [[gnu::cold, gnu::noinline]] Owner& createHeap(std::size_t index) noexcept {
        void* const memory =
            index == 0 ? nullptr : calledBelow([&] { return SuperHeap::malloc(sizeof(Owner)); });
        Owner& heap = addHeap(index, memory);
        if (memory != nullptr && &heap != memory) [[unlikely]] {
            calledBelow([&] { SuperHeap::free(memory); }); // another thread was faster
        }
        return heap;
    }

    /// The heap with a number, in this memory unless another thread has added it.
    Owner& addHeap(std::size_t index, void* memory) noexcept {
        const Hold hold(global().lock);
        if (Owner* const heap = owners_.find(index)) {
            return *heap;
        }
        if (index != 0 && memory == nullptr) {
            return owners_.first();
        }
        Owner& heap = index == 0 ? owners_.first() : *::new (memory) Owner;
        if (index != 0) {
            heap.served = keyOfSharedHeap(index);
        }
        owners_.add(index, heap);
        return heap;
    }

    /// Runs a call of the heap below, under the global lock if that heap needs a lock.
    template <class Call>
    decltype(auto) calledBelow(Call call) noexcept {
        if constexpr (belowNeedsLock) {
            const Hold hold(global().lock);
            return call();
        }
        return call();
    }

    [[nodiscard]] Owner& global() noexcept { return owners_.global(); }

    /// Locks the owner of a superblock and returns it. Aborts if there is no owner.
    [[nodiscard, gnu::always_inline]] Owner& lockOwner(Block& block,
                                                       std::string_view routine) noexcept {
        for (;;) {
            void* const seen = block.owner.load(std::memory_order_acquire); // a new owner's members
            if (seen == nullptr) [[unlikely]] {
                platform::abortWithMessage(routine, "invalid pointer");
            }
            auto* const owner = static_cast<Owner*>(seen);
            owner->lock.lock();
            if (block.owner.load(std::memory_order_relaxed) == seen) [[likely]] {
                return *owner;
            }
            owner->lock.unlock(); // the owner has changed
        }
    }

    /// The class that serves a request in a heap. In a heap that threads share, slots are whole
    /// cache lines. So no two of these threads get parts of one line.
    [[nodiscard, gnu::always_inline]] std::size_t classIn(const Owner& heap,
                                                          std::size_t index) noexcept {
        if constexpr (Lines::clean && ExclusiveHeapSelector<Selector>) {
            return &heap == &owners_.first() ? Superblocks::classOfWholeLines(index) : index;
        } else {
            return index;
        }
    }

    // --- under the lock of a heap ---

    /// An object of a class; null if there is no memory.
    [[nodiscard, gnu::always_inline]] void* allocate(Owner& heap, std::size_t index) noexcept {
        void* object = allocateHeld(heap, index);
        if (object == nullptr) [[unlikely]] {
            object = refill(heap, index) ? allocateHeld(heap, index) : nullptr;
        }
        verify(heap, index);
        return object;
    }

    /// Appends up to `most` objects of a class to a chain at `*end`, and returns their number. All
    /// are from one superblock.
    [[nodiscard]] std::uint32_t allocateChain(Owner& heap, std::size_t index, std::uint32_t most,
                                              ObjectLink**& end) noexcept {
        Block* block = blockWithRoom(heap, index);
        if (block == nullptr && refill(heap, index)) {
            block = blockWithRoom(heap, index);
        }
        const std::uint32_t count =
            block == nullptr ? 0U : heap.superblocks[index].allocateChainFrom(*block, most, end);
        verify(heap, index);
        return count;
    }

    /// An object from the heap's own superblocks; null if none has room.
    [[nodiscard, gnu::always_inline]] void* allocateHeld(Owner& heap, std::size_t index) noexcept {
        if constexpr (Lines::clean) {
            Block* const block = blockWithRoom(heap, index);
            return block == nullptr ? nullptr : heap.superblocks[index].allocateFrom(*block);
        } else {
            return heap.superblocks[index].allocate();
        }
    }

    /// The fullest superblock with room for the calling thread; null if there is none. Superblocks
    /// with the tag of an earlier thread of this heap are assigned to the calling thread.
    [[nodiscard]] Block* blockWithRoom(Owner& heap, std::size_t index) noexcept {
        Lists& lists = heap.superblocks[index];
        Block* block = lists.fullest();
        if constexpr (Lines::clean) {
            serveThisThread(heap);
            for (; block != nullptr && block->ownerTag() != heap.served; block = lists.fullest()) {
                assign(*block, heap.served);
                lists.regroup(*block);
            }
        }
        return block;
    }

    /// Sets the served tag of a heap that one thread has exclusively.
    void serveThisThread(Owner& heap) noexcept {
        if constexpr (ExclusiveHeapSelector<Selector>) {
            if (&heap != &owners_.first()) {
                const OwnerTag tag = tagOfThisThread();
                if (heap.served != tag) {
                    heap.served = tag;
                }
            }
        }
    }

    /// The tag of the calling thread.
    [[nodiscard]] static OwnerTag tagOfThisThread() noexcept {
        static_assert(Selector::count <= std::size_t{1} << 12U, "a tag names a heap");
        return keyOfThread(platform::threadNumber(), Selector::mine());
    }

    /// Assigns a superblock to a tag. Its objects become old unless their thread has ended.
    void assign(Block& block, OwnerTag tag) noexcept {
        if constexpr (Lines::forgetsEnded) {
            if (block.ownerTag() != tag && hasEnded(block.ownerTag())) {
                block.forgetTenant();
            }
        }
        block.assignTo(tag);
    }

    /// Whether the thread of a tag no longer has its heap.
    [[nodiscard]] bool hasEnded(OwnerTag tag) const noexcept {
        if (!isThreadTag(tag)) {
            return false;
        }
        const std::size_t place = placeOfThread(tag);
        const Owner* const heap = place < Selector::count ? owners_.find(place) : nullptr;
        return heap == nullptr || heap->served != tag;
    }

    /// Frees an object.
    /// Pre: `owner` owns `block` and its lock is held.
    [[gnu::always_inline]] void freeInto(Owner& owner, Block& block, void* object) noexcept {
        [[maybe_unused]] const std::size_t index = block.sizeClass();
        const bool tooEmpty = owner.superblocks.free(block, object);
        if (tooEmpty || &owner == &global()) [[unlikely]] {
            rebalance(owner, block); // may change the block's owner
        }
        verify(owner, index);
    }

    /// Frees up to `number` objects of a superblock from the front of a chain.
    /// Post: `number` is the number of objects freed.
    void freeChainInto(Owner& owner, Block& block, ObjectLink*& chain,
                       std::uint32_t& number) noexcept {
        [[maybe_unused]] const std::size_t index = block.sizeClass();
        const bool tooEmpty = owner.superblocks.freeChain(block, chain, number);
        if (tooEmpty || &owner == &global()) [[unlikely]] {
            rebalance(owner, block);
        }
        verify(owner, index);
    }

    // --- without a lock ---

    /// Frees the first `number` objects of a chain that ends at `end`, and returns the rest of it.
    /// All objects of one owner are freed under one acquisition of its lock.
    /// Pre: `end` is null or an address outside of all superblocks.
    [[nodiscard]] ObjectLink* freeOwned(ObjectLink* chain, std::size_t number,
                                        ObjectLink* end) noexcept {
        while (chain != end && number > 0) {
            Owner& owner = lockOwner(Block::of(chain), "free");
            std::size_t left = std::exchange(number, 0);
            for (ObjectLink** at = &chain; left > 0 && *at != end;) {
                Block& block = Block::of(*at);
                if (block.owner.load(std::memory_order_relaxed) == &owner) [[likely]] {
                    auto given =
                        static_cast<std::uint32_t>(std::min<std::size_t>(left, UINT32_MAX));
                    freeChainInto(owner, block, *at, given);
                    left -= given;
                } else {
                    at = &(*at)->next;
                    --left;
                    ++number; // for the next iteration
                }
            }
            owner.lock.unlock();
        }
        return chain;
    }

    void freeAll(ObjectLink* chain) noexcept {
        while (chain != nullptr) {
            chain = freeOwned(chain, SIZE_MAX, nullptr);
        }
    }

    /// Sends the `number` objects of a chain to their owners. If an owner collects none now, or has
    /// too many already, all that wait for it are freed here. An owner may receive objects of
    /// superblocks that move away meanwhile. Aborts if an object is in the chain twice.
    void sendAll(ObjectLink* chain, std::size_t number) noexcept {
        while (chain != nullptr) {
            void* const seen = Block::of(chain).owner.load(std::memory_order_acquire);
            if (seen == nullptr) [[unlikely]] {
                platform::abortWithMessage("free", "invalid pointer");
            }
            ObjectLink* const first = chain;
            ObjectLink* last = chain;
            std::size_t sum = Block::of(chain).layout().slot;
            ObjectLink** end = &chain; // of the objects of other owners
            ObjectLink* object = first->next;
            std::size_t left = std::exchange(number, 0);
            for (; --left > 0 && object != nullptr; object = object->next) {
                const Block& block = Block::of(object);
                if (block.owner.load(std::memory_order_relaxed) == seen) [[likely]] {
                    sum += block.layout().slot;
                    last->next = object;
                    last = object;
                } else {
                    *end = object;
                    end = &object->next;
                    ++number;
                }
            }
            if (object != nullptr) [[unlikely]] {
                platform::abortWithMessage("free", "double free");
            }
            Owner& owner = *static_cast<Owner*>(seen);
            *end = nullptr;
            if (!owner.remote.send(first, last, sum)) {
                last->next = nullptr;
                freeAll(first);
                freeAll(owner.remote.collect());
            }
        }
    }

    // --- under the lock of a heap ---

    /// Restores the emptiness invariant of a class, or frees an empty superblock of the global
    /// heap.
    [[gnu::noinline]] void rebalance(Owner& owner, Block& block) noexcept {
        if (&owner == &global()) {
            const std::size_t index = block.sizeClass();
            if (block.used() == 0) {
                owner.superblocks.remove(block);
                disown(block);
                freeUnlocked(owner, block);
            }
            updateGlobalHasRoom(index);
            return;
        }
        Lists& lists = owner.superblocks[block.sizeClass()];
        while (lists.isTooEmpty()) {
            Block* const mostlyEmpty = lists.oneMostlyEmpty();
            Block* const moving = mostlyEmpty != nullptr ? mostlyEmpty : lists.oneStuck();
            if (moving == nullptr) {
                break;
            }
            moveToGlobal(owner, lists, *moving);
        }
    }

    /// Moves a superblock to the global heap; an empty one is freed. Its owner tag does not change.
    [[gnu::noinline]] void moveToGlobal(Owner& owner, Lists& lists, Block& block) noexcept {
        lists.remove(block);
        if (block.used() == 0) {
            freeEmpty(owner, block);
            return;
        }
        const Hold hold(global().lock);
        ++globalTakes_;
        addToGlobal(block);
    }

    /// Frees an empty superblock that is in no list, of any heap but the global one.
    void freeEmpty(Owner& owner, Block& block) noexcept {
        {
            const Hold hold(global().lock);
            ++globalTakes_;
            disown(block);
            if constexpr (belowNeedsLock) {
                SuperHeap::free(&block);
            }
        }
        if constexpr (!belowNeedsLock) {
            freeUnlocked(owner, block);
        }
    }

    /// Moves all superblocks of a heap, whose thread ends, to the global heap.
    void moveAllToGlobal(Owner& heap) noexcept {
        for (std::size_t index = 0; index < Superblocks::count; ++index) {
            Lists& lists = heap.superblocks[index];
            while (Block* const block = lists.any()) {
                if constexpr (Lines::forgetsEnded) {
                    assign(*block, heap.served); // of an earlier thread
                    block->forgetTenant();
                }
                moveToGlobal(heap, lists, *block);
            }
        }
        if constexpr (Lines::forgetsEnded) {
            heap.served = noOwnerTag;
        }
    }

    /// Moves the superblock of a live object from the global heap to a heap, for the calling
    /// thread. False if it has a tenant, or if its class would be too empty there.
    [[nodiscard]] bool adopt(Owner& heap, Block& block) noexcept {
        Lists& lists = heap.superblocks[block.sizeClass()];
        serveThisThread(heap);
        const Hold hold(global().lock);
        ++globalTakes_;
        if (block.owner.load(std::memory_order_relaxed) != &global() || block.ownerTag() != 0 ||
            lists.isTooEmptyWith(block)) {
            return false;
        }
        global().superblocks.remove(block);
        block.owner.store(&heap, std::memory_order_release);
        block.assignTo(heap.served);
        heap.superblocks.add(block);
        updateGlobalHasRoom(block.sizeClass());
        return true;
    }

    /// Adds a superblock with room to a class; false if there is no memory. The last superblock of
    /// another class is used only when the heap below has no memory.
    [[gnu::noinline]] bool refill(Owner& heap, std::size_t index) noexcept {
        Block* block = fromGlobal(heap, index);
        block = block != nullptr ? block : heap.superblocks.removeSpare();
        block = block != nullptr ? block : newBlock(heap, index);
        block = block != nullptr ? block : heap.superblocks.removeEmpty();
        if (block == nullptr) {
            return false;
        }
        Superblocks::reshape(*block, index);
        if constexpr (Lines::clean) {
            assign(*block, heap.served);
        }
        heap.superblocks.add(*block);
        if constexpr (Lines::clean) {
            Lists& lists = heap.superblocks[index];
            for (Block* stuck = lists.oneStuck(); stuck != nullptr && lists.isTooEmpty();
                 stuck = lists.oneStuck()) {
                moveToGlobal(heap, lists, *stuck);
            }
        }
        return true;
    }

    /// Removes the global heap's fullest superblock with room for the thread of a heap. A
    /// superblock stays if the change of its owner tag withholds all its free slots.
    [[nodiscard]] Block* fromGlobal(Owner& heap, std::size_t index) noexcept {
        if (!globalHasRoom_[index].load(std::memory_order_relaxed)) {
            return nullptr;
        }
        const Hold hold(global().lock);
        ++globalTakes_;
        Lists& lists = global().superblocks[index];
        Block* block = lists.fullest();
        if constexpr (Lines::clean) {
            for (; block != nullptr; block = lists.fullest()) {
                assign(*block, heap.served);
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
        updateGlobalHasRoom(index);
        return block;
    }

    /// A new superblock from the heap below; null if there is no memory.
    [[nodiscard]] Block* newBlock(Owner& heap, std::size_t index) noexcept {
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

    /// Aborts if the emptiness invariant does not hold; only with `Verified` rules.
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
        updateGlobalHasRoom(block.sizeClass());
    }

    /// Publishes whether the global heap can serve a class, for threads without its lock.
    void updateGlobalHasRoom(std::size_t index) noexcept {
        const bool hasRoom = global().superblocks[index].fullest() != nullptr;
        if (hasRoom != globalHasRoom_[index].load(std::memory_order_relaxed)) {
            globalHasRoom_[index].store(hasRoom, std::memory_order_relaxed);
        }
    }

    /// Frees a disowned superblock. The owner's lock is released meanwhile if the heap below is
    /// concurrent. So a wait for a lock below blocks neither other threads nor a signal handler
    /// that forks.
    void freeUnlocked(Owner& owner, Block& block) noexcept {
        if constexpr (belowNeedsLock) {
            SuperHeap::free(&block);
        } else {
            owner.lock.unlock();
            SuperHeap::free(&block);
            owner.lock.lock();
        }
    }
    /// Removes owner and owner tag of a superblock that is about to be freed.
    void disown(Block& block) noexcept {
        ++returned_[block.sizeClass()];
        block.clearOwnerTag();
        block.owner.store(nullptr, std::memory_order_relaxed);
    }

    // --- everything ---

    /// In the child after a fork, all other threads have ended.
    void forgetOtherThreads() noexcept {
        owners_.forEachHeap([this](Owner& heap) {
            if (&heap != &owners_.first() && heap.served != tagOfThisThread()) {
                heap.served = noOwnerTag;
            }
        });
    }

    /// Frees all empty superblocks; true if there was one.
    bool returnEmpty() noexcept {
        bool any = false;
        owners_.forEachHeap([this](Owner& heap) { freeAll(heap.remote.collect()); });
        owners_.forEachHeap([&](Owner& heap) {
            const Hold hold(heap.lock);
            while (Block* const block = heap.superblocks.removeEmpty()) {
                freeEmpty(heap, *block);
                any = true;
            }
        });
        return any;
    }

    /// Removes all superblocks and heaps without freeing them.
    /// Pre: no other thread uses this heap or the heap below.
    void reset() noexcept {
        owners_.clear();
        owners_.first().superblocks.clear();
        global().superblocks.clear();
        for (SharedWord<bool>& hasRoom : globalHasRoom_) {
            hasRoom.store(false, std::memory_order_relaxed);
        }
    }

    /// Frees all superblocks, live objects included, and all heaps.
    void freeAllBlocks() noexcept {
        const auto freeOne = [this](Block& block) {
            disown(block);
            SuperHeap::free(&block);
        };
        owners_.forEachHeap([this, freeOne](Owner& heap) {
            heap.superblocks.forEach(freeOne);
            if (&heap != &owners_.first()) {
                SuperHeap::free(&heap);
            }
        });
        global().superblocks.forEach(freeOne);
        reset();
    }

    /// Introspection.
    /// Pre: as for OwnersView.
    using View = OwnersView<Superblocks, Classes, OwnerSet<Owner, Selector::count>>;
    [[nodiscard]] View view() noexcept { return View(owners_); }
    [[nodiscard]] auto figuresOf(std::size_t sizeClass) noexcept {
        return view().figuresOf(sizeClass);
    }
    [[nodiscard]] std::size_t globalTakes() const noexcept { return globalTakes_; }

    /// Whether the global heap has a superblock with room, by class. Written under the global lock,
    /// read without it.
    std::array<SharedWord<bool>, Classes::count> globalHasRoom_{};
    OwnerSet<Owner, Selector::count> owners_;
    std::size_t globalTakes_ = 0; ///< acquisitions of the global lock that move superblocks
    std::array<std::uint64_t, Classes::count> returned_{}; ///< freed superblocks by class
};

} // namespace heapwright
