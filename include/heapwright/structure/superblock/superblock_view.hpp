// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Introspection of superblocks: `SuperblockView` lists the objects of one superblock and marks the
// cached ones. `OwnersView` visits the superblocks of all owners and adds their figures.
//
// For a superblock a cached object is live. The layer above marks it for the time of a walk.
//
// Pre: the caller holds the locks of all owners, or no other thread uses the heap.
// Invariant: a marked object counts as freed. So the superblock is not used between `mark` and
// `unmark`.
// Cost: a step for each slot that was ever used.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/heap_snapshot.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/sync/lock.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright {

template <class Block>
class SuperblockView {
    using Link = typename Block::Link;

public:
    explicit SuperblockView(Block& block) noexcept : block_(block) {}

    /// Runs `visit` on each live object.
    void walk(const ObjectVisitor& visit) const {
        for (std::uint32_t slot = 0; slot < block_.firstUnused(); ++slot) {
            const Link link = block_.links()[slot];
            if (link < Block::live) {
                continue;
            }
            void* const object = objectIn(slot, link);
            visit({object, block_.capacityAt(object), block_.sizeClass(),
                   (link & Block::cached) != 0});
        }
    }

    /// Marks a cached object. False if no live object is at the address, or if it has a mark. Any
    /// address is valid.
    [[nodiscard]] bool mark(const void* object) noexcept {
        const std::uint32_t slot = block_.indexOf(object);
        if (slot >= block_.firstUnused()) {
            return false;
        }
        Link& link = block_.links()[slot];
        if (link < Block::live || (link & Block::cached) != 0 || objectIn(slot, link) != object) {
            return false;
        }
        store(link, link | Block::cached);
        return true;
    }

    /// Removes all marks.
    void unmark() noexcept {
        for (std::uint32_t slot = 0; slot < block_.firstUnused(); ++slot) {
            Link& link = block_.links()[slot];
            if (link >= Block::live && (link & Block::cached) != 0) {
                store(link, link & ~Block::cached);
            }
        }
    }

private:
    /// The owner of an object may read its link at the same time, without a lock (`isPlain`).
    static void store(Link& link, int value) noexcept {
        std::atomic_ref<Link>(link).store(static_cast<Link>(value), std::memory_order_relaxed);
    }

    /// The object in a live slot. The slot's first word holds the offset of an object inside it. A
    /// cache may have overwritten that word; then the slot's start is returned.
    [[nodiscard]] void* objectIn(std::uint32_t slot, Link link) const noexcept {
        void* const start = block_.slotAt(slot);
        if ((link & Block::inside) == 0) {
            return start;
        }
        const std::uint64_t offset =
            *static_cast<const std::uint64_t*>(start) - Block::offsetMark(start, start);
        return offset < block_.layout_.slot ? forward(start, static_cast<std::size_t>(offset))
                                            : start;
    }

    Block& block_;
};

/// `Superblocks` is the SuperblockClasses of an owner, `Owners` an OwnerSet.
template <class Superblocks, class Classes, class Owners>
class OwnersView {
    using Block = typename Superblocks::Block;

public:
    explicit OwnersView(Owners& owners) noexcept : owners_(owners) {}

    /// The memory of a size class, in slots.
    struct Figures {
        std::size_t used = 0;       ///< live slots of all owners
        std::size_t held = 0;       ///< slots of the threads' heaps
        std::size_t heldGlobal = 0; ///< slots of the global heap
        std::size_t heaps = 0;      ///< number of threads' heaps
    };
    [[nodiscard]] Figures figuresOf(std::size_t sizeClass) const noexcept {
        Figures sum;
        owners_.forEachHeap([&](auto& heap) {
            sum.used += heap.superblocks[sizeClass].used();
            sum.held += heap.superblocks[sizeClass].held();
            ++sum.heaps;
        });
        sum.used += owners_.global().superblocks[sizeClass].used();
        sum.heldGlobal = owners_.global().superblocks[sizeClass].held();
        return sum;
    }

    /// Adds the figures of all owners. `returned` is the number of superblocks of each class that
    /// were freed to the heap below.
    void inspect(HeapSnapshot& snapshot,
                 const std::array<std::uint64_t, Classes::count>& returned) const noexcept {
        for (std::size_t index = 0; index < Classes::count; ++index) {
            const Figures now = figuresOf(index);
            HeapSnapshot::SizeClass& each = snapshot.sizeClass(index, Classes::sizeOf(index));
            each.used += now.used;
            each.held += now.held;
            each.heldGlobal += now.heldGlobal;
            each.blocks += (now.held + now.heldGlobal) / Superblocks::layoutOf(index).count;
            each.returned += returned[index];
        }
        owners_.forEachHeap([&snapshot](auto& heap) {
            ++snapshot.heaps;
            addLock(snapshot.heapLocks, heap.lock);
        });
        addLock(snapshot.globalLock, owners_.global().lock);
    }

    /// Runs `take` on each object that other threads have sent to an owner, and continues after it
    /// if that returns true. Senders and owners need no lock, so the objects are those of some
    /// moment.
    template <class Take>
    void forEachSent(Take take) const {
        owners_.forEachHeap([&take](auto& heap) {
            ObjectLink* object = heap.remote.peek();
            while (object != nullptr && take(object)) {
                object = nextOf(object);
            }
        });
    }

    /// Runs `use` on a view of each superblock.
    template <class Use>
    void forEach(Use use) const noexcept {
        const auto visit = [&use](Block& block) { use(SuperblockView<Block>(block)); };
        owners_.forEachHeap([&visit](auto& heap) { heap.superblocks.forEach(visit); });
        owners_.global().superblocks.forEach(visit);
    }

private:
    /// The link, which another thread may change meanwhile. Hidden from ThreadSanitizer.
    [[nodiscard, gnu::noinline]] __attribute__((no_sanitize("thread"))) static ObjectLink*
    nextOf(ObjectLink* object) noexcept {
        return *static_cast<ObjectLink* volatile*>(&object->next);
    }

    /// Adds the counts of a lock that has them.
    template <class Lock>
    static void addLock(HeapSnapshot::Lock& sum, const Lock& lock) noexcept {
        if constexpr (CountingLock<Lock>) {
            sum.add(lock.takes(), lock.waits());
        }
    }

    Owners& owners_;
};

} // namespace heapwright
