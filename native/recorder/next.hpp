// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The next allocator: the definitions that each call would have reached without the recorder. The
// first call finds them by RTLD_NEXT. The program thus keeps its allocator, either
// the C library's or one that is preloaded.
//
// Invariant: malloc, calloc, realloc and free can always be called. A form that the allocator lacks
// is forwarded to a plainer one (cfree to free). `nextUsableSize` is null unless it comes from the
// same object as malloc: another object's version would read unknown metadata. The search itself
// may allocate (dlsym does if a name is missing). A small arena serves these requests; it is never
// freed and never recorded.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright::recorder {

// The three of the common path stand alone: there one instruction reaches each.
extern void* (*nextMalloc)(std::size_t);
extern void (*nextFree)(void*);
extern std::size_t (*nextUsableSize)(void*);

struct Next {
    void* (*calloc)(std::size_t, std::size_t);
    void* (*realloc)(void*, std::size_t);
    void* (*reallocarray)(void*, std::size_t, std::size_t);
    void* (*memalign)(std::size_t, std::size_t);
    void* (*alignedAlloc)(std::size_t, std::size_t);
    int (*posixMemalign)(void**, std::size_t, std::size_t);
    void* (*valloc)(std::size_t);
    void* (*pvalloc)(std::size_t);
    void (*cfree)(void*);
    void (*freeSized)(void*, std::size_t);
    void (*freeAlignedSized)(void*, std::size_t, std::size_t);
    int (*dlclose)(void*);
};

extern Next next;

/// Finds them; called once, before any other thread allocates.
void findNext() noexcept;

/// The same in another scope of dlsym than RTLD_NEXT.
void findNextIn(void* scope) noexcept;

/// Memory outside the heap, for requests before the next allocator is found. Its objects are 8
/// bytes off a multiple of 16. The common path tests that alignment anyway and so does not take
/// them for objects of the heap.
class Arena {
public:
    static void* take(std::size_t size) noexcept;
    static void* takeZeros(std::size_t count, std::size_t size) noexcept;
    static void* resize(void* object, std::size_t size) noexcept;
    static constexpr std::size_t capacity = 16 << 10;
    static const char* begin() noexcept { return bytes_; }
    static bool holds(const void* object) noexcept {
        return reinterpret_cast<std::uintptr_t>(object) - reinterpret_cast<std::uintptr_t>(bytes_) <
               sizeof bytes_;
    }

private:
    static constexpr std::size_t lead = 8; ///< the size stands before the object
    alignas(16) static char bytes_[capacity];
};

} // namespace heapwright::recorder
