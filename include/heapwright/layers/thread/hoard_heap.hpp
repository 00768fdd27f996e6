// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Hoard: a heap of superblocks for each thread or a few of them, and a global one to which a heap
// gives a superblock when too little of what it has is used. So no thread waits for another as a
// rule, and yet memory that one thread does not use serves the others.
//
// `Selector` says which heap is the thread's (structure/thread/heap_selector.hpp), `Rule` when a
// heap has too much, class by class (structure/superblock/emptiness.hpp), `Lines` whether a
// superblock that has been transferred may put objects of two owners on one cache line
// (structure/superblock/superblock.hpp). Memory returns to the superblock it came from, whoever
// frees it; the fullest superblock with room serves first. How superblocks go from heap to heap is
// in structure/superblock/hoard_memory.hpp. Larger requests get null.
//
// Invariant, for each heap and class: u >= a - K superblocks' worth, or u >= (1 - f) a, where u is
// what is used of the a that is held. So for H heaps and live memory U the most that is held is
// U / (1 - f) + H K S for each class, whatever goes on between the threads.
// Over a fork every lock is held.
// Cost: one lock for `malloc` and one for `free`, as long as no superblock moves.
// From Berger, McKinley, Blumofe, Wilson (2000) and Berger (2002).
//
// Example: HoardHeap<GeometricSlots<6, 5, 16, 4 * KiB>, ByThread<4>, Emptiness<1, 4, 4>, AnyLines, AlignedBlockHeap<8 * KiB, 1 * MiB, MmapHeap>>
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/heap_snapshot.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/sizeclass/geometric_slots.hpp>
#include <heapwright/structure/cache/owner_tag.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/structure/superblock/hoard_memory.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace heapwright {

template <SizeClasses Classes, HeapSelector Selector, class Rule, class Lines, BlockHeap SuperHeap>
class HoardHeap : private HoardMemory<Classes, Selector, Rule, Lines, SuperHeap> {
    using Memory = HoardMemory<Classes, Selector, Rule, Lines, SuperHeap>;
    using Block = typename Memory::Block;
    using Hold = typename Memory::Hold;
    using Owner = typename Memory::Owner;
    using Superblocks = typename Memory::Superblocks;
    using Memory::give;
    using Memory::giveChain;
    using Memory::global;
    using Memory::locked;
    using Memory::mine;
    using Memory::owners_;
    using Memory::returnEmpty;
    using Memory::taken;
    using Memory::takenChain;

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool concurrent = true;
    static constexpr bool processLocal = true; ///< its threads are those of one process
    /// The largest size that it serves.
    static constexpr std::size_t largest = Classes::sizeOf(Classes::count - 1);
    /// At the start of each unit of so many bytes stands a owner tag.
    static constexpr std::size_t unitBytes = SuperHeap::blockSize;
    static constexpr std::string_view caption =
        "a heap for each thread; mostly empty superblocks go to a global one";
    using Below = Heaps<SuperHeap>;

