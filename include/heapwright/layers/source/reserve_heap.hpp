// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Contiguous memory from regions of `Reserve` bytes of addresses, one run in each: a run starts
// where its region does and can be made longer and shorter there (`resize`), so that a heap has the
// virtues of the program break for itself. Addresses cost nothing until they are touched. Where the
// system has no room for a region, a smaller one is tried.
//
// Regions are entered in the map of the address space (structure/map/region_map.hpp) as this
// heap's, so it is known of every address whether it is from here, and an array of such heaps knows
// from which. Layout: as in `MmapHeap`, 16 bytes before a run, the last 8 a tag, the first 8 the
// size of the region. What a run is made shorter by goes back to the system and comes again as zero
// bytes. Cost: system calls, and a store for each MiB of a region. The heaps of ptmalloc's arenas.
//
// Example: ReserveHeap<64 * MiB>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/structure/map/region_map.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <string_view>

namespace heapwright {

template <std::size_t Reserve>
class ReserveHeap {
    static_assert(Reserve % RegionMap::granule == 0 && Reserve > 0);

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::plain;
    /// `resize` can be expected to lengthen a run, and does so with zero bytes.
    static constexpr bool contiguous = true;
    static constexpr bool mapsRegions = true;
    static constexpr bool processLocal = true; ///< so is the map
    static constexpr std::string_view caption = "reserves regions, in each of which one run grows";
    using Below = Heaps<>;

    constexpr ReserveHeap() noexcept = default;
    ReserveHeap(const ReserveHeap&) = delete;
    ReserveHeap& operator=(const ReserveHeap&) = delete;
    ~ReserveHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        if (size > largest) {
            return nullptr;
        }
        const std::size_t least = roundUp(size + overhead, RegionMap::granule);
        std::size_t bytes = least < Reserve ? Reserve : least;
        void* region = reserved(bytes);
        while (region == nullptr && bytes > least) {
            bytes = bytes / 8 < least ? least : roundUp(bytes / 8, RegionMap::granule);
            region = reserved(bytes);
        }
        if (region == nullptr) {
            return nullptr;
        }
        const std::size_t used = roundUp(size + overhead, platform::pageSize());
        mapped_ += used;
        void* const run = forward(region, minAlignment);
        retag(run, used);
        return run;
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept { return malloc(size); }

    void free(void* run) noexcept {
        void* const region = backward(run, minAlignment);
        const std::size_t bytes = regionSize(run);
        mapped_ -= usedOf(run);
        RegionMap::leave(region, bytes);
        platform::unmapPages(region, bytes);
    }

    [[nodiscard]] std::size_t getSize(void* run) noexcept {
        return Tag::of(run).size() - Tag::bytes;
    }

    /// Any size for which the region has room.
    [[nodiscard]] bool resize(void* run, std::size_t size) noexcept {
        const std::size_t used = usedOf(run);
        if (size > largest || size + overhead > regionSize(run)) {
            return false;
        }
        const std::size_t now = roundUp(size + overhead, platform::pageSize());
        if (now < used &&
            !platform::discardPages(pointerTo(addressOf(run) - minAlignment + now), used - now)) {
            return false;
        }
        mapped_ += now - used;
        retag(run, now);
        return true;
    }

    [[nodiscard]] bool owns(const void* object) const noexcept {
        return RegionMap::ownerOf(object) == this;
    }

    /// What runs extend over; what is only reserved is no memory.
    void measure(MemoryUsage& usage) const noexcept { usage.mapped += mapped_; }

private:
    static constexpr std::size_t overhead = minAlignment + Tag::bytes;
    static constexpr std::size_t largest = PTRDIFF_MAX / 2;

    /// A region that is entered in the map; null if there is none.
    void* reserved(std::size_t bytes) noexcept {
        void* const region = platform::reservePagesAt(bytes, RegionMap::granule);
        if (region == nullptr) {
            return nullptr;
        }
        if (!RegionMap::enter(region, bytes, this)) {
            platform::unmapPages(region, bytes);
            return nullptr;
        }
        ::new (region) std::size_t(bytes);
        return region;
    }

    static std::size_t regionSize(void* run) noexcept {
        return *static_cast<std::size_t*>(backward(run, minAlignment));
    }

    /// A run's last 8 bytes stay unused, since a tag holds multiples of 16.
    static std::size_t usedOf(void* run) noexcept { return Tag::of(run).size() + minAlignment; }

    static void retag(void* run, std::size_t used) noexcept {
        ::new (backward(run, Tag::bytes)) Tag(used - minAlignment, State::live);
    }

    std::size_t mapped_ = 0;
};

} // namespace heapwright
