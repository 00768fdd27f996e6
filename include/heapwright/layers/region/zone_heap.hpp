// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A zone: a region whose chunks all have `ChunkSize` bytes. A pointer moves through them, `clear`
// frees all objects at once, and single frees do nothing. Apart from the growth, it is as in
// region_heap.hpp.
//
// Cost: an addition and a compare.
//
// Example: ZoneHeap<64 * KiB, MmapHeap>
#pragma once

#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/layers/region/region_heap.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <std::size_t ChunkSize, MaxAlignedHeap SuperHeap>
    requires AnySizeHeap<SuperHeap>
class ZoneHeap : private RegionHeap<ChunkSize, ChunkSize, SuperHeap> {
    using Region = RegionHeap<ChunkSize, ChunkSize, SuperHeap>;

public:
    static constexpr std::size_t alignment = Region::alignment;
    static constexpr bool stackDiscipline = Region::stackDiscipline;
    static constexpr std::string_view caption = "moves a pointer through chunks, frees all at once";
    using Below = Heaps<SuperHeap>;

    constexpr ZoneHeap() noexcept = default;
    ~ZoneHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept { return Region::malloc(size); }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        return Region::memalign(align, size);
    }

    /// The rest of the present chunk, at least `least` bytes, for a caller that carves it.
    [[nodiscard]] void* mallocArea(std::size_t least, std::size_t& granted) noexcept {
        return Region::mallocArea(least, granted);
    }

    void free(void* /*object*/) noexcept {}

    void clear() noexcept { Region::clear(); }

    [[nodiscard]] bool owns(const void* object) const noexcept { return Region::owns(object); }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        Region::measure(usage);
    }
};

} // namespace heapwright
