// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory as a kernel manages it: pages of 4 KiB, each with a descriptor, in sections of 16 MiB.
//
//   | links, node | mobility of each group of 512 pages | a descriptor for each page | pages ... |
//
// A section is aligned to its size, so that an address gives its descriptor, and a descriptor its
// address. The section's own pages are never free. The holder of pages may use the free fields of
// their descriptors. The page heap uses them while the pages are free. The mobility of a group
// decides on which lists its free pages are; at first all are movable.
// Cost: 52 of 4,096 pages.
// Source: struct page, mem_map and the pageblock bits of Linux.
#pragma once

#include <heapwright/core/address.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// Whether the contents of pages can be moved, or dropped and created again.
enum class Mobility : std::uint8_t { unmovable, movable, reclaimable };
inline constexpr std::size_t mobilities = 3;

/// Blocks have 1, 2, 4 … 1,024 pages: orders 0 to 10.
inline constexpr std::size_t pageOrders = 11;
/// The pages that share one mobility, as a power of two.
inline constexpr std::size_t groupOrder = 9;
inline constexpr std::size_t bytesOfPage = 4 * KiB;

/// The order of the smallest block with room for `bytes`; `pageOrders` or more if there is none.
[[nodiscard]] constexpr std::size_t pageOrderFor(std::size_t bytes) noexcept {
    return bytes <= bytesOfPage ? 0 : floorLog2((bytes - 1) / bytesOfPage) + 1;
}

/// The descriptor of a page.
struct Page {
    enum class State : std::uint8_t { inside, free, taken };

    Page* next = nullptr;     ///< on a list of free blocks; the holder's while the page is taken
    Page* previous = nullptr; ///< as `next`
    void* holder = nullptr;   ///< the holder's: the holder of the pages
    void* objects = nullptr;  ///< the holder's: the first of a list of free objects
    std::uint32_t used = 0;   ///< the holder's: number of live objects
    std::uint32_t count = 0;  ///< the holder's: number of objects
    std::uint16_t ahead = 0;  ///< distance in pages from the start of the taken block
    std::uint8_t order = 0;   ///< order of the block that starts here
    State state = State::inside;
    std::uint8_t mark = 0;                 ///< the holder's
    Mobility mobility = Mobility::movable; ///< the mobility for which the block was taken
};

struct PageSection {
    static constexpr std::size_t bytes = 16 * MiB;
    static constexpr std::size_t pagesIn = bytes / bytesOfPage;

    PageSection* next = nullptr;
    PageSection* previous = nullptr;
    std::size_t node = 0;      ///< number of its memory node
    std::size_t freePages = 0; ///< number of its free pages
    std::array<Mobility, (pagesIn >> groupOrder)> groups{};
    std::array<Page, pagesIn> pages{};

    /// The number of pages that the section itself takes.
    [[nodiscard]] static constexpr std::size_t ownPages() noexcept;
    [[nodiscard]] static constexpr std::size_t usablePages() noexcept {
        return pagesIn - ownPages();
    }

    /// The section of an address or of a descriptor.
    [[nodiscard]] static PageSection& of(const void* place) noexcept {
        return *static_cast<PageSection*>(pointerTo(roundDown(addressOf(place), bytes)));
    }
    [[nodiscard]] static Page& pageAt(const void* address) noexcept {
        return of(address).pages[addressOf(address) % bytes / bytesOfPage];
    }
    /// The descriptor of the block that contains an address.
    /// Pre: the block is taken.
    [[nodiscard]] static Page& blockAt(const void* address) noexcept {
        Page& page = pageAt(address);
        return *(&page - page.ahead);
    }
    [[nodiscard]] static std::size_t indexOf(const Page& page) noexcept {
        return static_cast<std::size_t>(&page - of(&page).pages.data());
    }
    [[nodiscard]] static void* addressOfPage(const Page& page) noexcept {
        return forward(&of(&page), indexOf(page) * bytesOfPage);
    }
    [[nodiscard]] static Mobility& groupOf(const Page& page) noexcept {
        return of(&page).groups[indexOf(page) >> groupOrder];
    }
};

constexpr std::size_t PageSection::ownPages() noexcept {
    return (sizeof(PageSection) + bytesOfPage - 1) / bytesOfPage;
}

} // namespace heapwright
