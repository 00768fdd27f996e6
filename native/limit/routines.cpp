// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The allocation routines of C and POSIX as the program calls them. Each calls the next allocator
// and counts. Result and errno are the allocator's. operators.cpp has the routines of C++.
#include "counts.hpp"

#include <cstddef>
#include <cstdint>

using namespace heapwright::limit;
using heapwright::recorder::Arena;
using heapwright::recorder::next;
using heapwright::recorder::nextFree;
using heapwright::recorder::nextMalloc;
using heapwright::recorder::nextUsableSize;

namespace {

/// calloc's and reallocarray's size; the largest number where it does not fit.
std::size_t product(std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    return __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes;
}

void enter(Thread& self) noexcept {
    self.idle = nullptr;
    self.inside = true;
    std::atomic_signal_fence(std::memory_order_seq_cst);
}

void leave(Thread& self) noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    self.inside = false;
    self.idle = self.line;
}

template <class Call>
inline void* allocate(std::size_t size, Call call) noexcept {
    Thread& self = thisThread;
    if (self.idle == nullptr && !isOutermost(self)) [[unlikely]] {
        return call();
    }
    enter(self);
    void* const object = call();
    if (object != nullptr) [[likely]] {
        if (self.line != nullptr) [[likely]] {
            noteAllocated(*self.line, object, size);
        } else {
            noteAllocatedShared(object, size);
        }
    }
    leave(self);
    return object;
}

template <class Call>
inline void release(void* object, Call call) noexcept {
    Thread& self = thisThread;
    if (object == nullptr || Arena::holds(object)) [[unlikely]] {
        if (!self.known) {
            isOutermost(self); // the constructor begins with such a call
        }
        return;
    }
    if (self.idle == nullptr && !isOutermost(self)) [[unlikely]] {
        call();
        return;
    }
    enter(self);
    if (self.line != nullptr) [[likely]] {
        noteFreed(*self.line, object);
    } else {
        noteFreedShared(object);
    }
    call();
    leave(self);
}

template <class Call>
inline void* resize(void* old, std::size_t size, Call call) noexcept {
    Thread& self = thisThread;
    if (Arena::holds(old)) [[unlikely]] {
        return Arena::resize(old, size);
    }
    if (self.idle == nullptr && !isOutermost(self)) [[unlikely]] {
        return call();
    }
    enter(self);
    const Old before = {old, old != nullptr ? requestedSizes.of(old) : std::size_t{0}};
    void* const object = call();
    noteResized(self, before, object, size);
    leave(self);
    return object;
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

void* malloc(std::size_t size) noexcept {
    return allocate(size, [size] { return nextMalloc(size); });
}

void* calloc(std::size_t count, std::size_t size) noexcept {
    return allocate(product(count, size), [count, size] { return next.calloc(count, size); });
}

void free(void* object) noexcept {
    release(object, [object] { nextFree(object); });
}

void* realloc(void* object, std::size_t size) noexcept {
    return resize(object, size, [object, size] { return next.realloc(object, size); });
}

void* reallocarray(void* object, std::size_t count, std::size_t size) noexcept {
    return resize(object, product(count, size),
                  [object, count, size] { return next.reallocarray(object, count, size); });
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
    return allocate(size, [alignment, size] { return next.memalign(alignment, size); });
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    return allocate(size, [alignment, size] { return next.alignedAlloc(alignment, size); });
}

/// The pointer belongs to the program. The allocator writes to a local one instead.
int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
    int error = 0;
    void* const object = allocate(size, [&] {
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
    return allocate(size, [size] { return next.valloc(size); });
}

void* pvalloc(std::size_t size) noexcept {
    return allocate(size, [size] { return next.pvalloc(size); });
}

void cfree(void* object) noexcept {
    release(object, [object] { next.cfree(object); });
}

void free_sized(void* object, std::size_t size) noexcept {
    release(object, [object, size] { next.freeSized(object, size); });
}

void free_aligned_sized(void* object, std::size_t alignment, std::size_t size) noexcept {
    release(object, [object, alignment, size] { next.freeAlignedSized(object, alignment, size); });
}

/// A library before this one may take usable sizes from the object that has malloc only.
std::size_t malloc_usable_size(void* object) noexcept {
    Thread& self = thisThread;
    if (!self.known) [[unlikely]] {
        isOutermost(self);
    }
    if (object == nullptr || Arena::holds(object) || nextUsableSize == nullptr) {
        return 0;
    }
    return nextUsableSize(object);
}

} // extern "C"
#pragma GCC visibility pop
