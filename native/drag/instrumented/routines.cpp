// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The allocation routines of C and POSIX that the program calls. Each calls the next definition,
// that of the allocator, and records the result in the account. Results and errno are the
// allocator's. An object leaves the account before the allocator gets it back, and enters it after
// the allocator has returned it.
#include "runtime.hpp"

#include "recorder/next.hpp"

#include <heapwright/platform/pages.hpp>

#include <cstddef>
#include <cstdint>

using namespace heapwright::recorder;
using heapwright::drag::runtime;

namespace {

template <class Call>
inline void* allocate(std::size_t size, const void* frame, Call call) noexcept {
    if (!runtime.enter()) {
        return call();
    }
    void* const object = call();
    runtime.allocated(object, size, frame);
    runtime.leave();
    return object;
}

template <class Call>
inline void release(void* object, Call call) noexcept {
    if (Arena::holds(object)) [[unlikely]] {
        return;
    }
    if (!runtime.enter()) {
        call();
        return;
    }
    runtime.freed(object);
    call();
    runtime.leave();
}

template <class Call>
inline void* resize(void* old, std::size_t size, const void* frame, Call call) noexcept {
    if (Arena::holds(old)) [[unlikely]] {
        return Arena::resize(old, size);
    }
    if (!runtime.enter()) {
        return call();
    }
    void* const object = runtime.resized(old, size, frame, call);
    runtime.leave();
    return object;
}

/// The size for calloc and reallocarray. On overflow the call returns null, and the size is not
/// used.
std::size_t product(std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    return __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes;
}

#define FRAME __builtin_frame_address(0)

} // namespace

#pragma GCC visibility push(default)
extern "C" {

void* malloc(std::size_t size) noexcept {
    return allocate(size, FRAME, [size] { return nextMalloc(size); });
}

void* calloc(std::size_t count, std::size_t size) noexcept {
    return allocate(product(count, size), FRAME, [=] { return next.calloc(count, size); });
}

void free(void* object) noexcept {
    release(object, [object] { nextFree(object); });
}

void* realloc(void* object, std::size_t size) noexcept {
    return resize(object, size, FRAME, [=] { return next.realloc(object, size); });
}

void* reallocarray(void* object, std::size_t count, std::size_t size) noexcept {
    return resize(object, product(count, size), FRAME,
                  [=] { return next.reallocarray(object, count, size); });
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
    return allocate(size, FRAME, [=] { return next.memalign(alignment, size); });
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    return allocate(size, FRAME, [=] { return next.alignedAlloc(alignment, size); });
}

/// `out` is the program's, so the allocator gets a local pointer to write to.
int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
    int error = 0;
    void* const object = allocate(size, FRAME, [&] {
        void* made = nullptr;
        error = next.posixMemalign(&made, alignment, size);
        return error == 0 ? made : nullptr;
    });
    if (error == 0) {
        *out = object;
    }
    return error;
}

void* valloc(std::size_t size) noexcept {
    return allocate(size, FRAME, [size] { return next.valloc(size); });
}

/// The request is for whole pages.
void* pvalloc(std::size_t size) noexcept {
    const std::size_t page = heapwright::platform::pageSize();
    const std::size_t whole = (size + page - 1) & ~(page - 1);
    return allocate(whole, FRAME, [size] { return next.pvalloc(size); });
}

void cfree(void* object) noexcept {
    release(object, [object] { next.cfree(object); });
}

void free_sized(void* object, std::size_t size) noexcept {
    release(object, [=] { next.freeSized(object, size); });
}

void free_aligned_sized(void* object, std::size_t alignment, std::size_t size) noexcept {
    release(object, [=] { next.freeAlignedSized(object, alignment, size); });
}

} // extern "C"
#pragma GCC visibility pop
