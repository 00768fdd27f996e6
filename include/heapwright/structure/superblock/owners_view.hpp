// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The owners of Hoard's superblocks as who looks at the whole heap sees them: what each class has,
// how often locks were taken, and each superblock. All owners are held still, or nobody is inside.
#pragma once

#include <heapwright/core/heap_snapshot.hpp>
#include <heapwright/structure/superblock/superblock_view.hpp>
#include <heapwright/sync/lock.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// `Superblocks` are those of one owner (structure/superblock/superblock_classes.hpp), `Owners` a
/// set of owners.
template <class Superblocks, class Classes, class Owners>
class OwnersView {
    using Block = typename Superblocks::Block;

public:
    explicit OwnersView(Owners& owners) noexcept : owners_(owners) {}

    /// What is held of a size class, in slots.
    struct Figures {
        std::size_t used = 0;       ///< live, anywhere
        std::size_t held = 0;       ///< by the heaps of threads
        std::size_t heldGlobal = 0; ///< by the global heap
        std::size_t heaps = 0;      ///< how many heaps of threads there are
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

    /// Adds what the owners have and do; `returned` says how many superblocks of each class went to
    /// the superheap.
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

    /// Runs `use` on a view of each superblock.
    template <class Use>
    void forEach(Use use) const noexcept {
        const auto look = [&use](Block& block) { use(SuperblockView<Block>(block)); };
        owners_.forEachHeap([&look](auto& heap) { heap.superblocks.forEach(look); });
        owners_.global().superblocks.forEach(look);
    }

private:
    /// If it counts.
    template <class Lock>
    static void addLock(HeapSnapshot::Lock& sum, const Lock& lock) noexcept {
        if constexpr (CountingLock<Lock>) {
            sum.add(lock.takes(), lock.waits());
        }
    }

    Owners& owners_;
};

} // namespace heapwright
