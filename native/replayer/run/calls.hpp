// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The routines, called by name as a program calls them, so that the preloaded allocator answers. A
// routine that this machine's C library no longer has is replaced by its equivalent.
#pragma once

#include "trace/event.hpp"

#include <cstddef>
#include <cstdlib>
#include <malloc.h>
#include <new>

namespace heapwright::replayer {

using trace::Routine;

template <Routine which>
inline void* create(std::size_t size, std::size_t alignment) {
    try {
        if constexpr (which == Routine::operatorNew) {
            return ::operator new(size);
        } else if constexpr (which == Routine::operatorNewArray) {
            return ::operator new[](size);
        } else if constexpr (which == Routine::operatorNewAligned) {
            return ::operator new(size, std::align_val_t{alignment});
        } else {
            return ::operator new[](size, std::align_val_t{alignment});
        }
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}

template <Routine which>
[[gnu::always_inline]] inline void* allocate(std::size_t size,
                                             [[maybe_unused]] std::size_t alignment) {
    if constexpr (which == Routine::malloc) {
        return std::malloc(size);
    } else if constexpr (which == Routine::calloc) {
        return std::calloc(1, size);
    } else if constexpr (which == Routine::memalign) {
        return ::memalign(alignment, size);
    } else if constexpr (which == Routine::alignedAlloc) {
        return ::aligned_alloc(alignment, size);
    } else if constexpr (which == Routine::posixMemalign) {
        void* object = nullptr;
        return ::posix_memalign(&object, alignment, size) == 0 ? object : nullptr;
    } else if constexpr (which == Routine::valloc) {
        return ::valloc(size);
    } else if constexpr (which == Routine::pvalloc) {
        return ::pvalloc(size);
    } else {
        return create<which>(size, alignment);
    }
}

template <Routine which>
[[gnu::always_inline]] inline void release(void* object, [[maybe_unused]] std::size_t size,
                                           [[maybe_unused]] std::size_t alignment) {
    if constexpr (which == Routine::operatorDelete) {
        ::operator delete(object);
    } else if constexpr (which == Routine::operatorDeleteArray) {
        ::operator delete[](object);
    } else if constexpr (which == Routine::operatorDeleteSized) {
        ::operator delete(object, size);
    } else if constexpr (which == Routine::operatorDeleteArraySized) {
        ::operator delete[](object, size);
    } else if constexpr (which == Routine::operatorDeleteAligned) {
        ::operator delete(object, std::align_val_t{alignment});
    } else if constexpr (which == Routine::operatorDeleteArrayAligned) {
        ::operator delete[](object, std::align_val_t{alignment});
    } else {
        std::free(object); // cfree, free_sized and free_aligned_sized are not everywhere
    }
}

} // namespace heapwright::replayer
