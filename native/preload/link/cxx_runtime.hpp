// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the C++ runtime of the process, if there is one, without a dependency on it. Preloading a
// malloc must not load a C++ library into a C program.
//
// Weak references find both runtimes (libstdc++ and libc++) if they are present at the start; the
// dynamic linker binds them. A runtime that a plugin loads later, privately, is looked up by name
// when it is needed, which is only without memory.
#pragma once

#include <dlfcn.h>
#include <new>
#include <type_traits>

#include <heapwright/platform/abort.hpp>

extern "C" {
// std::get_new_handler() and std::__throw_bad_alloc(), which no header declares under their
// symbols.
[[gnu::weak]] std::new_handler heapwrightGetNewHandler() noexcept asm("_ZSt15get_new_handlerv");
[[gnu::weak]] void heapwrightThrowBadAlloc() asm("_ZSt17__throw_bad_allocv");
}

namespace heapwright::preload {

class CxxRuntime {
public:
    /// The present new-handler; null if there is none, or no runtime.
    static std::new_handler newHandler() {
        auto get = &heapwrightGetNewHandler;
        if (get == nullptr) {
            get = find<std::remove_pointer_t<decltype(get)>>("_ZSt15get_new_handlerv");
        }
        return get == nullptr ? nullptr : get();
    }

    /// Throws std::bad_alloc. Without a runtime it aborts, because no code could catch it.
    [[noreturn]] static void throwBadAlloc() {
        auto thrower = &heapwrightThrowBadAlloc;
        if (thrower == nullptr) {
            thrower = find<std::remove_pointer_t<decltype(thrower)>>("_ZSt17__throw_bad_allocv");
        }
        if (thrower != nullptr) {
            thrower();
        }
        platform::abortWithMessage("operator new",
                                   "out of memory, and no C++ runtime to throw bad_alloc");
    }

    /// Calls a nothrow form through the runtime's own function, which calls the throwing form and
    /// catches. Without a runtime, no code can throw or catch.
    template <class Nothrow, class Throwing, class... Arguments>
    static void* nullIfThrown(const char* symbol, Throwing* throwing, Arguments... arguments) {
        static constexpr std::nothrow_t tag{};
        auto* const function = find<Nothrow>(symbol);
        return function == nullptr ? throwing(arguments...) : function(arguments..., tag);
    }

private:
    /// A function of the runtime itself, even if another object defines the same symbol; null if
    /// not found.
    template <class Function>
    static Function* find(const char* symbol) {
        void* library = open();
        if (library == nullptr) {
            return nullptr;
        }
        auto function = reinterpret_cast<Function*>(::dlsym(library, symbol));
        ::dlclose(library);
        return function;
    }

    /// A handle on the runtime's library if it is loaded. Never loads it.
    static void* open() {
        Dl_info where;
        const auto known = reinterpret_cast<void*>(&heapwrightThrowBadAlloc);
        if (known != nullptr && ::dladdr(known, &where) != 0) {
            if (void* library = ::dlopen(where.dli_fname, RTLD_LAZY | RTLD_NOLOAD)) {
                return library;
            }
        }
        for (const char* name : {"libstdc++.so.6", "libc++.so.1"}) {
            if (void* library = ::dlopen(name, RTLD_LAZY | RTLD_NOLOAD)) {
                return library;
            }
        }
        return nullptr;
    }
};

} // namespace heapwright::preload
