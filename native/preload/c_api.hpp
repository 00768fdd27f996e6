// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The C entry points over any complete allocator: errno, invalid arguments and their errors, and
// zero sizes. The allocator manages the memory and limits the sizes.
//
// Where the standards leave a choice, the behaviour is that of the GNU C library, because programs
// rely on it:
//  - realloc(p, 0) frees p and returns null. realloc(null, 0) is malloc(0), an object of its own.
//  - memalign rounds an alignment up to a power of two. An alignment that is no power of two is
//    refused by aligned_alloc, as in glibc since 2.38; earlier versions round. The size need not be
//    a multiple of it.
//  - posix_memalign reports errors by its result, and changes *out only on success. Without memory
//    it also sets errno to ENOMEM. With an invalid alignment it keeps errno.
//
// Cost: one test of the result.
#pragma once

#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <heapwright/core/address.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/platform/pages.hpp>
#include <heapwright/structure/cache/fast_path.hpp>

#include <preload/instance.hpp>

namespace heapwright::preload {

template <class Allocator>
struct CApi {
    static void* malloc(std::size_t size) {
        if constexpr (SplitPathHeap<Allocator>) {
            void* const object = heap().tryMallocFast(size);
            return object != nullptr ? object : mallocSlow(size);
        } else if constexpr (AtOnceHeap<Allocator>) {
            void* const object = heap().mallocAtOnce(size);
            return object != nullptr ? object : mallocSlow(size);
        } else {
            return orNoMemory(heap().malloc(size));
        }
    }

    static void free(void* object) { heap().free(object); }

    static void* calloc(std::size_t count, std::size_t size) {
        return orNoMemory(heap().calloc(count, size));
    }

    static void* realloc(void* object, std::size_t size) {
        if (size == 0 && object != nullptr) {
            heap().free(object);
            return nullptr;
        }
        return orNoMemory(heap().realloc(object, size));
    }

    static void* reallocarray(void* object, std::size_t count, std::size_t size) {
        std::size_t total = 0;
        if (__builtin_mul_overflow(count, size, &total)) {
            return orNoMemory(nullptr);
        }
        return realloc(object, total);
    }

    // The same for a heap that serves some call sites specially. `caller` is the return address of
    // the program's request. The library's constructor calls `resolveSites`.

    static void resolveSites() {
        if constexpr (SitePredictingHeap<Allocator>) {
            heap().resolveSites();
        }
    }

    static void* mallocFrom(std::size_t size, const void* caller) {
        void* const object = heap().tryMallocFrom(size, caller);
        return object != nullptr ? object : malloc(size);
    }

    static void* callocFrom(std::size_t count, std::size_t size, const void* caller) {
        std::size_t total = 0;
        if (!__builtin_mul_overflow(count, size, &total)) {
            if (void* const object = heap().tryMallocFrom(total, caller)) {
                return std::memset(object, 0, total);
            }
        }
        return calloc(count, size);
    }

    /// An object stays with the heap that made it, or moves to the heap of all other call sites.
    static void* reallocFrom(void* object, std::size_t size, const void* caller) {
        return object == nullptr ? mallocFrom(size, caller) : realloc(object, size);
    }

    static void* memalign(std::size_t alignment, std::size_t size) {
        constexpr std::size_t largest = SIZE_MAX / 2 + 1;
        if (alignment > largest) {
            errno = EINVAL;
            return nullptr;
        }
        return orNoMemory(heap().memalign(std::bit_ceil(alignment), size));
    }

    static void* alignedAlloc(std::size_t alignment, std::size_t size) {
        if (!std::has_single_bit(alignment)) {
            errno = EINVAL;
            return nullptr;
        }
        return orNoMemory(heap().memalign(alignment, size));
    }

    static int posixMemalign(void** out, std::size_t alignment, std::size_t size) {
        if (!std::has_single_bit(alignment) || alignment % sizeof(void*) != 0) {
            return EINVAL;
        }
        void* object = nullptr;
        {
            const platform::ErrnoKeeper keeper;
            object = heap().memalign(alignment, size);
        }
        if (object == nullptr) {
            errno = ENOMEM;
            return ENOMEM;
        }
        *out = object;
        return 0;
    }

    static void* valloc(std::size_t size) { return memalign(platform::pageSize(), size); }

    static void* pvalloc(std::size_t size) {
        const std::size_t page = platform::pageSize();
        std::size_t padded = 0;
        if (__builtin_add_overflow(size, page - 1, &padded)) {
            return orNoMemory(nullptr);
        }
        return memalign(page, roundDown(padded, page));
    }

    static std::size_t usableSize(void* object) {
        return object == nullptr ? 0 : heap().getSize(object);
    }

    static void freeSized(void* object, std::size_t size) {
        if constexpr (RequestCheckingHeap<Allocator>) {
            if (object != nullptr) {
                heap().checkRequest(object, size, 1, "free_sized");
            }
        } else if (object != nullptr && size > heap().getSize(object)) {
            platform::abortWithMessage("free_sized", "the size is larger than the object");
        }
        heap().free(object);
    }

    static void freeAlignedSized(void* object, std::size_t alignment, std::size_t size) {
        if (object == nullptr) {
            return;
        }
        if constexpr (RequestCheckingHeap<Allocator>) {
            heap().checkRequest(object, size, alignment, "free_aligned_sized");
        } else if (size > heap().getSize(object)) {
            platform::abortWithMessage("free_aligned_sized", "the size is larger than the object");
        }
        if (!std::has_single_bit(alignment) || (addressOf(object) & (alignment - 1)) != 0) {
            platform::refuseAlignment("free_aligned_sized");
        }
        heap().free(object);
    }

private:
    static Allocator& heap() { return instance<Allocator>(); }

    /// Out of line, so that the fast path needs no stack frame.
    [[gnu::noinline]] static void* mallocSlow(std::size_t size) {
        return orNoMemory(heap().mallocSlow(size));
    }

    static void* orNoMemory(void* object) {
        if (object == nullptr) [[unlikely]] {
            errno = ENOMEM;
        }
        return object;
    }
};

} // namespace heapwright::preload
