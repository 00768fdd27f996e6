// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The allocator behind us: what each call would have reached without the recorder. It is found by
// RTLD_NEXT at the first call of all, so that the program keeps the allocator that it has, whether
// that is the C library's or one that is preloaded after us.
//
// Invariants: malloc, calloc, realloc and free can always be called. A form that the allocator does
// not have goes to a plainer one (cfree to free). `nextUsableSize` is null unless it is of
// the same object as malloc: another one's would read what it does not know. What is asked for
// while the search runs (dlsym allocates when a name is missing) comes from a small arena that is
// never freed and never recorded.
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

/// A place outside the heap, for who asks before the heap is found. Its objects are 8 bytes off a
/// multiple of 16, so that the common path, which looks at that anyway, does not take them for the
/// heap's.
class Arena {
public:
    static void* take(std::size_t size) noexcept;
    static void* takeZeros(std::size_t count, std::size_t size) noexcept;
    static void* resize(void* object, std::size_t size) noexcept;
    static bool holds(const void* object) noexcept {
        return reinterpret_cast<std::uintptr_t>(object) - reinterpret_cast<std::uintptr_t>(bytes_) <
               sizeof bytes_;
    }

private:
    static constexpr std::size_t lead = 8; ///< the size stands before the object
    alignas(16) static char bytes_[16 << 10];
};

} // namespace heapwright::recorder
