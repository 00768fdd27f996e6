// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Whose an address is: for each granule of the address space, who has entered it as his. So the
// heap that an object is from can be found from where it lies, and an object needs no header for
// that; and what lies in nobody's granules is told without looking at it.
//
// There is one map in a process. It is a table of leaves, each for 4 GiB of addresses, mapped when
// the first granule there is entered and never given back. Entering and leaving needs no lock; who
// has an object in hand sees that its granule was entered, since whoever gave it to him saw it too.
// Cost: two loads; of memory, a page for each 512 MiB of addresses in use and one for the table,
// and a page for each 4 GiB where granules are entered together.
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

    /// Who has entered the granule of an address; null if nobody has.
    [[nodiscard]] static const void* ownerOf(const void* object) noexcept {
        const Address address = addressOf(object);
        if (address >= end) [[unlikely]] {
            return nullptr;
        }
        Leaf* const leaf = leaves_[address / leafSpan].load(std::memory_order_acquire);
        return leaf == nullptr ? nullptr
                               : leaf->owners[placeIn(address)].load(std::memory_order_relaxed);
    }

    /// Where the granules begin that were entered together with that of an address. Pre: they were,
    /// by `enterTogether`.
    [[nodiscard]] static void* startOf(const void* object) noexcept {
        const Address address = addressOf(object);
        const Leaf* const leaf = leaves_[address / leafSpan].load(std::memory_order_acquire);
        const std::uint32_t before = leaf->before[placeIn(address)].load(std::memory_order_relaxed);
        return pointerTo((address / granule - before) * granule);
    }

    /// As `enter`, so that `startOf` knows where they begin. They are left by `leave`, all or some.
    [[nodiscard]] static bool enterTogether(const void* start, std::size_t bytes,
                                            const void* owner) noexcept {
        return enterFurther(start, 0, bytes, owner);
    }

    /// Enters what follows the first `have` bytes of granules that were entered together.
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

    /// Enters granules as one owner's. Pre: `start` and `bytes` are multiples of the granule, and
    /// they are nobody's. False, and nothing entered, if there is no memory for a leaf.
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

    /// Makes granules nobody's, while their memory is still mapped. Pre: they were entered.
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

    /// All zero bytes is one in which nothing is entered: it is never constructed, which would take
    /// a page of memory for each 512 MiB whether anything is entered there or not.
    struct Leaf {
        SharedWord<const void*> owners[perLeaf];
        SharedWord<std::uint32_t> before[perLeaf]; ///< how many were entered together before it
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
        platform::unmapPages(pages, sizeof(Leaf)); // another thread was faster
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
        return false; // what it stands for is elsewhere
    } else if constexpr (LayeredHeap<H>) {
        return areRegional(typename H::Below{});
    } else {
        return false;
    }
}

} // namespace detail

/// A regional heap has all its memory from sources inside itself that enter it in the map.
template <class H>
concept RegionalHeap = Heap<H> && detail::isRegional<H>();

} // namespace heapwright
