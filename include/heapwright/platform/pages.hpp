// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Pages from the system: the only calls of mmap, mremap, madvise and sbrk for private memory. Every
// function keeps errno and reports failure in its result. Sizes and addresses are multiples of
// `pageSize()` unless a precondition states otherwise.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/errno_keeper.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>
#if !defined(__x86_64__)
#include <sys/auxv.h>
#endif

namespace heapwright::platform {

/// Divides the page size of every supported system.
inline constexpr std::size_t smallestPage = 4 * KiB;

/// The size of a page, a power of two; a constant on machines with only one size.
[[nodiscard]] inline std::size_t pageSize() noexcept {
#if defined(__x86_64__)
    return smallestPage;
#else
    return ::getauxval(AT_PAGESZ);
#endif
}

/// Maps zero bytes at a page boundary.
/// Pre: `bytes` > 0.
/// Post: the address, or null.
[[nodiscard]] inline void* mapPages(std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    void* const pages =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? nullptr : pages;
}

/// As `mapPages`, for memory that is mostly never touched: it does not count as committed memory.
[[nodiscard]] inline void* reservePages(std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? nullptr : pages;
}

/// Pre: the range was mapped by this file.
/// Post: true, and the range is unmapped; or false, and nothing changed.
inline bool unmapPages(void* pages, std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    return ::munmap(pages, bytes) == 0;
}

namespace detail {

/// Keeps `bytes` of a mapping at an address that is `phase` modulo `alignment`, and unmaps the
/// rest. Returns null if `whole` is null.
/// Pre: `span` is large enough for any start of the mapping.
[[nodiscard]] inline void* cutPagesAt(void* whole, std::size_t span, std::size_t bytes,
                                      std::size_t alignment, std::size_t phase) noexcept {
    if (whole == nullptr) {
        return nullptr;
    }
    const Address start = roundUpToPhase(addressOf(whole), alignment, phase);
    const std::size_t before = start - addressOf(whole);
    const std::size_t after = span - before - bytes;
    if (before != 0) {
        unmapPages(whole, before);
    }
    if (after != 0) {
        unmapPages(pointerTo(start + bytes), after);
    }
    return pointerTo(start);
}

} // namespace detail

/// Pre: `alignment` is a power of two and a multiple of the page size. `phase` is a multiple of the
/// page size below `alignment`.
/// Post: pages at an address that is `phase` modulo `alignment`, or null.
[[nodiscard]] inline void* mapPagesAt(std::size_t bytes, std::size_t alignment,
                                      std::size_t phase) noexcept {
    std::size_t span = 0;
    if (__builtin_add_overflow(bytes, alignment, &span)) {
        return nullptr;
    }
    return detail::cutPagesAt(mapPages(span), span, bytes, alignment, phase);
}

/// As `reservePages`, at a multiple of `alignment`.
/// Pre: `alignment` is as for `mapPagesAt`.
[[nodiscard]] inline void* reservePagesAt(std::size_t bytes, std::size_t alignment) noexcept {
    std::size_t span = 0;
    if (__builtin_add_overflow(bytes, alignment, &span)) {
        return nullptr;
    }
    return detail::cutPagesAt(reservePages(span), span, bytes, alignment, 0);
}

/// As `mapPagesAt` with phase 0, with `wish` as the preferred address. Successive large runs thus
/// become neighbours.
/// Cost: one system call if the kernel returns an aligned address.
[[nodiscard]] inline void* mapPagesNear(Address wish, std::size_t bytes,
                                        std::size_t alignment) noexcept {
    {
        const ErrnoKeeper keeper;
        void* const pages = ::mmap(pointerTo(wish), bytes, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (pages == MAP_FAILED) {
            return nullptr;
        }
        if (addressOf(pages) % alignment == 0) {
            return pages;
        }
        ::munmap(pages, bytes);
    }
    return mapPagesAt(bytes, alignment, 0);
}

/// Grows or shrinks a mapping in place.
/// Post: false, and nothing changed, on failure.
[[nodiscard]] inline bool resizePages(void* pages, std::size_t bytes,
                                      std::size_t newBytes) noexcept {
    const ErrnoKeeper keeper;
    return ::mremap(pages, bytes, newBytes, 0) != MAP_FAILED;
}

/// As `resizePages`, but may move the mapping.
/// Post: its new address; or null, and nothing changed.
[[nodiscard]] inline void* movePages(void* pages, std::size_t bytes,
                                     std::size_t newBytes) noexcept {
    const ErrnoKeeper keeper;
    void* const moved = ::mremap(pages, bytes, newBytes, MREMAP_MAYMOVE);
    return moved == MAP_FAILED ? nullptr : moved;
}

/// Moves a mapping to `target` and replaces what is mapped there. Whole huge pages move if both
/// addresses are aligned to them.
/// Post: false, and nothing changed, on failure.
[[nodiscard]] inline bool movePagesOnto(void* pages, std::size_t bytes, void* target) noexcept {
    const ErrnoKeeper keeper;
    return ::mremap(pages, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target) != MAP_FAILED;
}

/// As `movePagesOnto`, but the old range stays mapped, as zero bytes. Fails on old kernels.
[[nodiscard]] inline bool movePagesOutOnto(void* pages, std::size_t bytes, void* target) noexcept {
    const ErrnoKeeper keeper;
    constexpr int dontUnmap = 4; // MREMAP_DONTUNMAP, which some C libraries do not define
    return ::mremap(pages, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | dontUnmap, target) !=
           MAP_FAILED;
}

/// Asks for huge pages in this range. If the system has none, the range has ordinary pages.
inline void wishForHugePages(void* pages, std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    ::madvise(pages, bytes, MADV_HUGEPAGE);
}

/// Asks for ordinary pages in this range. The huge pages that it has stay until they are divided.
inline void declineHugePages(void* pages, std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    ::madvise(pages, bytes, MADV_NOHUGEPAGE);
}

/// The bytes of this range that have memory; 0 if a part of it is not mapped.
/// Pre: `pages` is at the start of a page.
[[nodiscard]] inline std::size_t residentBytes(void* pages, std::size_t bytes) noexcept {
    constexpr std::size_t batch = 512;
    const ErrnoKeeper keeper;
    std::size_t resident = 0;
    for (std::size_t at = 0; at < bytes; at += batch * pageSize()) {
        unsigned char states[batch]; // one for each page
        const std::size_t part = std::min(bytes - at, batch * pageSize());
        if (::mincore(forward(pages, at), part, states) != 0) {
            return 0;
        }
        for (std::size_t page = 0; page < part / pageSize(); ++page) {
            resident += (states[page] & 1U) * pageSize();
        }
    }
    return resident;
}

/// Releases the memory of the pages and keeps their addresses.
/// Post: the pages read as zero.
inline bool discardPages(void* pages, std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    return ::madvise(pages, bytes, MADV_DONTNEED) == 0;
}

/// The current program break, where the next `moveBreak` would add memory.
[[nodiscard]] inline Address currentBreak() noexcept {
    const ErrnoKeeper keeper;
    return addressOf(::sbrk(0));
}

/// Moves the program break by `bytes`, of either sign and any size. Other code may move it too, so
/// check the result.
/// Post: the previous break; or 0, and nothing changed.
[[nodiscard]] inline Address moveBreak(std::intptr_t bytes) noexcept {
    const ErrnoKeeper keeper;
    const Address before = addressOf(::sbrk(bytes));
    return before == ~Address{0} ? 0 : before;
}

} // namespace heapwright::platform
