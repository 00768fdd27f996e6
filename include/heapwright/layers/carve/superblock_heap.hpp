// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Objects of many size classes from superblocks, each of which has objects of one: no header, no
// search, and the fullest superblock serves first, so that others become empty and can serve any
// class. Larger requests get null.
//
// The parts are in structure/: superblock.hpp (the slots of one), superblock_lists.hpp (the
// superblocks of a class), superblock_classes.hpp (all). This is the heap of one thread; several of
// them, with memory going from one to another, are in layers/thread/hoard_heap.hpp. A superblock
// can be handed over to another heap of the type (`handOver`) and taken from one (`takeOver`).
// A wrong free, and every other verb on what is no live object, ends the program as `CheckedHeap`
// would have it; the address must be one that the heap `owns`. Cost: a load for the class, a bit
// scan, a multiplication, a dozen stores. From Hoard (Berger 2002).
//
// Example: SuperblockHeap<GeometricSlots<6, 5, 16, 4 * KiB>, AlignedBlockHeap<8 * KiB, 1 * MiB, MmapHeap>>
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/sizeclass/geometric_slots.hpp>
#include <heapwright/structure/superblock/emptiness.hpp>
#include <heapwright/structure/superblock/superblock_classes.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <SizeClasses Classes, BlockHeap SuperHeap>
class SuperblockHeap : private SuperHeap {
    using Superblocks = SuperblockClasses<SuperHeap::blockSize, Classes, Never, AnyLines>;

public:
    using Block = typename Superblocks::Block;

    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool processLocal = true; ///< so is the heap of blocks
    static constexpr bool ownsLockFree = LockFreeOwningHeap<SuperHeap>;
    static constexpr std::size_t largest = Classes::sizeOf(Classes::count - 1);
    static constexpr std::string_view caption = "size classes in superblocks, the fullest first";
    using Below = Heaps<SuperHeap>;

    constexpr SuperblockHeap() noexcept = default;
    ~SuperblockHeap() { clear(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return fromClass(Classes::classFor(size));
    }

    /// From the superblocks that there are.
    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept {
        const std::size_t index = Classes::classFor(size);
        if (index >= Classes::count) {
            return nullptr;
        }
        void* const object = superblocks_[index].take();
        return object != nullptr || !recycle(index) ? object : superblocks_[index].take();
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        if (align <= minAlignment) {
            return malloc(size < align ? align : size);
        }
        void* const slot = fromClass(Superblocks::classFor(align, size));
        return slot == nullptr ? nullptr : Block::moveInside(slot, align);
    }

    void free(void* object) noexcept {
        Block& block = Block::of(object);
        checkOwner(block, "free");
        [[maybe_unused]] const bool tooEmpty = superblocks_.give(block, object);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        check(object, "malloc_usable_size");
        return Block::of(object).capacityAt(object);
    }

    /// While it fits, and would not fit into half as much.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        check(object, "realloc");
        const std::size_t have = Block::of(object).capacityAt(object);
        return size <= have && size > have / 2;
    }

    /// Aborts unless it is a live object of this heap.
    void check(void* object, std::string_view routine) noexcept {
        const Block& block = Block::of(object);
        checkOwner(block, routine);
        block.check(object, routine);
    }

    /// The same, and its size class; a number that is none if it stands inside its slot. It takes
    /// no lock to ask this, either.
    [[nodiscard, gnu::always_inline]] std::size_t
    classOfLive(void* object, std::string_view routine) const noexcept {
        const Block& block = Block::of(object);
        checkOwner(block, routine);
        return block.classOfLive(object, routine);
    }
    [[nodiscard]] static constexpr std::size_t sizeOfClass(std::size_t index) noexcept {
        return index < Classes::count ? Classes::sizeOf(index) : 0;
    }

    /// Removes an empty superblock, of whatever class, for another heap; null if there is none.
    [[nodiscard]] Block* handOver() noexcept { return superblocks_.removeEmpty(); }
    /// Removes the fullest superblock of a class with room, and all its objects; null if there is
    /// none.
    [[nodiscard]] Block* handOver(std::size_t sizeClass) noexcept {
        Block* const block = superblocks_[sizeClass].fullest();
        if (block != nullptr) {
            superblocks_.remove(*block);
        }
        return block;
    }
    /// Adds a superblock, and all its objects, that another heap of this type has handed over.
    void takeOver(Block& block) noexcept {
        block.owner.store(this, std::memory_order_relaxed);
        superblocks_.add(block);
    }

    /// Hands empty superblocks down; true if there was any.
    bool flush() noexcept {
        bool any = returnEmpty();
        if constexpr (FlushableHeap<SuperHeap>) {
            any = SuperHeap::flush() || any;
        }
        return any;
    }

    bool trim(std::size_t pad) noexcept {
        returnEmpty();
        return SuperHeap::trim(pad);
    }

    void clear() noexcept {
        superblocks_.clear();
        SuperHeap::clear();
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        SuperHeap::measure(usage);
        superblocks_.measure(usage);
    }

    [[nodiscard]] bool owns(const void* object) const noexcept { return SuperHeap::owns(object); }

private:
    void checkOwner(const Block& block, std::string_view routine) const noexcept {
        if (block.owner.load(std::memory_order_relaxed) != this) [[unlikely]] {
            platform::abortWithMessage(routine, "invalid pointer");
        }
    }

    void* fromClass(std::size_t index) noexcept {
        if (index >= Classes::count) [[unlikely]] {
            return nullptr;
        }
        if (void* const object = superblocks_[index].take()) [[likely]] {
            return object;
        }
        return recycle(index) || grow(index) ? superblocks_[index].take() : nullptr;
    }

    /// An empty superblock of another class becomes one of this.
    [[gnu::noinline]] bool recycle(std::size_t index) noexcept {
        Block* const block = superblocks_.removeEmpty();
        if (block == nullptr) {
            return false;
        }
        Superblocks::reshape(*block, index);
        superblocks_.add(*block);
        return true;
    }

    [[gnu::noinline]] bool grow(std::size_t index) noexcept {
        void* const memory = SuperHeap::malloc(SuperHeap::blockSize);
        if (memory == nullptr) {
            return false;
        }
        superblocks_.add(Superblocks::make(memory, index, this));
        return true;
    }

    bool returnEmpty() noexcept {
        bool any = false;
        while (Block* const block = superblocks_.removeEmpty()) {
            block->owner.store(nullptr, std::memory_order_relaxed);
            SuperHeap::free(block);
            any = true;
        }
        return any;
    }

    Superblocks superblocks_;
};

} // namespace heapwright
