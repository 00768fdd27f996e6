// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Regions of the checking library. Any thread may use any of them.
#include <heapwright/c/region.h>

#include <capi/checked/groups.hpp>
#include <heapwright/core/address.hpp>

#include <cstring>

namespace checked = heapwright::capi::checked;

using heapwright::minAlignment;

namespace {

constexpr auto kind = checked::Kind::region;

void* made(const heapwright_region* region, std::size_t size, std::string_view routine) noexcept {
    return checked::allocate(kind, region, minAlignment, size, routine);
}

heapwright_region* asRegion(void* handle) noexcept {
    return static_cast<heapwright_region*>(handle);
}

} // namespace

heapwright_region* heapwright_region_create(heapwright_region* parent) {
    return asRegion(checked::create(kind, parent, "region_create"));
}

void heapwright_region_destroy(heapwright_region* region) {
    if (region != nullptr) {
        checked::destroy(kind, region, "region_destroy");
    }
}

void heapwright_region_clear(heapwright_region* region) {
    checked::clear(kind, region, "region_clear");
}

heapwright_region* heapwright_region_parent(const heapwright_region* region) {
    return asRegion(checked::parentOf(kind, region, "region_parent"));
}

void* heapwright_region_refill(heapwright_region* region, size_t size) {
    return made(region, size, "region_alloc");
}

void* heapwright_region_alloc_aligned(heapwright_region* region, size_t alignment, size_t size) {
    return checked::allocate(kind, region, alignment, size, "region_alloc_aligned");
}

void* heapwright_region_calloc(heapwright_region* region, size_t count, size_t size) {
    std::size_t whole = 0;
    if (__builtin_mul_overflow(count, size, &whole)) {
        return nullptr;
    }
    void* const object = made(region, whole, "region_calloc");
    return object == nullptr ? nullptr : std::memset(object, 0, whole);
}

void* heapwright_region_copy(heapwright_region* region, const void* bytes, size_t size) {
    void* const object = made(region, size, "region_copy");
    return object == nullptr || size == 0 ? object : std::memcpy(object, bytes, size);
}

char* heapwright_region_strdup(heapwright_region* region, const char* string) {
    const std::size_t size = std::strlen(string) + 1;
    void* const object = made(region, size, "region_strdup");
    return object == nullptr ? nullptr : static_cast<char*>(std::memcpy(object, string, size));
}

int heapwright_region_owns(const heapwright_region* region, const void* address) {
    return checked::owns(kind, region, address, "region_owns") ? 1 : 0;
}

size_t heapwright_region_memory_used(const heapwright_region* region) {
    return checked::memoryOf(kind, region, "region_memory_used");
}
