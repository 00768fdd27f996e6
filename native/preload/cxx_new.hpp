// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The rules of operator new over any complete allocator, to the letter of [new.delete]: while there
// is no memory the new-handler is called and the request tried again; without a handler the
// throwing forms throw bad_alloc and the others return null. An exception of a handler leaves a
// throwing form and is caught in the others.
//
// No exception is caught in here: that would make the library depend on a C++ runtime. When a
// nothrow form meets a handler, or a throwing form that the program replaced, the runtime's own
// function of that form is called instead; it calls the throwing form, and catches.
// Cost: as malloc, and a test.
#pragma once

#include <bit>
#include <cstddef>
#include <new>

#include <heapwright/structure/cache/fast_path.hpp>

#include <preload/cxx_runtime.hpp>
#include <preload/instance.hpp>

namespace heapwright::preload {

static_assert(sizeof(std::size_t) == sizeof(unsigned long), "the symbols' names say unsigned long");

/// Whether the function that a name is bound to is still the one that we defined under it.
template <class Function>
bool isOurs(Function* bound, Function* own) {
    // The compiler must not conclude from the two being one function here that they always are.
    asm("" : "+r"(bound)); // NOLINT(hicpp-no-assembler)
    return bound == own;
}

/// A nothrow form: its symbol, and its throwing counterpart as the program sees it.
template <class... Arguments>
struct NothrowForm {
    using Throwing = void*(Arguments...);
    using Nothrow = void*(Arguments..., const std::nothrow_t&);

    const char* symbol;
    Throwing* throwing;

    /// Calls what the runtime defines. Without a runtime there is nobody to throw, nor to catch.
    [[gnu::cold, gnu::noinline]] void* operator()(Arguments... arguments) const {
        static constexpr std::nothrow_t tag{};
        auto* const function = CxxRuntime::find<Nothrow>(symbol);
        return function == nullptr ? throwing(arguments...) : function(arguments..., tag);
    }
};

template <class Allocator>
struct CxxNew {
    static void* allocate(std::size_t size) {
        if constexpr (SplitPathHeap<Allocator>) {
            void* const object = instance<Allocator>().tryMallocFast(size);
            return object != nullptr ? object : allocateSlow(size);
        } else {
            if (void* object = attempt(size)) [[likely]] {
                return object;
            }
            return persist(size);
        }
    }

    static void* allocate(std::size_t size, std::align_val_t alignment) {
        if (void* object = attempt(size, alignment)) [[likely]] {
            return object;
        }
        if (!isValid(alignment)) {
            CxxRuntime::throwBadAlloc(); // which no handler could prevent
        }
        return persist(size, alignment);
    }

    /// `ours` says whether the throwing form is still ours, so that it may be passed over.
    static void* allocateOrNull(NothrowForm<std::size_t> form, bool ours, std::size_t size) {
        if (ours) [[likely]] {
            void* object = attempt(size);
            if (object != nullptr || CxxRuntime::newHandler() == nullptr) {
                return object;
            }
        }
        return form(size);
    }

    static void* allocateOrNull(NothrowForm<std::size_t, std::align_val_t> form, bool ours,
                                std::size_t size, std::align_val_t alignment) {
        if (ours) [[likely]] {
            void* object = attempt(size, alignment);
            if (object != nullptr || !isValid(alignment) || CxxRuntime::newHandler() == nullptr) {
                return object;
            }
        }
        return form(size, alignment);
    }

    static void release(void* object) { instance<Allocator>().free(object); }

private:
    /// Out of line, so that who is served at once needs no stack.
    [[gnu::noinline]] static void* allocateSlow(std::size_t size) {
        if (void* object = instance<Allocator>().mallocSlow(size)) [[likely]] {
            return object;
        }
        return persist(size);
    }

    static void* attempt(std::size_t size) { return instance<Allocator>().malloc(size); }

    static void* attempt(std::size_t size, std::align_val_t alignment) {
        if (!isValid(alignment)) {
            return nullptr;
        }
        return instance<Allocator>().memalign(static_cast<std::size_t>(alignment), size);
    }

    static bool isValid(std::align_val_t alignment) {
        return std::has_single_bit(static_cast<std::size_t>(alignment));
    }

    template <class... Request>
    [[gnu::cold, gnu::noinline]] static void* persist(Request... request) {
        for (;;) {
            const std::new_handler handler = CxxRuntime::newHandler();
            if (handler == nullptr) {
                CxxRuntime::throwBadAlloc();
            }
            handler();
            if (void* object = attempt(request...)) {
                return object;
            }
        }
    }
};

} // namespace heapwright::preload
