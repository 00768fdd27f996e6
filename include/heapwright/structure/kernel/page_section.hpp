// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory as a kernel sees it: pages of 4 KiB, each with a descriptor of its own beside it, in
// sections of 16 MiB.
//
//   | links, node | mobility of each group of 512 pages | a descriptor for each page | pages ... |
//
// A section stands at a multiple of its size, so that an address leads to its descriptor and a
// descriptor to its address. The section's own pages are never free. Whoever has pages may use what
// their descriptors have room for; while they are free it is the page heap's. The mobility of a
// group says on which lists the free pages in it are kept; all are movable at first.
// After struct page, mem_map and the pageblock bits of Linux. Cost: 52 of 4,096 pages.
#pragma once

#include <heapwright/core/address.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// Whether what stands on pages can be moved away, or dropped and made anew.
enum class Mobility : std::uint8_t { unmovable, movable, reclaimable };
inline constexpr std::size_t mobilities = 3;

/// Blocks have 1, 2, 4 … 1,024 pages: orders 0 to 10.
inline constexpr std::size_t pageOrders = 11;
/// So many pages, as a power of two, have their mobility together.
inline constexpr std::size_t groupOrder = 9;
inline constexpr std::size_t bytesOfPage = 4 * KiB;

/// The order of the smallest block that holds so many bytes, 1 at least; `pageOrders` or more if
/// none does.
[[nodiscard]] constexpr std::size_t pageOrderFor(std::size_t bytes) noexcept {
    return bytes <= bytesOfPage ? 0 : floorLog2((bytes - 1) / bytesOfPage) + 1;
}

/// The descriptor of a page.
struct Page {
    enum class State : std::uint8_t { inside, free, taken };

    Page* next = nullptr;     ///< on a list of free blocks; the holder's while it is taken
    Page* previous = nullptr; ///< likewise
    void* holder = nullptr;   ///< the holder's: whose the pages are
    void* objects = nullptr;  ///< the holder's: the first of a list of free objects
    std::uint32_t used = 0;   ///< the holder's: how many objects are live
    std::uint32_t count = 0;  ///< the holder's: how many objects there are
    std::uint16_t ahead = 0;  ///< so many pages before this one starts the block that is taken
    std::uint8_t order = 0;   ///< of the block that starts here
    State state = State::inside;
    std::uint8_t mark = 0;                 ///< the holder's
    Mobility mobility = Mobility::movable; ///< what the block was taken as
};

struct PageSection {
    static constexpr std::size_t bytes = 16 * MiB;
    static constexpr std::size_t pagesIn = bytes / bytesOfPage;

    PageSection* next = nullptr;
    PageSection* previous = nullptr;
    std::size_t node = 0;      ///< of which memory node it is
    std::size_t freePages = 0; ///< how many of its pages are free
    std::array<Mobility, (pagesIn >> groupOrder)> groups{};
    std::array<Page, pagesIn> pages{};

    /// How many pages the section itself takes.
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
    /// The descriptor of the block in which an address lies. Pre: it is taken.
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
