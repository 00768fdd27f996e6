// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The allocation routines of C and POSIX as the program calls them. Each calls the next allocator.
// Result and errno are the allocator's. operators.cpp has the routines of C++.
#include "recorder/next.hpp"
#include "recorder/stacks/stacks.hpp"
#include "sampling.hpp"

#include <cstddef>
#include <cstdint>

using namespace heapwright::sampler;
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

/// The first call of a thread, or one with a sampled byte. malloc jumps here, so this frame's
/// caller is that of malloc.
[[gnu::cold, gnu::noinline]] void* mallocSlowly(std::size_t size) noexcept {
    const void* const frame = __builtin_frame_address(0);
    Thread& self = thisThread;
    if (self.progress.left == 0) {
        beginThread(self);
    }
    const Progress before = self.progress;
    void* const block = nextMalloc(size);
    if (before.left != 0 && self.progress == before) {
        count(self, block, size, frame);
    }
    return block;
}

/// Any other routine that allocates.
template <class Call>
[[gnu::always_inline]] inline void* allocate(std::size_t size, const void* frame,
                                             Call call) noexcept {
    Thread& self = thisThread;
    if (self.progress.left == 0) [[unlikely]] {
        beginThread(self);
    }
    const Progress before = self.progress;
    void* const block = call();
    if (before.left != 0 && self.progress == before) [[likely]] {
        count(self, block, size, frame);
    }
    return block;
}

/// A free of an address in whose group there is a sample.
template <class Call>
[[gnu::cold, gnu::noinline]] void releaseSlowly(void* block, Call call) noexcept {
    if (!Arena::holds(block)) {
        forget(block);
        call();
    }
}

template <class Call>
[[gnu::always_inline]] inline void release(void* block, Call call) noexcept {
    if (samples.mayHold(block)) [[unlikely]] {
        releaseSlowly(block, call);
        return;
    }
    call();
}

template <class Call>
[[gnu::always_inline]] inline void* resize(void* old, std::size_t size, const void* frame,
                                           Call call) noexcept {
    Thread& self = thisThread;
    if (self.progress.left == 0) [[unlikely]] {
        beginThread(self);
    }
    std::uint32_t ended = Samples::none;
    if (samples.mayHold(old)) [[unlikely]] {
        if (Arena::holds(old)) {
            return Arena::resize(old, size);
        }
        ended = forget(old);
    }
    const Progress before = self.progress;
    void* const block = call();
    if (block == nullptr) {
        if (ended != Samples::none && size != 0) {
            restore(old, ended);
        }
    } else if (before.left != 0 && self.progress == before) [[likely]] {
        count(self, block, size, frame);
    }
    return block;
}

} // namespace

#define FRAME __builtin_frame_address(0)

#pragma GCC visibility push(default)
extern "C" {

void* malloc(std::size_t size) noexcept {
    Thread& self = thisThread;
    if (self.progress.left <= size) [[unlikely]] {
        return mallocSlowly(size);
    }
    self.progress.left -= size;
    return nextMalloc(size);
}

void* calloc(std::size_t count, std::size_t size) noexcept {
    return allocate(product(count, size), FRAME,
                    [count, size] { return next.calloc(count, size); });
}

void free(void* object) noexcept {
    release(object, [object] { nextFree(object); });
}

void* realloc(void* object, std::size_t size) noexcept {
    return resize(object, size, FRAME, [object, size] { return next.realloc(object, size); });
}

void* reallocarray(void* object, std::size_t count, std::size_t size) noexcept {
    return resize(object, product(count, size), FRAME,
                  [object, count, size] { return next.reallocarray(object, count, size); });
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
    return allocate(size, FRAME, [alignment, size] { return next.memalign(alignment, size); });
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    return allocate(size, FRAME, [alignment, size] { return next.alignedAlloc(alignment, size); });
}

/// The pointer belongs to the program. The allocator writes to a local one instead.
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

void* pvalloc(std::size_t size) noexcept {
    return allocate(size, FRAME, [size] { return next.pvalloc(size); });
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
    if (thisThread.progress.left == 0) [[unlikely]] {
        beginThread(thisThread);
    }
    if (object == nullptr || Arena::holds(object) || nextUsableSize == nullptr) {
        return 0;
    }
    return nextUsableSize(object);
}

/// Code may have gone, and other code may come to its place.
int dlclose(void* library) noexcept {
    if (thisThread.progress.left == 0) [[unlikely]] {
        beginThread(thisThread);
    }
    const int result = next.dlclose(library);
    heapwright::recorder::stacks::noteModulesChanged();
    return result;
}

} // extern "C"
#pragma GCC visibility pop
