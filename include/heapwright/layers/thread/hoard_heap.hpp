// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Hoard: a heap of superblocks for each thread or a few of them, and a global heap. A thread's heap
// moves a superblock to the global heap when too few of its slots are used. So threads seldom wait
// for each other, and memory that one thread does not use serves the others.
//
// `Selector` selects the thread's heap (structure/thread/heap_selector.hpp). `Rule` says, by class,
// when a heap is too empty (structure/superblock/emptiness.hpp). `Lines` says whether a superblock
// that has moved may put objects of two threads on one cache line
// (structure/superblock/superblock.hpp). A freed object returns to its superblock, on whichever
// thread. The fullest superblock with room serves first. structure/superblock/hoard_memory.hpp
// moves superblocks between heaps. A request larger than `largest` returns null.
//
// Invariant: For each heap and class, u >= a - K S or u >= (1 - f) a. Here u of a held bytes are
// used and S is the size of a superblock. So H heaps with U live bytes hold at most U / (1 - f) + H
// K S in each class.
// Invariant: over a fork every lock is held.
// Cost: one lock for `malloc` and one for `free` while no superblock moves.
// Source: Berger, McKinley, Blumofe, Wilson (2000) and Berger (2002).
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
    using Memory::allocate;
    using Memory::allocateChain;
    using Memory::calledBelow;
    using Memory::freeChainInto;
    using Memory::freeInto;
    using Memory::global;
    using Memory::heapOfThread;
    using Memory::lockOwner;
    using Memory::owners_;
    using Memory::returnEmpty;

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool concurrent = true;
    static constexpr bool processLocal = true; ///< its threads belong to one process
    /// The largest size that the heap serves.
    static constexpr std::size_t largest = Classes::sizeOf(Classes::count - 1);
    /// The largest sum of the objects that other threads have sent to one owner, in bytes.
    static constexpr std::size_t mostSentBytes = Memory::remoteBytes;
    /// The size of the units, each of which starts with an owner tag.
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
            this->freeAllBlocks();
        }
    }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        const std::size_t index = Classes::classFor(size);
        if (index >= Superblocks::count) [[unlikely]] {
            return nullptr;
        }
        Owner& heap = heapOfThread();
        heap.lock.lock();
        void* const object = allocate(heap, this->classIn(heap, index));
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
        Owner& heap = heapOfThread();
        const Hold hold(heap.lock);
        void* const slot = allocate(heap, this->classIn(heap, index));
        return slot == nullptr ? nullptr : Block::alignInSlot(slot, align);
    }

    void free(void* object) noexcept {
        Block& block = Block::of(object);
        Owner& owner = lockOwner(block, "free");
        freeInto(owner, block, object);
        owner.lock.unlock();
    }

    [[nodiscard]] ObjectLink* mallocBatch(std::size_t size, std::size_t number) noexcept {
        return mallocOwned(size, number, nullptr);
    }

    /// A chain of up to `number` objects that ends at `last`, under one lock; null if there is no
    /// memory.
    /// Post: `number` is their number.
    [[nodiscard]] ObjectLink* mallocOwned(std::size_t size, std::size_t& number,
                                          ObjectLink* last) noexcept {
        const std::size_t index = Classes::classFor(size);
        if (index >= Superblocks::count) {
            number = 0;
            return nullptr;
        }
        Owner& heap = heapOfThread();
        const Hold hold(heap.lock);
        ObjectLink* first = nullptr;
        ObjectLink** end = &first;
        auto left = static_cast<std::uint32_t>(number);
        while (left > 0) {
            const std::uint32_t more = allocateChain(heap, index, left, end);
            if (more == 0) {
                break;
            }
            left -= more;
        }
        number -= left;
        if (first != nullptr) {
            *end = last;
        }
        return first;
    }

    void freeBatch(ObjectLink* chain) noexcept { this->freeAll(chain); }

    /// Frees the first `number` objects of a chain that ends at `end`, and returns the rest of it.
    /// All objects of one owner are freed under one acquisition of its lock.
    [[nodiscard]] ObjectLink* freeOwned(ObjectLink* chain, std::size_t number,
                                        ObjectLink* end) noexcept {
        return Memory::freeOwned(chain, number, end);
    }

    /// Frees a chain of `number` objects of other threads. Each is sent to its owner without a
    /// lock, unless the owner cannot collect it.
    void sendOwned(ObjectLink* chain, std::size_t number) noexcept { this->sendAll(chain, number); }

    /// The objects that other threads have sent to the calling thread, as a chain.
    [[nodiscard]] ObjectLink* collectSent() noexcept {
        Owner* const heap = owners_.find(Selector::mine());
        return heap == nullptr ? nullptr : heap->remote.collect();
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        check(object, "malloc_usable_size");
        return Block::of(object).capacityAt(object);
    }

    /// For a signal handler whose thread may hold a lock. The object is not checked.
    [[nodiscard]] std::size_t getSizeUnlocked(void* object) noexcept {
        return Block::of(object).capacityAt(object);
    }

    /// True if the size fits and is more than half of the capacity.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        check(object, "realloc");
        const std::size_t have = Block::of(object).capacityAt(object);
        return size <= have && size > have / 2;
    }

    /// Aborts unless the object is live. No lock is taken if only the calling thread changes its
    /// state.
    void check(void* object, std::string_view routine) noexcept {
        Block& block = Block::of(object);
        if constexpr (Lines::clean) {
            Owner& owner = lockOwner(block, routine);
            block.check(object, routine);
            owner.lock.unlock();
        } else {
            if (block.owner.load(std::memory_order_relaxed) == nullptr) [[unlikely]] {
                platform::abortWithMessage(routine, "invalid pointer");
            }
            block.check(object, routine);
        }
    }

    /// The class of an object, for a cache above with the same classes; SIZE_MAX if the object is
    /// inside its slot. Aborts unless the object is live.
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

    /// Marks an object that a cache above keeps: freed for the program.
    void markCached(void* object, std::string_view routine) noexcept
        requires(!Lines::clean)
    {
        Block::of(object).markCached(object, routine);
    }
    /// Removes the mark, before the cache reuses or frees the object.
    void unmarkCached(void* object) noexcept
        requires(!Lines::clean)
    {
        Block::of(object).unmarkCached(object);
    }

    /// The memory of a class, and the number of acquisitions of the global lock
    /// (structure/superblock/hoard_memory.hpp).
    using Memory::figuresOf;
    using Memory::globalTakes;

    /// If other heaps have blocks of the heap below, this heap's blocks are those with an owner
    /// tag.
    [[nodiscard]] bool owns(const void* object) const noexcept {
        if constexpr (UniquelyNamedHeap<SuperHeap>) {
            return SuperHeap::owns(object) && ownerTagOf(object) != noOwnerTag;
        } else {
            return SuperHeap::owns(object);
        }
    }

    /// The owner tag of an object's superblock (structure/cache/owner_tag.hpp), for a cache above.
    /// The cache may keep the object while the tag equals `ownerTagOfThread()`. The object is then
    /// of class `classAt(object)`, and it counts as used here.
    ///
    /// The word may change at the same time, when the superblock is assigned to another thread.
    /// That is harmless: the cached object becomes old there. Only its thread uses it. All live
    /// objects on its cache lines are old as well, or belong to its thread. No slot on these lines
    /// is given to another thread until the object is freed.
    [[nodiscard, gnu::always_inline]] static OwnerTag ownerTagOf(const void* object) noexcept {
        return heapwright::ownerTagOf<SuperHeap::blockSize>(object);
    }
    [[nodiscard]] bool hasOwnerTag(const void* object) const noexcept { return owns(object); }
    /// Whether a cache may keep an object although the lowest bit of the owner tag is set. Other
    /// objects of the superblock are special, and this one is not.
    [[nodiscard]] static bool mayCache(const void* object) noexcept {
        return Block::of(pointerTo(unitOf<unitBytes>(object))).isPlain(object);
    }
    /// Moves the superblock of a live object to the heap of the calling thread, if the thread that
    /// had it has ended. The thread may then cache the object.
    /// Pre: the object has an owner tag.
    [[nodiscard]] bool adopt(const void* object) noexcept {
        if constexpr (Lines::forgetsEnded && ExclusiveHeapSelector<Selector>) {
            Owner& heap = heapOfThread();
            if (&heap != &owners_.first()) {
                Block& block = Block::of(pointerTo(unitOf<unitBytes>(object)));
                const Hold hold(heap.lock);
                const bool adopted = Memory::adopt(heap, block);
                this->verify(heap, block.sizeClass());
                return adopted;
            }
        }
        return false;
    }
    /// Moves the superblocks of the calling thread, which ends, to the global heap.
    void releaseOwnership() noexcept {
        if constexpr (ExclusiveHeapSelector<Selector>) {
            Owner& heap = heapOfThread();
            if (&heap != &owners_.first()) {
                this->freeAll(heap.remote.close());
                const Hold hold(heap.lock);
                this->moveAllToGlobal(heap);
            }
        }
    }
    /// The size class of an object.
    /// Pre: the object is of this heap.
    [[nodiscard, gnu::always_inline]] static std::size_t classAt(const void* object) noexcept {
        return Block::of(pointerTo(unitOf<unitBytes>(object))).sizeClass();
    }
    /// Notes a request of the calling thread, which has no tag. True if it may have one now.
    [[nodiscard]] static bool earnsOwnerTag() noexcept {
        if constexpr (EarnedHeapSelector<Selector>) {
            return Selector::earns();
        } else {
            return true;
        }
    }
    /// The tag of the calling thread, which collects from now on what is sent to it; `noOwnerTag`
    /// if it has no heap of its own.
    [[nodiscard]] OwnerTag ownerTagOfThread() noexcept {
        if constexpr (Lines::clean && ExclusiveHeapSelector<Selector>) {
            Owner& heap = heapOfThread();
            if (&heap == &owners_.first()) {
                return noOwnerTag;
            }
            heap.remote.open();
            return Memory::tagOfThisThread();
        } else {
            return noOwnerTag;
        }
    }

    /// Frees all empty superblocks to the heap below; true if there was one.
    bool flush() noexcept {
        bool any = returnEmpty();
        if constexpr (FlushableHeap<SuperHeap>) {
            any = calledBelow([&] { return SuperHeap::flush(); }) || any;
        }
        return any;
    }

    bool trim(std::size_t pad) noexcept {
        returnEmpty();
        return calledBelow([&] { return SuperHeap::trim(pad); });
    }

    /// When nothing is left to purge, the empty superblocks of all heaps are freed. They are due
    /// after the delay of the heap below.
    std::uint32_t purgeExpired() noexcept
        requires PurgeableHeap<SuperHeap>
    {
        const std::uint32_t next = SuperHeap::purgeExpired();
        return next == UINT32_MAX && returnEmpty() ? SuperHeap::purgeExpired() : next;
    }

    /// Pre: no other thread uses the heap.
    void clear() noexcept
        requires ClearableHeap<SuperHeap>
    {
        const Hold hold(global().lock);
        this->reset();
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
        this->view().forEachSent([this, &snapshot](const void* object) {
            const bool known = owns(object);
            if (known && classAt(object) < Classes::count) {
                const std::size_t index = classAt(object);
                ++snapshot.sizeClass(index, Classes::sizeOf(index)).cached;
            }
            return known;
        });
        if constexpr (InspectableHeap<SuperHeap>) {
            SuperHeap::inspect(snapshot);
        }
    }

    void walk(const ObjectVisitor& visit) noexcept {
        this->view().forEachSent([this](const void* object) { return mark(object); });
        this->view().forEach([&visit](auto view) { view.walk(visit); });
    }

    /// Marks an object of a cache above for a walk, until `unmark`. False if no live object is at
    /// the address, which may be any.
    /// Pre: as for `walk`.
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
        if constexpr (Lines::forgetsEnded && ExclusiveHeapSelector<Selector>) {
            this->forgetOtherThreads();
        }
        if constexpr (ForkAwareHeapSelector<Selector>) {
            Selector::afterForkInChild();
        }
    }

    /// Always false: the heap has several locks, and `beforeFork` takes those that this thread does
    /// not hold.
    [[nodiscard]] static bool heldByThisThread() noexcept { return false; }
};

} // namespace heapwright
