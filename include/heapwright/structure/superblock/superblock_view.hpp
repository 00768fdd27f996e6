// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A superblock as who walks over the heap sees it: its objects one by one, and a mark on those that
// a cache keeps, which for the superblock are as live as any.
//
// Whoever looks holds the lock of the owner. A mark is there from `mark` to `unmark`, and the
// superblock must not be used in between, since a marked object counts as freed.
// Cost: a step for each slot that was ever used.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/heap_snapshot.hpp>

#include <cstddef>
#include <cstdint>

namespace heapwright {

template <class Block>
class SuperblockView {
    using Link = typename Block::Link;

public:
    explicit SuperblockView(Block& block) noexcept : block_(block) {}

    /// Runs `visit` on each object.
    void walk(const ObjectVisitor& visit) const {
        for (std::uint32_t slot = 0; slot < block_.freshFrom(); ++slot) {
            const Link link = block_.links()[slot];
            if (link < Block::live) {
                continue;
            }
            void* const object = objectIn(slot, link);
            visit({object, block_.capacityAt(object), block_.sizeClass(),
                   (link & Block::aside) != 0});
        }
    }

    /// Marks an object that a cache keeps. False if there is none at that address, or it has its
    /// mark already; any address will do.
    [[nodiscard]] bool mark(const void* object) noexcept {
        const std::uint32_t slot = block_.indexOf(object);
        if (slot >= block_.freshFrom()) {
            return false;
        }
        Link& link = block_.links()[slot];
        if (link < Block::live || (link & Block::aside) != 0 || objectIn(slot, link) != object) {
            return false;
        }
        link = static_cast<Link>(link | Block::aside);
        return true;
    }

    /// Takes all marks away.
    void unmark() noexcept {
        for (std::uint32_t slot = 0; slot < block_.freshFrom(); ++slot) {
            Link& link = block_.links()[slot];
            if (link >= Block::live && (link & Block::aside) != 0) {
                link = static_cast<Link>(link & ~Block::aside);
            }
        }
    }

private:
    /// The object in a slot that is live: it may stand inside, and then the slot's first word says
    /// how far. What a cache keeps of such an object may have been written over.
    [[nodiscard]] void* objectIn(std::uint32_t slot, Link link) const noexcept {
        void* const start = block_.slotAt(slot);
        if ((link & Block::inside) == 0) {
            return start;
        }
        const std::uint64_t far =
            *static_cast<const std::uint64_t*>(start) - Block::leadOf(start, start);
        return far < block_.layout_.slot ? forward(start, static_cast<std::size_t>(far)) : start;
    }

    Block& block_;
};

} // namespace heapwright
