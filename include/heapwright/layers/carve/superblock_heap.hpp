// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocates objects of many size classes from superblocks, each of which has objects of one class.
// Objects have no header, and no search is needed. The fullest superblock serves first, so others
// become empty and can serve any class. A request larger than `largest` returns null.
//
// The parts are in structure/superblock/: superblock.hpp (the slots of one superblock) and
// superblock_lists.hpp (the superblocks of all classes). This is the heap of one thread.
// layers/thread/hoard_heap.hpp has several heaps that exchange superblocks. `handOver` removes a
// superblock for another heap of this type, and `takeOver` adds it there.
//
// Each verb aborts on an object that is not live, as `CheckedHeap` does.
// Pre: the heap `owns` it.
// Cost: a load for the class, a bit scan, a multiplication, a dozen stores.
// Source: Hoard (Berger 2002).
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
#include <heapwright/structure/superblock/superblock_lists.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <SizeClasses Classes, BlockHeap SuperHeap>
class SuperblockHeap : private SuperHeap {
    using Superblocks = SuperblockClasses<SuperHeap::blockSize, Classes, Never, AnyLines>;

public:
    using Block = typename Superblocks::Block;

    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool processLocal = true; ///< the heap of blocks belongs to the process
    static constexpr bool ownsLockFree = LockFreeOwningHeap<SuperHeap>;
    static constexpr std::size_t largest = Classes::sizeOf(Classes::count - 1);
    static constexpr std::string_view caption = "size classes in superblocks, the fullest first";
    using Below = Heaps<SuperHeap>;

    constexpr SuperblockHeap() noexcept = default;
    ~SuperblockHeap() { clear(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return fromClass(Classes::classFor(size));
    }

    /// An object from a superblock of this heap; null if none has room.
    [[nodiscard]] void* mallocHeld(std::size_t size) noexcept {
        const std::size_t index = Classes::classFor(size);
        if (index >= Classes::count) {
            return nullptr;
        }
        void* const object = superblocks_[index].allocate();
        return object != nullptr || !recycle(index) ? object : superblocks_[index].allocate();
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        if (align <= minAlignment) {
            return malloc(size < align ? align : size);
        }
        void* const slot = fromClass(Superblocks::classFor(align, size));
        return slot == nullptr ? nullptr : Block::alignInSlot(slot, align);
    }

    void free(void* object) noexcept {
        Block& block = Block::of(object);
        checkOwner(block, "free");
        [[maybe_unused]] const bool tooEmpty = superblocks_.free(block, object);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        check(object, "malloc_usable_size");
        return Block::of(object).capacityAt(object);
    }

    /// True if the size fits and is more than half of the capacity.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        check(object, "realloc");
        const std::size_t have = Block::of(object).capacityAt(object);
        return size <= have && size > have / 2;
    }

    /// Aborts unless the object is live and of this heap.
    void check(void* object, std::string_view routine) noexcept {
        const Block& block = Block::of(object);
        checkOwner(block, routine);
        block.check(object, routine);
    }

    /// The class of an object; SIZE_MAX if the object is inside its slot. Aborts unless the object
    /// is live. No lock is needed.
    [[nodiscard, gnu::always_inline]] std::size_t
    classOfLive(void* object, std::string_view routine) const noexcept {
        const Block& block = Block::of(object);
        checkOwner(block, routine);
        return block.classOfLive(object, routine);
    }
    [[nodiscard]] static constexpr std::size_t sizeOfClass(std::size_t index) noexcept {
        return index < Classes::count ? Classes::sizeOf(index) : 0;
    }

    /// Removes an empty superblock of any class for another heap; null if there is none.
    [[nodiscard]] Block* handOver() noexcept { return superblocks_.removeEmpty(); }
    /// Removes the fullest superblock of a class with room, with its objects, for another heap;
    /// null if there is none.
    [[nodiscard]] Block* handOver(std::size_t sizeClass) noexcept {
        Block* const block = superblocks_[sizeClass].fullest();
        if (block != nullptr) {
            superblocks_.remove(*block);
        }
        return block;
    }
    /// Adds a superblock, with its objects, that another heap of this type has handed over.
    void takeOver(Block& block) noexcept {
        block.owner.store(this, std::memory_order_relaxed);
        superblocks_.add(block);
    }

    /// Frees all empty superblocks to the heap below; true if there was one.
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
        if (void* const object = superblocks_[index].allocate()) [[likely]] {
            return object;
        }
        return recycle(index) || grow(index) ? superblocks_[index].allocate() : nullptr;
    }

    /// Reuses an empty superblock of another class; false if there is none.
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
