// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reserved address ranges whose pages fault on access until they are opened. A range is reserved as
// a whole, closed. Its parts are opened and closed, and `unmapPages` releases the whole range. As
// in platform/pages.hpp, errno is kept, and sizes and addresses are multiples of the page size.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/errno_keeper.hpp>

#include <cstddef>
#include <sys/mman.h>

namespace heapwright::platform {

/// Reserves addresses without memory. Returns null on failure.
[[nodiscard]] inline void* reserveClosedPages(std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    void* const pages =
        ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? nullptr : pages;
}

/// Makes pages usable. Fails if the process has too many mappings, because each open or closed part
/// is one.
/// Pre: the pages are closed.
/// Post: true, and the pages are zero and usable; or false, and nothing changed.
[[nodiscard]] inline bool openPages(void* pages, std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    return ::mprotect(pages, bytes, PROT_READ | PROT_WRITE) == 0;
}

/// Closes pages and releases their memory, but keeps them in the surrounding mapping. A later
/// `openPages` can thus merge them with their neighbours again.
/// Post: false, and they are open, on failure.
[[nodiscard]] inline bool shutPages(void* pages, std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    if (::mprotect(pages, bytes, PROT_NONE) != 0) {
        return false;
    }
    ::madvise(pages, bytes, MADV_DONTNEED); // if this fails, the pages only keep their memory
    return true;
}

/// Closes pages and releases their memory.
/// Post: false, and nothing changed, on failure.
[[nodiscard]] inline bool closePages(void* pages, std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    return ::mmap(pages, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                  -1, 0) != MAP_FAILED;
}

} // namespace heapwright::platform
