// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Contiguous memory from regions of `Reserve` bytes of addresses. Each region contains one run,
// which starts with the region and can grow and shrink there (`resize`). A heap thus gets a program
// break of its own. Addresses cost nothing until they are touched. If the system has no room for a
// region, a smaller one is tried.
//
// Regions are registered in the map of the address space (structure/map/region_map.hpp) with this
// heap as owner. An array of such heaps can thus find the heap of any address. Layout: as in
// `MmapHeap`, 16 bytes before a run: the size of the region, and a tag. The end of a run that
// shrinks is returned to the system, and is zero when the run grows again.
// Cost: system calls, and a store for each MiB of a region.
// Source: the heaps of ptmalloc's arenas.
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
    /// `resize` usually extends a run, with zero bytes.
    static constexpr bool contiguous = true;
    static constexpr bool mapsRegions = true;
    static constexpr bool processLocal = true; ///< the map belongs to the process
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

    /// Any size that the region has room for.
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

    /// Counts the runs. Reserved addresses are no memory.
    void measure(MemoryUsage& usage) const noexcept { usage.mapped += mapped_; }

private:
    static constexpr std::size_t overhead = minAlignment + Tag::bytes;
    static constexpr std::size_t largest = PTRDIFF_MAX / 2;

    /// Reserves a region and registers it in the map; null on failure.
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

    /// A run's last 8 bytes stay unused, because a tag holds multiples of 16.
    static std::size_t usedOf(void* run) noexcept { return Tag::of(run).size() + minAlignment; }

    static void retag(void* run, std::size_t used) noexcept {
        ::new (backward(run, Tag::bytes)) Tag(used - minAlignment, State::live);
    }

    std::size_t mapped_ = 0;
};

} // namespace heapwright
