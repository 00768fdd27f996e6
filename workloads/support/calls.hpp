// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The workloads call the allocator through pointers that are set once, before the first thread
// starts. No compiler can thus remove a call. A run without observers costs one indirect call more.
// The same program runs on the bump pointer or with observers.
#pragma once

#include "fatal_error.hpp"

#include <cstddef>

namespace heapwright::workloads {

struct Calls {
    void* (*malloc)(std::size_t size);
    void (*free)(void* object);
    void* (*calloc)(std::size_t count, std::size_t size);
    void* (*realloc)(void* object, std::size_t size);
    void* (*memalign)(std::size_t alignment, std::size_t size);
    /// operator new and delete if the program uses them; otherwise malloc and free.
    void* (*create)(std::size_t size);
    void (*destroy)(void* object);
};

/// The process's own allocator: the C library's, or a preloaded one.
extern Calls systemCalls;
/// The calls that the workload makes.
extern Calls calls;

/// Allocates, or exits with status 3 if there is no memory.
inline void* allocate(std::size_t size) {
    void* const object = calls.malloc(size);
    if (object == nullptr) [[unlikely]] {
        noMemory("malloc", size);
    }
    return object;
}

inline void* allocateZeroed(std::size_t count, std::size_t size) {
    void* const object = calls.calloc(count, size);
    if (object == nullptr) [[unlikely]] {
        noMemory("calloc", count * size);
    }
    return object;
}

inline void* allocateAligned(std::size_t alignment, std::size_t size) {
    void* const object = calls.memalign(alignment, size);
    if (object == nullptr) [[unlikely]] {
        noMemory("memalign", size);
    }
    return object;
}

/// Pre: `size` is not 0.
inline void* reallocate(void* object, std::size_t size) {
    void* const moved = calls.realloc(object, size);
    if (moved == nullptr) [[unlikely]] {
        noMemory("realloc", size);
    }
    return moved;
}

inline void release(void* object) {
    calls.free(object);
}

} // namespace heapwright::workloads
