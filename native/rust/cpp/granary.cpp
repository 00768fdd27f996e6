// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Granary for Rust's global allocator, under names with the prefix heapwright_rust_. malloc stays
// that of the C library, unless the feature `replace-malloc` defines HEAPWRIGHT_REPLACE_MALLOC.
//
// Pre: no signal handler uses Rust's allocator. With HEAPWRIGHT_REPLACE_MALLOC a handler may, as
// under a preload, because `sigaction` is replaced, too.
#include <heapwright/allocators/granary.hpp>

#include <preload/entry_points.hpp>

#include <string_view>

namespace {

struct Identity {
    static constexpr std::string_view name = "granary";
    static constexpr std::string_view version = HEAPWRIGHT_VERSION;
#if !defined(HEAPWRIGHT_REPLACE_MALLOC)
    static constexpr bool leavesMalloc = true;
#endif
};
using EntryPoints = heapwright::preload::EntryPointsOf<heapwright::allocators::Granary, Identity>;

} // namespace

#if defined(HEAPWRIGHT_REPLACE_MALLOC)

#if defined(HEAPWRIGHT_STATIC)
#include <preload/link/archive.hpp>
namespace {
using Link = heapwright::preload::ArchiveLink;
} // namespace
#else
#include <preload/link/dynamic.hpp>
namespace {
using Link = heapwright::preload::DynamicLink;
} // namespace
#endif

#include <preload/entry_points/c.inc>
#include <preload/entry_points/glibc.inc>
#include <preload/entry_points/info.inc>
#include <preload/entry_points/signals.inc>

#endif

#include <preload/entry_points/start.inc>
// After start.inc, whose constructor runs first.
#include <preload/entry_points/granary.inc>

#if defined(HEAPWRIGHT_LATE_LIBRARY)

#include <dlfcn.h>

namespace {

// A thread that has used granary calls it when it ends, so the library must never be unloaded.
[[gnu::constructor, gnu::used]] void stayLoaded() {
    Dl_info mine;
    if (::dladdr(reinterpret_cast<void*>(&stayLoaded), &mine) != 0) {
        ::dlopen(mine.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    }
}

} // namespace

#endif

extern "C" {

/// Aligned to 16. Null without memory.
void* heapwright_rust_malloc(std::size_t size) noexcept {
    return EntryPoints::malloc(size);
}

/// The same, of zero bytes.
void* heapwright_rust_zalloc(std::size_t size) noexcept {
    return EntryPoints::calloc(1, size);
}

/// Pre: `alignment` is a power of two.
void* heapwright_rust_memalign(std::size_t alignment, std::size_t size) noexcept {
    return EntryPoints::memalign(alignment, size);
}

/// Keeps an alignment of 16 only.
/// Pre: `size` is not 0.
void* heapwright_rust_realloc(void* object, std::size_t size) noexcept {
    return EntryPoints::realloc(object, size);
}

void heapwright_rust_free(void* object) noexcept {
    EntryPoints::free(object);
}

std::size_t heapwright_rust_usable_size(void* object) noexcept {
    return EntryPoints::usableSize(object);
}

/// Holds all locks of granary, so that no other thread unmaps the memory around the address.
bool heapwright_rust_owns(const void* address) noexcept {
    auto& heap = heapwright::preload::instance<EntryPoints::Heap>();
    const heapwright::preload::LockedHeapGuard<EntryPoints::Heap> still(heap);
    return heap.owns(address);
}

} // extern "C"
