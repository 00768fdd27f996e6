// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The allocation routines of C and POSIX as the program calls them. Each calls the next allocator,
// and records the request and the result. Result and errno are the allocator's. operators.c has the
// routines of C++.
#include "record.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>

using namespace heapwright::recorder;

namespace {

/// calloc's and reallocarray's size; the largest number where it does not fit.
std::size_t product(std::size_t count, std::size_t size) noexcept {
    std::size_t bytes = 0;
    return __builtin_mul_overflow(count, size, &bytes) ? SIZE_MAX : bytes;
}

/// One allocation: `call` makes it.
template <class Call>
inline void* allocate(Routine routine, std::size_t size, std::size_t alignment, const void* frame,
                      Call call) noexcept {
    Thread& self = thisThread;
    if (!isOutermost(self)) [[unlikely]] {
        return call();
    }
    enter(self, State::inside);
    void* const object = call();
    noteAllocated(self, routine, object, size, alignment, frame);
    return object;
}

template <class Call>
inline void release(Routine routine, void* object, Call call) noexcept {
    Thread& self = thisThread;
    if (Arena::holds(object)) [[unlikely]] {
        return;
    }
    if (!isOutermost(self)) [[unlikely]] {
        call();
        return;
    }
    noteFreed(self, routine, object);
    call();
    enter(self, self.rest);
}

template <class Call>
inline void* resize(Routine routine, void* old, std::size_t size, const void* frame,
                    Call call) noexcept {
    Thread& self = thisThread;
    if (Arena::holds(old)) [[unlikely]] {
        return Arena::resize(old, size);
    }
    if (!isOutermost(self)) [[unlikely]] {
        return call();
    }
    enter(self, State::inside);
    const std::uint64_t began = recording.clock();
    void* const object = call();
    noteResized(self, {routine, began, addressOf(old), object, size}, frame);
    return object;
}

#define FRAME __builtin_frame_address(0)

// What is not the common way. The routines below end in a jump to these, so that whose frame this
// is was called by the program.

[[gnu::noinline]] void* mallocCarefully(std::size_t size) noexcept {
    return allocate(Routine::malloc, size, 0, FRAME, [size] { return nextMalloc(size); });
}

[[gnu::noinline]] void* callocCarefully(std::size_t count, std::size_t size) noexcept {
    return allocate(Routine::calloc, product(count, size), 0, FRAME,
                    [count, size] { return next.calloc(count, size); });
}

[[gnu::noinline]] void freeCarefully(void* object) noexcept {
    release(Routine::free, object, [object] { nextFree(object); });
}

} // namespace

#pragma GCC visibility push(default)
extern "C" {

void* malloc(std::size_t size) noexcept {
    Thread& self = thisThread;
    if (self.state != State::idle) [[unlikely]] {
        return mallocCarefully(size);
    }
    enter(self, State::inside);
    return noteAllocatedPlainly(self, Routine::malloc, nextMalloc(size), size);
}

void* calloc(std::size_t count, std::size_t size) noexcept {
    Thread& self = thisThread;
    if (self.state != State::idle) [[unlikely]] {
        return callocCarefully(count, size);
    }
    enter(self, State::inside);
    void* const object = next.calloc(count, size);
    return noteAllocatedPlainly(self, Routine::calloc, object, product(count, size));
}

void free(void* object) noexcept {
    Thread& self = thisThread;
    if (self.state != State::idle || !noteFreedPlainly(self, Routine::free, object)) [[unlikely]] {
        return freeCarefully(object);
    }
    nextFree(object);
    enter(self, State::idle);
}

void* realloc(void* object, std::size_t size) noexcept {
    return resize(Routine::realloc, object, size, FRAME,
                  [object, size] { return next.realloc(object, size); });
}

void* reallocarray(void* object, std::size_t count, std::size_t size) noexcept {
    return resize(Routine::reallocarray, object, product(count, size), FRAME,
                  [object, count, size] { return next.reallocarray(object, count, size); });
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
    return allocate(Routine::memalign, size, alignment, FRAME,
                    [alignment, size] { return next.memalign(alignment, size); });
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept {
    return allocate(Routine::alignedAlloc, size, alignment, FRAME,
                    [alignment, size] { return next.alignedAlloc(alignment, size); });
}

/// The pointer belongs to the program. The allocator writes to a local one instead.
int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
    int error = 0;
    void* const object = allocate(Routine::posixMemalign, size, alignment, FRAME, [&] {
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
    return allocate(Routine::valloc, size, 0, FRAME, [size] { return next.valloc(size); });
}

void* pvalloc(std::size_t size) noexcept {
    return allocate(Routine::pvalloc, size, 0, FRAME, [size] { return next.pvalloc(size); });
}

void cfree(void* object) noexcept {
    release(Routine::cfree, object, [object] { next.cfree(object); });
}

void free_sized(void* object, std::size_t size) noexcept {
    release(Routine::freeSized, object, [object, size] { next.freeSized(object, size); });
}

void free_aligned_sized(void* object, std::size_t alignment, std::size_t size) noexcept {
    release(Routine::freeAlignedSized, object,
            [object, alignment, size] { next.freeAlignedSized(object, alignment, size); });
}

/// Code may have gone, and other code may come to its place.
int dlclose(void* library) noexcept {
    isOutermost(thisThread); // the first call of all finds what is behind us
    const int result = next.dlclose(library);
    if (recording.takesStacks()) {
        heapwright::recorder::stacks::noteModulesChanged();
    }
    return result;
}

} // extern "C"
#pragma GCC visibility pop
