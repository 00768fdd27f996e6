// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// operator new over any complete allocator, as [new.delete] requires. Without memory, it calls the
// new-handler and tries again. Without a handler, the throwing forms throw bad_alloc and the others
// return null. An exception from a handler leaves the throwing forms and is caught in the others.
//
// This code catches no exception, because that would make the library depend on a C++ runtime. If a
// nothrow form meets a handler, or a throwing form that the program replaced, `Runtime` calls the
// throwing form and catches exceptions (preload/link/).
// Cost: that of malloc, and a test.
#pragma once

#include <bit>
#include <cstddef>
#include <new>

#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/structure/cache/fast_path.hpp>

#include <preload/instance.hpp>

namespace heapwright::preload {

static_assert(sizeof(std::size_t) == sizeof(unsigned long), "the symbols' names say unsigned long");

/// Whether a name is still bound to this library's own function.
template <class Function>
bool isOurs(Function* bound, Function* own) {
    // Otherwise the compiler would assume that the two are always the same.
    asm("" : "+r"(bound)); // NOLINT(hicpp-no-assembler)
    return bound == own;
}

/// A nothrow form: its symbol, and the throwing form that the program uses.
template <class Runtime, class... Arguments>
struct NothrowForm {
    using Throwing = void*(Arguments...);
    using Nothrow = void*(Arguments..., const std::nothrow_t&);

    const char* symbol;
    Throwing* throwing;

    /// Calls the throwing form, and returns null if it throws.
    [[gnu::cold, gnu::noinline]] void* operator()(Arguments... arguments) const {
        return Runtime::template nullIfThrown<Nothrow>(symbol, throwing, arguments...);
    }
};

template <class Allocator, class Runtime>
struct CxxNew {
    using Heap = Allocator;

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

    /// For a heap that serves some call sites specially. `caller` is the return address of the
    /// program's request.
    static void* allocateFrom(std::size_t size, const void* caller) {
        void* const object = instance<Allocator>().tryMallocFrom(size, caller);
        return object != nullptr ? object : allocate(size);
    }

    static void* allocate(std::size_t size, std::align_val_t alignment) {
        if (void* object = attempt(size, alignment)) [[likely]] {
            return object;
        }
        if (!isValid(alignment)) {
            Runtime::throwBadAlloc(); // no handler could prevent this
        }
        return persist(size, alignment);
    }

    /// `ours`: true if the throwing form is this library's own, so it need not be called.
    static void* allocateOrNull(NothrowForm<Runtime, std::size_t> form, bool ours,
                                std::size_t size) {
        if (ours) [[likely]] {
            void* object = attempt(size);
            if (object != nullptr || Runtime::newHandler() == nullptr) {
                return object;
            }
        }
        return form(size);
    }

    static void* allocateOrNull(NothrowForm<Runtime, std::size_t, std::align_val_t> form, bool ours,
                                std::size_t size, std::align_val_t alignment) {
        if (ours) [[likely]] {
            void* object = attempt(size, alignment);
            if (object != nullptr || !isValid(alignment) || Runtime::newHandler() == nullptr) {
                return object;
            }
        }
        return form(size, alignment);
    }

    static void release(void* object) { instance<Allocator>().free(object); }

    /// Ends the program if a delete names another size or alignment than the new did, as far as the
    /// allocator knows. `own`: the object is this library's, because the program has not replaced
    /// the delete.
    [[gnu::always_inline]] static void verify(bool own, void* object, std::size_t size,
                                              std::size_t alignment) {
        if constexpr (RequestCheckingHeap<Allocator>) {
            if (own && object != nullptr) {
                instance<Allocator>().checkRequest(object, size, alignment, "operator delete");
            }
        }
    }

private:
    /// Out of line, so that the fast path needs no stack frame.
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
            const std::new_handler handler = Runtime::newHandler();
            if (handler == nullptr) {
                Runtime::throwBadAlloc();
            }
            handler();
            if (void* object = attempt(request...)) {
                return object;
            }
        }
    }
};

} // namespace heapwright::preload
