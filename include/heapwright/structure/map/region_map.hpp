// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Maps each granule of the address space to the heap that registered it. The heap of an object
// follows from its address, so objects need no header for that. An address outside all granules is
// recognised without an access.
//
// There is one map in a process: a table of leaves, each for 4 GiB of addresses. A leaf is mapped
// when the first granule there is entered, and never unmapped. `enter` and `leave` need no lock. A
// thread that has an object sees that its granule was entered, because it received the object from
// the thread that allocated it.
// Cost: two loads. Memory: a page for each 512 MiB of used addresses, one for the table, and one
// for each 4 GiB where granules are entered together.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/sync/shared_word.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright {

class RegionMap {
public:
    static constexpr std::size_t granule = 1 * MiB;

    /// The owner of the granule of an address; null if it has none.
    [[nodiscard]] static const void* ownerOf(const void* object) noexcept {
        const Address address = addressOf(object);
        if (address >= end) [[unlikely]] {
            return nullptr;
        }
        Leaf* const leaf = leaves_[address / leafSpan].load(std::memory_order_acquire);
        return leaf == nullptr ? nullptr
                               : leaf->owners[placeIn(address)].load(std::memory_order_relaxed);
    }

    /// The start of the granules that were entered together with that of an address.
    /// Pre: `enterTogether` entered them.
    [[nodiscard]] static void* startOf(const void* object) noexcept {
        const Address address = addressOf(object);
        const Leaf* const leaf = leaves_[address / leafSpan].load(std::memory_order_acquire);
        const std::uint32_t before = leaf->before[placeIn(address)].load(std::memory_order_relaxed);
        return pointerTo((address / granule - before) * granule);
    }

    /// As `enter`, and records the start for `startOf`. `leave` may remove all of them, or some.
    [[nodiscard]] static bool enterTogether(const void* start, std::size_t bytes,
                                            const void* owner) noexcept {
        return enterFurther(start, 0, bytes, owner);
    }

    /// Enters the granules after the first `have` bytes of those that were entered together.
    [[nodiscard]] static bool enterFurther(const void* start, std::size_t have, std::size_t bytes,
                                           const void* owner) noexcept {
        const Address first = addressOf(start);
        if (!enter(pointerTo(first + have), bytes - have, owner)) {
            return false;
        }
        for (std::size_t at = have; at < bytes; at += granule) {
            leafFor(first + at)
                ->before[placeIn(first + at)]
                .store(static_cast<std::uint32_t>(at / granule), std::memory_order_relaxed);
        }
        return true;
    }

    /// Enters granules with an owner.
    /// Pre: `start` and `bytes` are multiples of the granule, and no owner has them. Returns false,
    /// and changes nothing, if there is no memory for a leaf.
    [[nodiscard]] static bool enter(const void* start, std::size_t bytes,
                                    const void* owner) noexcept {
        const Address first = addressOf(start);
        if (first >= end || bytes > end - first) {
            return false;
        }
        for (Address at = first; at < first + bytes; at += granule) {
            Leaf* const leaf = leafFor(at);
            if (leaf == nullptr) {
                leave(start, at - first);
                return false;
            }
            leaf->owners[placeIn(at)].store(owner, std::memory_order_relaxed);
        }
        return true;
    }

    /// Removes the owner of granules. Call it while their memory is still mapped.
    /// Pre: they were entered.
    static void leave(const void* start, std::size_t bytes) noexcept {
        const Address first = addressOf(start);
        for (Address at = first; at < first + bytes; at += granule) {
            Leaf* const leaf = leaves_[at / leafSpan].load(std::memory_order_acquire);
            leaf->owners[placeIn(at)].store(nullptr, std::memory_order_relaxed);
        }
    }

private:
    static constexpr std::size_t addressBits = 48;
    static constexpr std::size_t perLeaf = 4096;
    static constexpr std::size_t leafSpan = perLeaf * granule;
    static constexpr Address end = Address{1} << addressBits;

    /// Zero bytes are an empty leaf. A leaf is never constructed, because that would touch a page
    /// for each 512 MiB.
    struct Leaf {
        SharedWord<const void*> owners[perLeaf];
        /// Number of granules before it that were entered together.
        SharedWord<std::uint32_t> before[perLeaf];
    };

    static constexpr std::size_t placeIn(Address address) noexcept {
        return address / granule % perLeaf;
    }

    static Leaf* leafFor(Address address) noexcept {
        SharedWord<Leaf*>& place = leaves_[address / leafSpan];
        Leaf* leaf = place.load(std::memory_order_acquire);
        if (leaf != nullptr) {
            return leaf;
        }
        void* const pages = platform::reservePages(sizeof(Leaf));
        if (pages == nullptr) {
            return nullptr;
        }
        auto* const fresh = static_cast<Leaf*>(pages);
        if (place.compareExchange(leaf, fresh, std::memory_order_acq_rel,
                                  std::memory_order_acquire)) {
            return fresh;
        }
        platform::unmapPages(pages, sizeof(Leaf)); // another thread has mapped the leaf
        return leaf;
    }

    static inline constinit SharedWord<Leaf*> leaves_[end / leafSpan];
};

namespace detail {

template <class H>
consteval bool isRegional();

template <class... B>
consteval bool areRegional(Heaps<B...>) {
    return sizeof...(B) != 0 && (isRegional<B>() && ...);
}

template <class H>
consteval bool isRegional() {
    if constexpr (RegionMappingHeap<H>) {
        return true;
    } else if constexpr (MemorylessHeap<H>) {
        return true;
    } else if constexpr (UniquelyNamedHeap<H>) {
        return false; // the heap that it is a face of lies elsewhere
    } else if constexpr (LayeredHeap<H>) {
        return areRegional(typename H::Below{});
    } else {
        return false;
    }
}

} // namespace detail

/// A regional heap takes all its memory from sources inside itself that register it in the map.
template <class H>
concept RegionalHeap = Heap<H> && detail::isRegional<H>();

} // namespace heapwright
