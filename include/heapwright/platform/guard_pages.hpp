// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Addresses that end the program when they are touched, and pages among them that do not. A range
// is taken whole and closed; parts of it are opened and closed; it goes back whole, by
// `unmapPages`. As in platform/pages.hpp, errno is kept and sizes and addresses are whole pages.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/errno_keeper.hpp>

#include <cstddef>
#include <sys/mman.h>

namespace heapwright::platform {

/// Addresses behind which there is no memory, or null.
[[nodiscard]] inline void* reserveClosedPages(std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    void* const pages =
        ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? nullptr : pages;
}

/// Pre: the pages are closed. Post: they are zero and can be used, and true; or nothing changed.
/// (The system limits how many open and closed parts a process may have.)
[[nodiscard]] inline bool openPages(void* pages, std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    return ::mprotect(pages, bytes, PROT_READ | PROT_WRITE) == 0;
}

/// Closes pages that a mapping around them keeps, and gives the memory behind them back; false, and
/// they are open, if it cannot. What `openPages` opens then can be one mapping again with those
/// around.
[[nodiscard]] inline bool shutPages(void* pages, std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    if (::mprotect(pages, bytes, PROT_NONE) != 0) {
        return false;
    }
    ::madvise(pages, bytes, MADV_DONTNEED); // where the system refuses, they only cost memory
    return true;
}

/// Closes pages and gives the memory behind them back; false, and nothing changed, if it cannot.
[[nodiscard]] inline bool closePages(void* pages, std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    return ::mmap(pages, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
                  -1, 0) != MAP_FAILED;
}

} // namespace heapwright::platform
