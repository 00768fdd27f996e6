// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The C entry points with samples. A sampled block is always a large object of the heap, however
// small the request is. The fast path of `free` refuses large objects anyway, so it needs no test
// for samples: the slow path ends them.
//
// Functions that take a sample stand alone and are called last, so that they become jumps. Their
// return address is then that of the program.
// Cost: 3 instructions for each request, none for a free on the fast path. A live sample takes a
// unit of addresses, and the pages that it touches.
#pragma once

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <heapwright/core/address.hpp>
#include <heapwright/platform/pages.hpp>

#include <preload/c_api.hpp>
#include <preload/instance.hpp>
#include <sampled/countdown.hpp>
#include <sampler/sampling.hpp>

namespace heapwright::sampled {

/// The smallest request that the fast path of `Allocator` does not know.
template <class Allocator>
inline constexpr std::size_t leastLarge = 0;

template <class Allocator>
struct CApi : preload::CApi<Allocator> {
    using Plain = preload::CApi<Allocator>;
    static constexpr std::size_t least = leastLarge<Allocator>;
    static_assert(least != 0, "the smallest large size of the allocator is not stated");

    /// Memory for a sample. Null: there is none.
    static void* place(std::size_t size) { return heap().malloc(std::max(size, least)); }

    [[gnu::always_inline]] static void* malloc(std::size_t size) {
        if (!pass(size)) [[unlikely]] {
            return mallocSampled(size);
        }
        void* const object = heap().tryMallocFast(size);
        return object != nullptr ? object : mallocSlow(size);
    }

    static void free(void* object) {
        if (!heap().tryFreeFast(object)) {
            freeSlow(object);
        }
    }

    static void* calloc(std::size_t count, std::size_t size) {
        std::size_t total = 0;
        if (__builtin_mul_overflow(count, size, &total) || passPossible(total)) [[likely]] {
            return Plain::calloc(count, size);
        }
        return zallocSampled(total);
    }

    static void* realloc(void* object, std::size_t size) {
        if (object == nullptr) {
            return malloc(size);
        }
        if (size == 0) {
            free(object);
            return nullptr;
        }
        const bool passed = passPossible(size);
        if (passed && !sampler::samples.mayHold(object)) [[likely]] {
            return Plain::realloc(object, size);
        }
        return reallocSampled(object, size, passed);
    }

    static void* reallocarray(void* object, std::size_t count, std::size_t size) {
        std::size_t total = 0;
        if (__builtin_mul_overflow(count, size, &total)) {
            return Plain::reallocarray(object, count, size);
        }
        return realloc(object, total);
    }

    static void* memalign(std::size_t alignment, std::size_t size) {
        return passPossible(size) ? Plain::memalign(alignment, size)
                                  : memalignSampled(alignment, size);
    }

    static void* alignedAlloc(std::size_t alignment, std::size_t size) {
        if (!std::has_single_bit(alignment)) {
            errno = EINVAL;
            return nullptr;
        }
        return memalign(alignment, size);
    }

    static int posixMemalign(void** out, std::size_t alignment, std::size_t size) {
        return passPossible(size) ? Plain::posixMemalign(out, alignment, size)
                                  : posixMemalignSampled(out, alignment, size);
    }

    static void* valloc(std::size_t size) { return memalign(platform::pageSize(), size); }

    static void* pvalloc(std::size_t size) {
        const std::size_t page = platform::pageSize();
        std::size_t padded = 0;
        if (__builtin_add_overflow(size, page - 1, &padded)) {
            return Plain::pvalloc(size);
        }
        return memalign(page, roundDown(padded, page));
    }

    static void freeSized(void* object, std::size_t size) {
        end(object);
        Plain::freeSized(object, size);
    }

    static void freeAlignedSized(void* object, std::size_t alignment, std::size_t size) {
        end(object);
        Plain::freeAlignedSized(object, alignment, size);
    }

private:
    static Allocator& heap() { return preload::instance<Allocator>(); }

    /// Ends the sample of an object that is about to be freed.
    static void end(const void* object) {
        if (sampler::samples.mayHold(object)) [[unlikely]] {
            sampler::forget(object);
        }
    }

    /// Out of line, so that the fast path needs no stack frame.
    [[gnu::noinline]] static void* mallocSlow(std::size_t size) {
        uncountImpossible(size);
        void* const object = heap().mallocSlow(size);
        if (object == nullptr) [[unlikely]] {
            errno = ENOMEM;
        }
        return object;
    }

    [[gnu::noinline]] static void freeSlow(void* object) {
        end(object);
        heap().freeSlow(object);
    }

    /// `block` as a sample of this size, if there is memory for it.
    [[gnu::always_inline]] static void* noted(void* block, std::size_t size, const void* frame) {
        if (block != nullptr) {
            note(block, size, frame);
        }
        return block;
    }

    [[gnu::cold, gnu::noinline]] static void* mallocSampled(std::size_t size) {
        const void* const frame = __builtin_frame_address(0);
        void* const block = isDue(size) ? noted(place(size), size, frame) : nullptr;
        return block != nullptr ? block : Plain::malloc(size);
    }

    [[gnu::cold, gnu::noinline]] static void* zallocSampled(std::size_t size) {
        const void* const frame = __builtin_frame_address(0);
        const bool due = isDue(size);
        // Of a smaller block, only its own bytes are written.
        void* const small = due && size < least ? place(size) : nullptr;
        if (small != nullptr) {
            return noted(std::memset(small, 0, size), size, frame);
        }
        void* const block = Plain::calloc(1, size);
        return due && size >= least ? noted(block, size, frame) : block;
    }

    [[gnu::cold, gnu::noinline]] static void* reallocSampled(void* object, std::size_t size,
                                                             bool passed) {
        const void* const frame = __builtin_frame_address(0);
        const bool due = !passed && isDue(size);
        const std::uint32_t ended =
            sampler::samples.mayHold(object) ? sampler::forget(object) : sampler::Samples::none;
        if (void* const block = due ? noted(moved(object, size), size, frame) : nullptr) {
            return block;
        }
        void* const block = Plain::realloc(object, size);
        if (block == nullptr && ended != sampler::Samples::none) {
            sampler::restore(object, ended);
        }
        return block;
    }

    /// The object as a large one. Null: the object is unchanged.
    static void* moved(void* object, std::size_t size) {
        if (size >= least) {
            return heap().realloc(object, size);
        }
        void* const block = place(size);
        if (block != nullptr) {
            std::memcpy(block, object, std::min(size, heap().getSize(object)));
            heap().free(object);
        }
        return block;
    }

    [[gnu::cold, gnu::noinline]] static void* memalignSampled(std::size_t alignment,
                                                              std::size_t size) {
        const void* const frame = __builtin_frame_address(0);
        void* const block =
            isDue(size) ? noted(Plain::memalign(alignment, std::max(size, least)), size, frame)
                        : nullptr;
        return block != nullptr ? block : Plain::memalign(alignment, size);
    }

    [[gnu::cold, gnu::noinline]] static int posixMemalignSampled(void** out, std::size_t alignment,
                                                                 std::size_t size) {
        const void* const frame = __builtin_frame_address(0);
        if (!isDue(size)) {
            return Plain::posixMemalign(out, alignment, size);
        }
        const int error = Plain::posixMemalign(out, alignment, std::max(size, least));
        if (error == ENOMEM && size < least) {
            return Plain::posixMemalign(out, alignment, size);
        }
        if (error == 0) {
            note(*out, size, frame);
        }
        return error;
    }
};

} // namespace heapwright::sampled
