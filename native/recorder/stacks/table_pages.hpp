// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Pages for tables with scattered reads. Uses large pages where the system has them: in a program
// with much memory, address translation is most of the cost of such a table.
#pragma once

#include "host.hpp"

#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/platform/pages.hpp>

#include <cstddef>
#include <sys/mman.h>

namespace heapwright::recorder::stacks {

inline constexpr std::size_t largePage = std::size_t{2} << 20U;

/// Zero bytes for a table, null if there are none. They stay for good.
[[nodiscard]] inline void* reserveTable(std::size_t bytes) noexcept {
    const std::size_t whole = (bytes + largePage - 1) & ~(largePage - 1);
    void* const pages = platform::reservePagesAt(whole, largePage);
    if (pages != nullptr) {
        const platform::ErrnoKeeper keeper;
        [[maybe_unused]] const int refused = ::madvise(pages, whole, MADV_HUGEPAGE);
    }
    return pages;
}

/// Announces a table that will stay.
inline void announceTable(const Host& host, const void* pages, std::size_t bytes) noexcept {
    if (host.mapped != nullptr) {
        host.mapped(pages, (bytes + largePage - 1) & ~(largePage - 1));
    }
}

inline void unmapTable(void* pages, std::size_t bytes) noexcept {
    platform::unmapPages(pages, (bytes + largePage - 1) & ~(largePage - 1));
}

} // namespace heapwright::recorder::stacks
