// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions of heapwright/c/region.h, with each object allocated by malloc.
#include <heapwright/c/region.h>

#include "arena.hpp"

#include <bit>
#include <cstring>

namespace {

using Region = heapwright::capi::emulated::Arena<heapwright_region>;

auto& heapOf(const heapwright_region* region) noexcept {
    return Region::heapOf(region);
}

} // namespace

heapwright_region* heapwright_region_create(heapwright_region* parent) {
    return Region::create(parent);
}

void heapwright_region_destroy(heapwright_region* region) {
    Region::destroy(region);
}

void heapwright_region_clear(heapwright_region* region) {
    Region::clear(region);
}

heapwright_region* heapwright_region_parent(const heapwright_region* region) {
    return Region::parentOf(region);
}

void* heapwright_region_refill(heapwright_region* region, size_t size) {
    return heapOf(region).malloc(size);
}

void* heapwright_region_alloc_aligned(heapwright_region* region, size_t alignment, size_t size) {
    if (!std::has_single_bit(alignment)) {
        return nullptr;
    }
    return alignment <= heapwright::minAlignment ? heapOf(region).malloc(size)
                                                 : heapOf(region).memalign(alignment, size);
}

void* heapwright_region_calloc(heapwright_region* region, size_t count, size_t size) {
    std::size_t whole = 0;
    return __builtin_mul_overflow(count, size, &whole) ? nullptr : heapOf(region).zalloc(whole);
}

void* heapwright_region_copy(heapwright_region* region, const void* bytes, size_t size) {
    void* const object = heapOf(region).malloc(size);
    return object == nullptr || size == 0 ? object : std::memcpy(object, bytes, size);
}

char* heapwright_region_strdup(heapwright_region* region, const char* string) {
    return static_cast<char*>(heapwright_region_copy(region, string, std::strlen(string) + 1));
}

int heapwright_region_owns(const heapwright_region* region, const void* address) {
    return heapOf(region).owns(address) ? 1 : 0;
}

size_t heapwright_region_memory_used(const heapwright_region* region) {
    return Region::memoryUsed(region);
}
