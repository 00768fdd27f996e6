// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reaps of the checking library. Any thread may use any of them.
#include <heapwright/c/reap.h>

#include <capi/checked/groups.hpp>
#include <heapwright/core/address.hpp>

#include <cstring>

namespace checked = heapwright::capi::checked;

using heapwright::minAlignment;

namespace {

constexpr auto kind = checked::Kind::reap;

void* made(const heapwright_reap* reap, std::size_t size, std::string_view routine) noexcept {
    return checked::allocate(kind, reap, minAlignment, size, routine);
}

heapwright_reap* asReap(void* handle) noexcept {
    return static_cast<heapwright_reap*>(handle);
}

} // namespace

heapwright_reap* heapwright_reap_create(heapwright_reap* parent) {
    return asReap(checked::create(kind, parent, "reap_create"));
}

heapwright_reap* heapwright_reap_create_shared(heapwright_reap* parent) {
    return asReap(checked::create(kind, parent, "reap_create_shared"));
}

void heapwright_reap_destroy(heapwright_reap* reap) {
    if (reap != nullptr) {
        checked::destroy(kind, reap, "reap_destroy");
    }
}

void heapwright_reap_clear(heapwright_reap* reap) {
    checked::clear(kind, reap, "reap_clear");
}

heapwright_reap* heapwright_reap_parent(const heapwright_reap* reap) {
    return asReap(checked::parentOf(kind, reap, "reap_parent"));
}

void* heapwright_reap_refill(heapwright_reap* reap, size_t size) {
    return made(reap, size, "reap_malloc");
}

void heapwright_reap_free(heapwright_reap* reap, void* object) {
    checked::free(kind, reap, object, "reap_free");
}

void* heapwright_reap_realloc(heapwright_reap* reap, void* object, size_t size) {
    return checked::reallocate(kind, reap, object, size, "reap_realloc");
}

void* heapwright_reap_calloc(heapwright_reap* reap, size_t count, size_t size) {
    std::size_t whole = 0;
    if (__builtin_mul_overflow(count, size, &whole)) {
        return nullptr;
    }
    void* const object = made(reap, whole, "reap_calloc");
    return object == nullptr ? nullptr : std::memset(object, 0, whole);
}

void* heapwright_reap_aligned_alloc(heapwright_reap* reap, size_t alignment, size_t size) {
    return checked::allocate(kind, reap, alignment, size, "reap_aligned_alloc");
}

void* heapwright_reap_copy(heapwright_reap* reap, const void* bytes, size_t size) {
    void* const object = made(reap, size, "reap_copy");
    return object == nullptr || size == 0 ? object : std::memcpy(object, bytes, size);
}

char* heapwright_reap_strdup(heapwright_reap* reap, const char* string) {
    const std::size_t size = std::strlen(string) + 1;
    void* const object = made(reap, size, "reap_strdup");
    return object == nullptr ? nullptr : static_cast<char*>(std::memcpy(object, string, size));
}

size_t heapwright_reap_size(const heapwright_reap* reap, const void* object) {
    return checked::sizeOf(kind, reap, object, "reap_size");
}

int heapwright_reap_owns(const heapwright_reap* reap, const void* address) {
    return checked::owns(kind, reap, address, "reap_owns") ? 1 : 0;
}

size_t heapwright_reap_memory_used(const heapwright_reap* reap) {
    return checked::memoryOf(kind, reap, "reap_memory_used");
}
