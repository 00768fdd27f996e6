// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The functions of heapwright/c/reap.h, with each object allocated by malloc.
#include <heapwright/c/reap.h>

#include "arena.hpp"

#include <bit>
#include <cstring>

namespace {

using Reap = heapwright::capi::emulated::Arena<heapwright_reap>;

auto& heapOf(const heapwright_reap* reap) noexcept {
    return Reap::heapOf(reap);
}

} // namespace

heapwright_reap* heapwright_reap_create(heapwright_reap* parent) {
    return Reap::create(parent);
}

heapwright_reap* heapwright_reap_create_shared(heapwright_reap* parent) {
    return Reap::create(parent); // every reap here has a lock
}

void heapwright_reap_destroy(heapwright_reap* reap) {
    Reap::destroy(reap);
}

void heapwright_reap_clear(heapwright_reap* reap) {
    Reap::clear(reap);
}

heapwright_reap* heapwright_reap_parent(const heapwright_reap* reap) {
    return Reap::parentOf(reap);
}

void* heapwright_reap_refill(heapwright_reap* reap, size_t size) {
    return heapOf(reap).malloc(size);
}

void heapwright_reap_free(heapwright_reap* reap, void* object) {
    if (object != nullptr) {
        heapOf(reap).free(object);
    }
}

void* heapwright_reap_realloc(heapwright_reap* reap, void* object, size_t size) {
    return object == nullptr ? heapOf(reap).malloc(size) : heapOf(reap).relocate(object, size);
}

void* heapwright_reap_calloc(heapwright_reap* reap, size_t count, size_t size) {
    std::size_t whole = 0;
    return __builtin_mul_overflow(count, size, &whole) ? nullptr : heapOf(reap).zalloc(whole);
}

void* heapwright_reap_aligned_alloc(heapwright_reap* reap, size_t alignment, size_t size) {
    if (!std::has_single_bit(alignment)) {
        return nullptr;
    }
    return alignment <= heapwright::minAlignment ? heapOf(reap).malloc(size)
                                                 : heapOf(reap).memalign(alignment, size);
}

void* heapwright_reap_copy(heapwright_reap* reap, const void* bytes, size_t size) {
    void* const object = heapOf(reap).malloc(size);
    return object == nullptr || size == 0 ? object : std::memcpy(object, bytes, size);
}

char* heapwright_reap_strdup(heapwright_reap* reap, const char* string) {
    return static_cast<char*>(heapwright_reap_copy(reap, string, std::strlen(string) + 1));
}

size_t heapwright_reap_size(const heapwright_reap* reap, const void* object) {
    return heapOf(reap).getSize(const_cast<void*>(object));
}

int heapwright_reap_owns(const heapwright_reap* reap, const void* address) {
    return heapOf(reap).owns(address) ? 1 : 0;
}

size_t heapwright_reap_memory_used(const heapwright_reap* reap) {
    return Reap::memoryUsed(reap);
}
