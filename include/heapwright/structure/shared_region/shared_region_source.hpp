// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The common part of the sources that take their memory from a region
// (structure/shared_region/shared_region.hpp). A source constructed within a region uses that one.
// Otherwise it opens its own region at the first request, and closes it when it is destroyed.
//
// The source itself holds only a pointer to its region. The bump position is in the region. `Heap`
// is the layer, and `Memory` the kind of memory (structure/shared_region/shared_region_memory.hpp).
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/structure/area/bump.hpp>
#include <heapwright/structure/object/tag.hpp>
#include <heapwright/structure/shared_region/shared_region.hpp>

#include <cstddef>
#include <type_traits>

namespace heapwright {

template <class Heap, class Memory>
class SharedRegionSource {
public:
    constexpr SharedRegionSource() noexcept
        : room_(std::is_constant_evaluated() ? nullptr : RegionUnderConstruction::mine()) {}
    SharedRegionSource(const SharedRegionSource&) = delete;
    SharedRegionSource& operator=(const SharedRegionSource&) = delete;
    ~SharedRegionSource() {
        if (own_.region != nullptr) {
            Memory::close(own_);
        }
    }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        SharedRegion* const region = opened();
        return region == nullptr ? nullptr : region->bump.malloc(region->memory(), size);
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept {
        SharedRegion* const region = opened();
        return region == nullptr ? nullptr : region->bump.zalloc(region->memory(), size);
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        SharedRegion* const region = opened();
        return region == nullptr ? nullptr : region->bump.memalign(region->memory(), align, size);
    }

    void free(void* object) noexcept { room_->bump.free(room_->memory(), object); }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return Tag::of(object).size() - Tag::bytes;
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        return room_->bump.resize(room_->memory(), object, size);
    }

    [[nodiscard]] bool owns(const void* object) const noexcept {
        return room_ != nullptr && room_->bump.owns(room_->memory(), object);
    }

    /// Frees every object, but not a heap that lives in the region.
    void clear() noexcept {
        if (room_ != nullptr) {
            room_->bump.clear();
        }
    }

    void measure(MemoryUsage& usage) const noexcept {
        if (room_ != nullptr) {
            const std::size_t bytes = room_->memory().bytes;
            const std::size_t used = room_->bump.used();
            usage.mapped += room_->label.bytes;
            usage.held += bytes - used;
            usage.heldCount += used < bytes ? 1U : 0U;
        }
    }

private:
    SharedRegion* opened() noexcept {
        if (room_ == nullptr) [[unlikely]] {
            openOwn();
        }
        return room_;
    }

    /// Leaves null on failure; the next request tries again.
    [[gnu::cold, gnu::noinline]] void openOwn() noexcept {
        own_ = Memory::open({kindOfHeap<Heap>(), false, false});
        room_ = own_.region;
        if (own_.opening == Opening::made) {
            Memory::finish(own_);
        }
    }

    SharedRegion* room_; ///< null until it is open
    OpenRegion own_;     ///< the region that this source opened, if any
};

} // namespace heapwright
