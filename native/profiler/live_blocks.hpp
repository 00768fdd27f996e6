// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The blocks that are live at one moment of the trace, by address: an open table with linear
// probing, half a cache line a place. A block that ends leaves its address in the table, because
// programs receive the same addresses again and again. An allocation then finds its place as a free
// does. When five eighths of the places have an address, the table is rebuilt from the live ones.
// It becomes twice as large if these are more than three eighths. So its size is that of the most
// blocks that were live at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "profiler/zeroed_array.hpp"

namespace heapwright::profiler {

/// A live block.
struct Block {
    std::uint64_t address = 0;
    std::uint64_t born = 0;      ///< ns: when its allocation returned
    std::uint64_t size = 0;      ///< as requested
    std::uint64_t operation = 0; ///< 40 bits are kept
    std::uint32_t thread = 0;    ///< 24 bits are kept
    std::uint32_t slack = 0;     ///< what the allocator gave beyond the request
    std::uint32_t site = 0;
};

class LiveBlocks {
public:
    struct alignas(32) Place {
        std::uint64_t address; ///< 0: empty
        std::uint64_t born;
        std::uint64_t mark; ///< 0: not live; else operation and thread
        std::uint32_t size; ///< `large`: both are kept elsewhere
        std::uint32_t usable;

        std::uint64_t operation() const { return (mark >> threadBits) - 1; }
        std::uint32_t thread() const { return static_cast<std::uint32_t>(mark) & threadMask; }
    };
    static_assert(sizeof(Place) == 32);

    static constexpr std::uint32_t large = UINT32_MAX;
    static constexpr unsigned threadBits = 24;
    static constexpr std::uint32_t threadMask = (1U << threadBits) - 1;

    static std::uint64_t markOf(std::uint64_t operation, std::uint32_t thread) {
        return ((operation + 1) << threadBits) | (thread & threadMask);
    }

    std::size_t count() const { return live_; }

    std::optional<Block> find(std::uint64_t address) const;
    /// Adds a block whose address is not live.
    void insert(const Block& block);
    /// Removes a block that is live.
    void remove(std::uint64_t address);
    /// A live block has another size.
    void resize(std::uint64_t address, std::uint64_t size, std::uint32_t slack);

    template <typename Visitor>
    void forEach(Visitor visit) const {
        for (const Place& place : places_)
            if (place.mark != 0)
                visit(blockAt(place));
    }

    /// The table between two calls of `reserve`, for callers that make many calls in one batch.
    struct Table {
        Place* places;
        std::size_t mask;
        unsigned shift;

        /// Of the product's highest bits: they alone spread blocks that lie in even steps well.
        std::size_t home(std::uint64_t address) const {
            return static_cast<std::size_t>((address * 0x9E37'79B9'7F4A'7C15U) >> shift);
        }
        /// Not inlined at once it would be taken for something without any effect. An empty table
        /// has no memory, and an offset from null is undefined, so the address is an integer.
        [[gnu::always_inline]] void prefetch(std::uint64_t address) const {
            const auto first = reinterpret_cast<std::uintptr_t>(places);
            // NOLINTNEXTLINE(performance-no-int-to-ptr)
            __builtin_prefetch(reinterpret_cast<const void*>(first + home(address) * sizeof(Place)),
                               1);
        }
        /// The place of an address that is not 0, or the one that it would get.
        Place& locate(std::uint64_t address) const {
            std::size_t at = home(address);
            while (places[at].address != address && places[at].address != 0) [[unlikely]]
                at = (at + 1) & mask;
            return places[at];
        }
    };

    /// Makes room for `count` more places.
    void reserve(std::size_t count) {
        if (used_ + count > most_) [[unlikely]]
            makeRoom(count);
    }
    Table table() { return {places_.begin(), mask_, shift_}; }
    /// Records that `taken` more places are in use, and that the number of live blocks changed by
    /// `live`.
    void changed(std::size_t taken, std::uint64_t live) {
        used_ += taken;
        live_ += static_cast<std::size_t>(live);
    }
    std::uint32_t& siteAt(const Place& place) {
        if (sites_.size() == 0) [[unlikely]]
            sites_ = ZeroedArray<std::uint32_t>(places_.size());
        return sites_[static_cast<std::size_t>(&place - places_.begin())];
    }

private:
    struct Extent {
        std::uint64_t size;
        std::uint32_t slack;
    };
    static constexpr unsigned fewest = 6; ///< the logarithm of the fewest places

    const Place* look(std::uint64_t address) const;
    Block blockAt(const Place& place) const;
    void setExtent(Place& place, const Extent& extent);
    void dropExtent(const Place& place);
    void makeRoom(std::size_t count);
    Place& locate(std::uint64_t address) { return table().locate(address); }

    ZeroedArray<Place> places_;
    ZeroedArray<std::uint32_t> sites_; ///< of the places, as soon as there is one
    std::vector<Extent> extents_;      ///< too large for a place
    std::vector<std::uint32_t> freeExtents_;
    unsigned shift_ = 63; ///< 64 minus the logarithm of the number of places
    std::size_t mask_ = 0;
    std::size_t used_ = 0; ///< places with an address
    std::size_t most_ = 0; ///< that may have one
    std::size_t live_ = 0;
};

} // namespace heapwright::profiler
