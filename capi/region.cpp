// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Regions for C, over the layers: a nested region heap, of which the inline function in the header
// carves whole areas. A region's two parts, what C sees and the heap, stand in one block: in the
// parent's memory, or for a region without a parent in malloc's.
#include <heapwright/c/region.h>

#include <heapwright/core/address.hpp>
#include <heapwright/layers/region/nested_heap.hpp>
#include <heapwright/layers/region/region_heap.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>
#include <heapwright/platform/errno_keeper.hpp>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

using namespace heapwright;

using Nested = NestedHeap<RegionHeap<8 * KiB, 1 * MiB, MallocHeap>>;

constexpr std::size_t headBytes = roundUp(sizeof(heapwright_region), minAlignment);
constexpr std::size_t blockBytes = headBytes + sizeof(Nested);
static_assert(alignof(Nested) <= minAlignment);

Nested& heapOf(const heapwright_region* region) noexcept {
    return *static_cast<Nested*>(region->heap_);
}

void forgetArea(heapwright_region* region) noexcept {
    region->next_ = region->end_ = 0;
}

} // namespace

heapwright_region* heapwright_region_create(heapwright_region* parent) {
    const platform::ErrnoKeeper keeper;
    void* const block =
        parent == nullptr ? std::malloc(blockBytes) : heapwright_region_alloc(parent, blockBytes);
    if (block == nullptr) {
        return nullptr;
    }
    void* const place = forward(block, headBytes);
    Nested* const heap =
        parent == nullptr ? ::new (place) Nested : heapOf(parent).makeChildAt(place, nullptr);
    return ::new (block) heapwright_region{0, 0, heap};
}

void heapwright_region_destroy(heapwright_region* region) {
    if (region == nullptr) {
        return;
    }
    Nested& heap = heapOf(region);
    const bool alone = heap.parent() == nullptr;
    heap.~Nested();
    if (alone) {
        std::free(region);
    }
}

void heapwright_region_clear(heapwright_region* region) {
    heapOf(region).clear();
    forgetArea(region);
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
    if (end - next >= region->end_ - region->next_) { // go on where there is more room
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
