// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Pages from the system and back: the one door to mmap, mremap, madvise and the program break.
// Every function keeps errno and reports failure in its result. Sizes and addresses are multiples
// of `pageSize()` wherever a precondition does not say otherwise.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/errno_keeper.hpp>

#include <cstddef>
#include <cstdint>
#include <sys/mman.h>
#include <unistd.h>
#if !defined(__x86_64__)
#include <sys/auxv.h>
#endif

namespace heapwright::platform {

/// The page sizes of every supported system are multiples of this.
inline constexpr std::size_t smallestPage = 4 * KiB;

/// The size of a page, a power of two; constant where the machine has only one.
[[nodiscard]] inline std::size_t pageSize() noexcept {
#if defined(__x86_64__)
    return smallestPage;
#else
    return ::getauxval(AT_PAGESZ);
#endif
}

/// Pre: `bytes` > 0. Post: that many zero bytes at a page boundary, or null.
[[nodiscard]] inline void* mapPages(std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    void* const pages =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return pages == MAP_FAILED ? nullptr : pages;
}

/// As `mapPages`, for room of which little will be touched: not counted against committed memory.
[[nodiscard]] inline void* reservePages(std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return pages == MAP_FAILED ? nullptr : pages;
}

/// Pre: the range was mapped by this file. Post: it is not, and true; or nothing has changed.
inline bool unmapPages(void* pages, std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    return ::munmap(pages, bytes) == 0;
}

namespace detail {

/// Of `span` bytes of pages, or null, the `bytes` at an address that is `phase` modulo `alignment`;
/// the others go back. Pre: there are that many, wherever the pages start.
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

/// Pre: `alignment` is a power of two and a multiple of the page size, `phase` a multiple of the
/// page size below it. Post: pages at an address that is `phase` modulo `alignment`, or null.
[[nodiscard]] inline void* mapPagesAt(std::size_t bytes, std::size_t alignment,
                                      std::size_t phase) noexcept {
    std::size_t span = 0;
    if (__builtin_add_overflow(bytes, alignment, &span)) {
        return nullptr;
    }
    return detail::cutPagesAt(mapPages(span), span, bytes, alignment, phase);
}

/// As `reservePages`, at a multiple of `alignment`, which is as for `mapPagesAt`.
[[nodiscard]] inline void* reservePagesAt(std::size_t bytes, std::size_t alignment) noexcept {
    std::size_t span = 0;
    if (__builtin_add_overflow(bytes, alignment, &span)) {
        return nullptr;
    }
    return detail::cutPagesAt(reservePages(span), span, bytes, alignment, 0);
}

/// As `mapPagesAt` with no phase, in one step where the pages come at such an address by themselves
/// or are free at the one wished for. Large runs that follow each other so stand side by side.
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

/// Grows or shrinks a mapping where it stands; false, and nothing changed, if it cannot.
[[nodiscard]] inline bool resizePages(void* pages, std::size_t bytes,
                                      std::size_t newBytes) noexcept {
    const ErrnoKeeper keeper;
    return ::mremap(pages, bytes, newBytes, 0) != MAP_FAILED;
}

/// As `resizePages`, but may move the mapping; its new address, or null and nothing changed.
[[nodiscard]] inline void* movePages(void* pages, std::size_t bytes,
                                     std::size_t newBytes) noexcept {
    const ErrnoKeeper keeper;
    void* const moved = ::mremap(pages, bytes, newBytes, MREMAP_MAYMOVE);
    return moved == MAP_FAILED ? nullptr : moved;
}

/// Moves a mapping onto another of the new size, which it replaces as far as it reaches; false, and
/// nothing changed, if it cannot. Between huge pages whole ones move.
[[nodiscard]] inline bool movePagesOnto(void* pages, std::size_t bytes, void* target) noexcept {
    const ErrnoKeeper keeper;
    return ::mremap(pages, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target) != MAP_FAILED;
}

/// As `movePagesOnto`, but what stood there stays mapped, as zero bytes. The system may not know
/// how.
[[nodiscard]] inline bool movePagesOutOnto(void* pages, std::size_t bytes, void* target) noexcept {
    const ErrnoKeeper keeper;
    constexpr int dontUnmap = 4; // MREMAP_DONTUNMAP, which not every libc has
    return ::mremap(pages, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED | dontUnmap, target) !=
           MAP_FAILED;
}

/// Asks for huge pages behind these from now on; where the system has none, ordinary ones do.
inline void wishForHugePages(void* pages, std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    ::madvise(pages, bytes, MADV_HUGEPAGE);
}

/// Gives the memory behind the pages back but keeps their addresses; they read as zero afterwards.
inline bool discardPages(void* pages, std::size_t bytes) noexcept {
    const ErrnoKeeper keeper;
    return ::madvise(pages, bytes, MADV_DONTNEED) == 0;
}

/// The end of the data segment, where the next `moveBreak` would add.
[[nodiscard]] inline Address currentBreak() noexcept {
    const ErrnoKeeper keeper;
    return addressOf(::sbrk(0));
}

/// Moves the end of the data segment by `bytes`, any amount of either sign. Post: where it was
/// before, or 0 and nothing changed. Others may move it too, so look at what comes back.
[[nodiscard]] inline Address moveBreak(std::intptr_t bytes) noexcept {
    const ErrnoKeeper keeper;
    const Address before = addressOf(::sbrk(bytes));
    return before == ~Address{0} ? 0 : before;
}

} // namespace heapwright::platform
