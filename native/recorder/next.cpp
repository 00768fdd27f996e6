// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// See next.hpp.
#include "next.hpp"

#include <heapwright/platform/abort.hpp>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <dlfcn.h>

namespace heapwright::recorder {

alignas(16) constinit char Arena::bytes_[capacity] = {};

namespace {

void freeNothing(void*) {}

constinit std::atomic<std::size_t> arenaUsed{0};

template <class Function>
void find(void* scope, Function*& place, const char* name) noexcept {
    place = reinterpret_cast<Function*>(::dlsym(scope, name));
}

template <class Function>
void demand(void* scope, Function*& place, const char* name) noexcept {
    Function* found = nullptr;
    find(scope, found, name);
    if (found == nullptr) {
        platform::abortWithMessage(name, "there is no allocator behind us");
    }
    place = found;
}

/// Whether two functions are of one loaded object.
template <class One, class Other>
bool sameObject(One* one, Other* other) noexcept {
    Dl_info first = {};
    Dl_info second = {};
    return ::dladdr(reinterpret_cast<void*>(one), &first) != 0 &&
           ::dladdr(reinterpret_cast<void*>(other), &second) != 0 &&
           first.dli_fbase == second.dli_fbase;
}

void cfreeByFree(void* object) {
    nextFree(object);
}
void freeSizedByFree(void* object, std::size_t) {
    nextFree(object);
}
void freeAlignedSizedByFree(void* object, std::size_t, std::size_t) {
    nextFree(object);
}
void* reallocarrayByRealloc(void* object, std::size_t count, std::size_t size) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return nullptr;
    }
    return next.realloc(object, bytes);
}

template <class Function>
void orElse(Function*& place, Function* instead) noexcept {
    place = place != nullptr ? place : instead;
}

} // namespace

void* (*nextMalloc)(std::size_t) = &Arena::take;
void (*nextFree)(void*) = &freeNothing;
std::size_t (*nextUsableSize)(void*) = nullptr;
constinit Next next = {&Arena::takeZeros,
                       &Arena::resize,
                       &reallocarrayByRealloc,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr,
                       &cfreeByFree,
                       &freeSizedByFree,
                       &freeAlignedSizedByFree,
                       nullptr};

void findNext() noexcept {
    findNextIn(RTLD_NEXT);
}

void findNextIn(void* scope) noexcept {
    Next found = next;
    void* (*malloc)(std::size_t) = nullptr;
    void (*free)(void*) = nullptr;
    std::size_t (*usableSize)(void*) = nullptr;
    demand(scope, malloc, "malloc");
    demand(scope, free, "free");
    demand(scope, found.calloc, "calloc");
    demand(scope, found.realloc, "realloc");
    find(scope, found.reallocarray, "reallocarray");
    find(scope, found.memalign, "memalign");
    find(scope, found.alignedAlloc, "aligned_alloc");
    find(scope, found.posixMemalign, "posix_memalign");
    find(scope, found.valloc, "valloc");
    find(scope, found.pvalloc, "pvalloc");
    find(scope, found.cfree, "cfree");
    find(scope, found.freeSized, "free_sized");
    find(scope, found.freeAlignedSized, "free_aligned_sized");
    find(scope, usableSize, "malloc_usable_size");
    find(scope, found.dlclose, "dlclose");
    orElse(found.reallocarray, &reallocarrayByRealloc);
    orElse(found.cfree, &cfreeByFree);
    orElse(found.freeSized, &freeSizedByFree);
    orElse(found.freeAlignedSized, &freeAlignedSizedByFree);
    nextUsableSize = sameObject(malloc, usableSize) ? usableSize : nullptr;
    nextMalloc = malloc;
    nextFree = free;
    next = found; // until here, the arena served the search's own requests
}

void* Arena::take(std::size_t size) noexcept {
    if (size > sizeof bytes_) {
        errno = ENOMEM;
        return nullptr;
    }
    const std::size_t whole = (size + lead + 15) & ~std::size_t{15};
    const std::size_t at = arenaUsed.fetch_add(whole, std::memory_order_relaxed);
    if (at + whole > sizeof bytes_) {
        errno = ENOMEM;
        return nullptr;
    }
    std::memcpy(bytes_ + at, &size, sizeof size);
    return bytes_ + at + lead;
}

void* Arena::takeZeros(std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    // Zero as it is: nothing of the arena is ever used twice.
    return take(__builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes);
}

void* Arena::resize(void* object, std::size_t size) noexcept {
    void* const fresh = nextMalloc(size);
    if (fresh != nullptr && object != nullptr) {
        std::size_t held = 0; // it stands before the object
        std::memcpy(&held, static_cast<const char*>(object) - lead, sizeof held);
        std::memcpy(fresh, object, held < size ? held : size);
    }
    return fresh;
}

} // namespace heapwright::recorder