    constexpr HoardHeap() noexcept = default;
    HoardHeap(const HoardHeap&) = delete;
    HoardHeap& operator=(const HoardHeap&) = delete;
    ~HoardHeap() {
        if constexpr (ClearableHeap<SuperHeap>) {
            SuperHeap::clear();
        } else {
            this->giveAllBack();
        }
    }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        const std::size_t index = Classes::classFor(size);
        if (index >= Superblocks::count) [[unlikely]] {
            return nullptr;
        }
        Owner& heap = mine();
        heap.lock.lock();
        void* const object = taken(heap, index);
        heap.lock.unlock();
        return object;
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        if (align <= minAlignment) {
            return malloc(size < align ? align : size);
        }
        const std::size_t index = Superblocks::classFor(align, size);
        if (index >= Superblocks::count) {
            return nullptr;
        }
        Owner& heap = mine();
        const Hold hold(heap.lock);
        void* const slot = taken(heap, index);
        return slot == nullptr ? nullptr : Block::moveInside(slot, align);
    }

    void free(void* object) noexcept {
        Block& block = Block::of(object);
        Owner& owner = locked(block, "free");
        give(owner, block, object);
        owner.lock.unlock();
    }

    [[nodiscard]] ObjectLink* mallocBatch(std::size_t size, std::size_t number) noexcept {
        return mallocOwned(size, number);
    }

    /// Under one lock; as many as there is memory for, which `number` then says.
    [[nodiscard]] ObjectLink* mallocOwned(std::size_t size, std::size_t& number) noexcept {
        const std::size_t index = Classes::classFor(size);
        if (index >= Superblocks::count) {
            number = 0;
            return nullptr;
        }
        Owner& heap = mine();
        const Hold hold(heap.lock);
        ObjectLink* first = nullptr;
        ObjectLink** end = &first;
        auto left = static_cast<std::uint32_t>(number);
        while (left > 0) {
            const std::uint32_t more = takenChain(heap, index, left, end);
            if (more == 0) {
                break;
            }
            left -= more;
        }
        number -= left;
        return first;
    }

    void freeBatch(ObjectLink* chain) noexcept {
        while (chain != nullptr) {
            chain = freeOwned(chain, UINT32_MAX);
        }
    }

    /// The first `number` of a chain, as far as it goes: under one lock each time all that one
    /// owner has of them. The rest of it.
    [[nodiscard]] ObjectLink* freeOwned(ObjectLink* chain, std::size_t number) noexcept {
        while (chain != nullptr && number > 0) {
            Owner& owner = locked(Block::of(chain), "free");
            std::size_t left = std::exchange(number, 0);
            for (ObjectLink** at = &chain; left > 0 && *at != nullptr;) {
                Block& block = Block::of(*at);
                if (block.owner.load(std::memory_order_relaxed) == &owner) [[likely]] {
                    auto given =
                        static_cast<std::uint32_t>(std::min<std::size_t>(left, UINT32_MAX));
                    giveChain(owner, block, *at, given);
                    left -= given;
                } else {
                    at = &(*at)->next;
                    --left;
                    ++number; // for the next time
                }
            }
            owner.lock.unlock();
        }
        return chain;
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        check(object, "malloc_usable_size");
        return Block::of(object).capacityAt(object);
    }

    /// For a caller that may be inside a lock itself, a signal handler: it is not checked.
    [[nodiscard]] std::size_t getSizeUnlocked(void* object) noexcept {
        return Block::of(object).capacityAt(object);
    }

    /// While it fits, and would not fit into half as much.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        check(object, "realloc");
        const std::size_t have = Block::of(object).capacityAt(object);
        return size <= have && size > have / 2;
    }

    /// Aborts unless it is a live object. No lock is taken where nobody else changes its state.
    void check(void* object, std::string_view routine) noexcept {
        Block& block = Block::of(object);
        if constexpr (Lines::clean) {
            Owner& owner = locked(block, routine);
            block.check(object, routine);
            owner.lock.unlock();
        } else {
            if (block.owner.load(std::memory_order_relaxed) == nullptr) [[unlikely]] {
                platform::abortWithMessage(routine, "invalid pointer");
            }
            block.check(object, routine);
        }
    }

    /// For a cache above, by the same classes: aborts unless it is a live object, and answers with
    /// its class; a number that is none if it stands inside its slot.
    [[nodiscard, gnu::always_inline]] std::size_t classOfLive(void* object,
                                                              std::string_view routine) noexcept
        requires(!Lines::clean)
    {
        Block& block = Block::of(object);
        if (block.owner.load(std::memory_order_relaxed) == nullptr) [[unlikely]] {
            platform::abortWithMessage(routine, "invalid pointer");
        }
        return block.classOfLive(object, routine);
    }

    [[nodiscard]] static constexpr std::size_t sizeOfClass(std::size_t index) noexcept {
        return index < Classes::count ? Classes::sizeOf(index) : 0;
    }

    /// For a cache above: it keeps an object, which for the program is freed from now on.
    void setAside(void* object, std::string_view routine) noexcept
        requires(!Lines::clean)
    {
        Block::of(object).setAside(object, routine);
    }
    /// It gives it out again, or is about to free it.
    void bringBack(void* object) noexcept
        requires(!Lines::clean)
    {
        Block::of(object).bringBack(object);
    }

    /// What a class holds, and how often the global lock was taken
    /// (structure/superblock/hoard_memory.hpp).
    using Memory::figuresOf;
    using Memory::globalTakes;

    /// Where others have blocks of the same heap, its own are those with a owner tag.
    [[nodiscard]] bool owns(const void* object) const noexcept {
        if constexpr (UniquelyNamedHeap<SuperHeap>) {
            return SuperHeap::owns(object) && ownerTagOf(object) != noOwnerTag;
        } else {
            return SuperHeap::owns(object);
        }
    }

    /// For a cache above: the owner tag of an object's superblock (structure/cache/owner_tag.hpp),
    /// which is the calling thread's key, `ownerTagOfThread()`, as long as the cache may keep the
    /// object for that thread. The object is then of class `classAt(object)`, and what is kept
    /// counts as used.
    ///
    /// It does no harm that the word may change in the same moment: the superblock has got another
    /// tenant, so what is kept became old there. Its thread has it still, alone; and all that is
    /// live on its lines is old, too, or the thread's, since nothing was given out on them to
    /// another tenant, nor will be before it comes back.
    [[nodiscard, gnu::always_inline]] static OwnerTag ownerTagOf(const void* object) noexcept {
        return heapwright::ownerTagOf<SuperHeap::blockSize>(object);
    }
    [[nodiscard]] bool hasOwnerTag(const void* object) const noexcept { return owns(object); }
    /// Where the word is the thread's key with its lowest bit set: whether this object may be kept
    /// nevertheless, since it is others that may not.
    [[nodiscard]] static bool mayCache(const void* object) noexcept {
        return Block::of(pointerTo(unitOf<unitBytes>(object))).isUsual(object);
    }
    /// The calling thread ends, or will get nothing any more: its superblocks are for all.
    void releaseOwnership() noexcept {
        if constexpr (ExclusiveHeapSelector<Selector>) {
            Owner& heap = mine();
            if (&heap != &owners_.first()) {
                const Hold hold(heap.lock);
                this->giveAllAway(heap);
            }
        }
    }
    /// Pre: it is an object of this heap.
    [[nodiscard, gnu::always_inline]] static std::size_t classAt(const void* object) noexcept {
        return Block::of(pointerTo(unitOf<unitBytes>(object))).sizeClass();
    }
    /// `noOwnerTag` if the thread has no heap of its own.
    [[nodiscard]] OwnerTag ownerTagOfThread() noexcept {
        if constexpr (Lines::clean && ExclusiveHeapSelector<Selector>) {
            Owner& heap = mine();
            return &heap == &owners_.first() ? noOwnerTag : keyOfThread(platform::threadNumber());
        } else {
            return noOwnerTag;
        }
    }

    /// Hands all empty superblocks down; true if there was any.
    bool flush() noexcept {
        bool any = returnEmpty();
        if constexpr (FlushableHeap<SuperHeap>) {
            const Hold hold(global().lock);
            any = SuperHeap::flush() || any;
        }
        return any;
    }

    bool trim(std::size_t pad) noexcept {
        returnEmpty();
        const Hold hold(global().lock);
        return SuperHeap::trim(pad);
    }

    /// Nobody else may be inside.
    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        const Hold hold(global().lock);
        this->forget();
        SuperHeap::clear();
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        owners_.forEachHeap([&usage](Owner& heap) {
            const Hold hold(heap.lock);
            heap.superblocks.measure(usage);
        });
        const Hold hold(global().lock);
        global().superblocks.measure(usage);
        SuperHeap::measure(usage);
    }

    void inspect(HeapSnapshot& snapshot) noexcept {
        snapshot.blockBytes = SuperHeap::blockSize;
        this->view().inspect(snapshot, this->returned_);
        if constexpr (InspectableHeap<SuperHeap>) {
            SuperHeap::inspect(snapshot);
        }
    }

    void walk(const ObjectVisitor& visit) noexcept {
        this->view().forEach([&visit](auto view) { view.walk(visit); });
    }

    /// For a cache above, while a walk goes on: an object that it keeps is shown as such until
    /// `unmark`. False if it is no object, whatever the address. All is held still.
    [[nodiscard]] bool mark(const void* object) noexcept {
        return owns(object) && Block::of(object).owner.load(std::memory_order_relaxed) != nullptr &&
               SuperblockView<Block>(Block::of(object)).mark(object);
    }
    void unmark() noexcept {
        this->view().forEach([](auto view) { view.unmark(); });
    }

    void beforeFork() noexcept {
        owners_.beforeFork();
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::beforeFork();
        }
    }

    void afterForkInParent() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::afterForkInParent();
        }
        owners_.afterForkInParent();
    }

    void afterForkInChild() noexcept {
        if constexpr (ForkableHeap<SuperHeap>) {
            SuperHeap::afterForkInChild();
        }
        owners_.afterForkInChild();
        if constexpr (ForkAwareHeapSelector<Selector>) {
            Selector::afterForkInChild();
        }
    }

    /// Never all that a fork has to hold: `beforeFork` takes what this thread has not got yet.
    [[nodiscard]] static bool heldByThisThread() noexcept { return false; }
};

} // namespace heapwright
