// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Turns a complete allocator into a library that replaces malloc. A library is one small file (see
// library.cpp.in): it includes the allocator and this header, declares the allocator, and includes
// the symbols. This header contains only templates and defines no symbols. The files in
// entry_points/ contain only symbols.
#pragma once

#include <cstddef>
#include <cstdio>
#include <malloc.h>
#include <new>

#include <preload/c_api.hpp>
#include <preload/c_library.hpp>
#include <preload/complete_allocator.hpp>
#include <preload/cxx_new.hpp>
#include <preload/fork_handlers.hpp>
#include <preload/info.hpp>

namespace heapwright::preload {

/// `Identity` has the library's `name` and `version`. `Api` is `CApi`, or derives from it.
template <CompleteAllocator Allocator, class Identity, template <class> class Api = CApi>
struct EntryPointsOf : Api<Allocator>, HeapInfo<Allocator> {
    using Heap = Allocator;
    using Fork = ForkHandlers<Allocator>;

    static const char* description() {
        return LibraryDescription<Allocator, Identity>::text.data();
    }
};

} // namespace heapwright::preload
