// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// operator new and delete with samples. Without memory for a sample, the plain forms decide what
// happens. An operator of the program calls malloc, which counts the request then.
#pragma once

#include <algorithm>
#include <cstddef>
#include <new>

#include <preload/cxx_new.hpp>
#include <sampled/c_api.hpp>
#include <sampled/countdown.hpp>

namespace heapwright::sampled {

template <class Allocator, class Runtime>
struct CxxNew : preload::CxxNew<Allocator, Runtime> {
    using Plain = preload::CxxNew<Allocator, Runtime>;
    using Functions = CApi<Allocator>;
    template <class... Arguments>
    using Form = preload::NothrowForm<Runtime, Arguments...>;

    [[gnu::always_inline]] static void* allocate(std::size_t size) {
        if (!pass(size)) [[unlikely]] {
            return allocateSampled(size);
        }
        void* const object = preload::instance<Allocator>().tryMallocFast(size);
        return object != nullptr ? object : allocateSlow(size);
    }

    static void* allocate(std::size_t size, std::align_val_t alignment) {
        return passPossible(size) ? Plain::allocate(size, alignment)
                                  : allocateSampled(size, alignment);
    }

    static void* allocateOrNull(Form<std::size_t> form, bool ours, std::size_t size) {
        return !ours || passPossible(size) ? Plain::allocateOrNull(form, ours, size)
                                           : allocateOrNullSampled(form, size);
    }

    static void* allocateOrNull(Form<std::size_t, std::align_val_t> form, bool ours,
                                std::size_t size, std::align_val_t alignment) {
        return !ours || passPossible(size) ? Plain::allocateOrNull(form, ours, size, alignment)
                                           : allocateOrNullSampled(form, size, alignment);
    }

    static void release(void* object) { Functions::free(object); }

private:
    /// Out of line, so that the fast path needs no stack frame.
    [[gnu::noinline]] static void* allocateSlow(std::size_t size) {
        uncountImpossible(size);
        return Plain::allocate(size);
    }

    static void* place(std::size_t size) { return Functions::place(size); }

    static void* place(std::size_t size, std::align_val_t alignment) {
        const auto to = static_cast<std::size_t>(alignment);
        return std::has_single_bit(to)
                   ? preload::instance<Allocator>().memalign(to, std::max(size, Functions::least))
                   : nullptr;
    }

    /// The request as a sample, if it is one and there is memory. Without any, errno is kept.
    template <class... Alignment>
    [[gnu::always_inline]] static void* sample(const void* frame, std::size_t size,
                                               Alignment... alignment) {
        void* const block = isDue(size) ? place(size, alignment...) : nullptr;
        if (block != nullptr) {
            note(block, size, frame);
        }
        return block;
    }

    template <class... Alignment>
    [[gnu::cold, gnu::noinline]] static void* allocateSampled(std::size_t size,
                                                              Alignment... alignment) {
        void* const block = sample(__builtin_frame_address(0), size, alignment...);
        return block != nullptr ? block : Plain::allocate(size, alignment...);
    }

    template <class... Alignment>
    [[gnu::cold, gnu::noinline]] static void*
    allocateOrNullSampled(Form<std::size_t, Alignment...> form, std::size_t size,
                          Alignment... alignment) {
        void* const block = sample(__builtin_frame_address(0), size, alignment...);
        return block != nullptr ? block : Plain::allocateOrNull(form, true, size, alignment...);
    }
};

} // namespace heapwright::sampled
