// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Regions for C, over the layers: a nested region heap, whose areas the header's inline function
// carves.
#include <heapwright/c/region.h>

#include <capi/chunk_source.hpp>
#include <capi/nested_handle.hpp>
#include <heapwright/core/address.hpp>
#include <heapwright/layers/region/nested_heap.hpp>
#include <heapwright/layers/region/region_heap.hpp>

#include <bit>
#include <cstring>

namespace {

using namespace heapwright;

using Nested = NestedHeap<RegionHeap<8 * KiB, 1 * MiB, capi::ChunkSource>>;
using Handles = capi::NestedHandle<heapwright_region, Nested>;

Nested& heapOf(const heapwright_region* region) noexcept {
    return Handles::heapOf(const_cast<heapwright_region*>(region));
}

} // namespace

heapwright_region* heapwright_region_create(heapwright_region* parent) {
    return Handles::make(parent, Address{0}, Address{0});
}

void heapwright_region_destroy(heapwright_region* region) {
    if (region != nullptr) {
        Handles::end(region);
    }
}

void heapwright_region_clear(heapwright_region* region) {
    heapOf(region).clear();
    region->next_ = region->end_ = 0;
}

heapwright_region* heapwright_region_parent(const heapwright_region* region) {
    return Handles::headOf(heapOf(region).parent());
}

void* heapwright_region_refill(heapwright_region* region, size_t size) {
    const std::size_t least = size == 0 ? 1 : size;
    std::size_t granted = 0;
    void* const area = heapOf(region).mallocArea(least, granted);
    if (area == nullptr) {
        return nullptr;
    }
    const Address next = addressOf(area) + roundUp(least, minAlignment);
    const Address end = addressOf(area) + granted;
    if (end - next >= region->end_ - region->next_) { // continue in the area with more room
        region->next_ = next;
        region->end_ = end;
    }
    return area;
}

void* heapwright_region_alloc_aligned(heapwright_region* region, size_t alignment, size_t size) {
    if (!std::has_single_bit(alignment)) {
        return nullptr;
    }
    if (alignment <= minAlignment) {
        return heapwright_region_alloc(region, size);
    }
    std::size_t whole = 0;
    if (__builtin_add_overflow(size, alignment - minAlignment, &whole)) {
        return nullptr;
    }
    void* const object = heapwright_region_alloc(region, whole);
    return object == nullptr ? nullptr : pointerTo(roundUp(addressOf(object), alignment));
}

void* heapwright_region_calloc(heapwright_region* region, size_t count, size_t size) {
    std::size_t whole = 0;
    if (__builtin_mul_overflow(count, size, &whole)) {
        return nullptr;
    }
    void* const object = heapwright_region_alloc(region, whole);
    return object == nullptr ? nullptr : std::memset(object, 0, whole);
}

void* heapwright_region_copy(heapwright_region* region, const void* bytes, size_t size) {
    void* const object = heapwright_region_alloc(region, size);
    return object == nullptr || size == 0 ? object : std::memcpy(object, bytes, size);
}

char* heapwright_region_strdup(heapwright_region* region, const char* string) {
    return static_cast<char*>(heapwright_region_copy(region, string, std::strlen(string) + 1));
}

int heapwright_region_owns(const heapwright_region* region, const void* address) {
    return heapOf(region).owns(address) ? 1 : 0;
}

size_t heapwright_region_memory_used(const heapwright_region* region) {
    return capi::memoryOf(heapOf(region));
}
