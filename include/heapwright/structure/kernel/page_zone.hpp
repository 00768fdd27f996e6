// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The free pages of one memory node. They are buddies of orders 0 to 10, on a list for each order
// and mobility, with the kernel's measures against external fragmentation.
//
// A request takes the smallest block that is large enough from the lists of its mobility and
// returns the rest in halves. If there is none, it takes the largest block of another mobility, so
// that this seldom happens again. If that block is large, or the request is not movable, the
// request claims the block's group of 512 pages. The group's free pages then change lists. The
// group changes its mobility if at least half of it is free or of the same kind. Each such fallback
// is counted by the order of the request and of the block. A movable request that may not claim
// takes the smallest such block instead.
//
// A freed block merges with its buddy as long as that is free, and goes to the lists of its group's
// mobility. It goes to their end if the next larger buddy is free, because the two may soon merge.
// It is not for several threads at once.
// Cost: a step for each order between request and block.
// Source: mm/page_alloc.c and mm/vmstat.c of Linux 6.1, without lists for each processor,
// watermarks and compaction.
#pragma once

#include <heapwright/structure/kernel/page_section.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// How often pages of another mobility had to serve.
struct PageFallbacks {
    /// By the order of the request and of the block that served.
    std::array<std::array<std::uint64_t, pageOrders>, pageOrders> events{};
    std::uint64_t claimed = 0; ///< number of groups that changed their mobility

    [[nodiscard]] constexpr std::uint64_t total() const noexcept {
        std::uint64_t sum = 0;
        for (const auto& row : events) {
            for (const std::uint64_t count : row) {
                sum += count;
            }
        }
        return sum;
    }

    constexpr void add(const PageFallbacks& other) noexcept {
        for (std::size_t order = 0; order < pageOrders; ++order) {
            for (std::size_t block = 0; block < pageOrders; ++block) {
                events[order][block] += other.events[order][block];
            }
        }
        claimed += other.claimed;
    }
};

class PageZone {
public:
    /// Adds the pages of a new section.
    void add(PageSection& section) noexcept {
        constexpr std::size_t all = PageSection::pagesIn;
        section.groups.fill(Mobility::movable);
        for (std::size_t index = PageSection::ownPages(); index < all;) {
            const auto aligned = static_cast<std::size_t>(std::countr_zero(index));
            const std::size_t order = aligned < pageOrders - 1 ? aligned : pageOrders - 1;
            pushBack(section.pages[index], order, Mobility::movable);
            index += std::size_t{1} << order;
        }
        pages_ += PageSection::usablePages();
    }

    /// Removes a section.
    /// Pre: all its pages are free.
    void remove(PageSection& section) noexcept {
        for (std::size_t index = PageSection::ownPages(); index < PageSection::pagesIn;) {
            Page& page = section.pages[index];
            unlink(page);
            index += std::size_t{1} << page.order;
        }
        pages_ -= PageSection::usablePages();
    }

    /// A block of an order; null if no mobility has one that is large enough.
    [[nodiscard]] Page* take(std::size_t order, Mobility mobility) noexcept {
        for (;;) {
            if (Page* const page = smallest(order, mobility)) {
                markTaken(*page, order, mobility);
                return page;
            }
            if (!fallBack(order, mobility)) {
                return nullptr;
            }
        }
    }

    void give(Page& block) noexcept {
        std::size_t order = block.order;
        PageSection& section = PageSection::of(&block);
        const Mobility mobility = PageSection::groupOf(block);
        std::size_t index = PageSection::indexOf(block);
        block.state = Page::State::inside;
        while (order + 1 < pageOrders) {
            Page* const buddy = freeBuddy(section, index, order);
            if (buddy == nullptr) {
                break;
            }
            unlink(*buddy);
            buddy->state = Page::State::inside;
            index &= ~(std::size_t{1} << order);
            ++order;
        }
        Page& merged = section.pages[index];
        const std::size_t larger = index & ~(std::size_t{1} << order);
        const bool soon =
            order + 2 < pageOrders && freeBuddy(section, larger, order + 1) != nullptr;
        if (soon) {
            pushBack(merged, order, mobility);
        } else {
            pushFront(merged, order, mobility);
        }
    }

    [[nodiscard]] const PageFallbacks& fallbacks() const noexcept { return fallbacks_; }

    [[nodiscard]] std::size_t pages() const noexcept { return pages_; }
    [[nodiscard]] std::size_t freePages() const noexcept {
        std::size_t sum = 0;
        for (std::size_t order = 0; order < pageOrders; ++order) {
            sum += freeBlocks(order) << order;
        }
        return sum;
    }
    /// The number of free blocks of an order.
    [[nodiscard]] std::size_t freeBlocks(std::size_t order) const noexcept {
        std::size_t sum = 0;
        for (const List& list : free_[order]) {
            sum += list.count;
        }
        return sum;
    }
    [[nodiscard]] std::size_t freeBlocks(std::size_t order, Mobility mobility) const noexcept {
        return free_[order][static_cast<std::size_t>(mobility)].count;
    }

    /// The share of free pages, in thousandths, that are in blocks too small for an order; 1,000 if
    /// no page is free.
    [[nodiscard]] int unusableIndex(std::size_t order) const noexcept {
        const Free free = freeFor(order);
        return free.pages == 0
                   ? 1000
                   : static_cast<int>((free.pages - (free.suitable << order)) * 1000 / free.pages);
    }

    /// The reason why a request of an order fails, in thousandths. It is near 0 for lack of memory,
    /// near 1,000 for fragmentation, and -1,000 if the request would not fail.
    [[nodiscard]] int fragmentationIndex(std::size_t order) const noexcept {
        const Free free = freeFor(order);
        if (free.blocks == 0) {
            return 0;
        }
        if (free.suitable != 0) {
            return -1000;
        }
        const std::size_t wanted = std::size_t{1} << order;
        return 1000 - static_cast<int>((1000 + free.pages * 1000 / wanted) / free.blocks);
    }

private:
    struct List {
        Page* first = nullptr;
        Page* last = nullptr;
        std::size_t count = 0;
    };
    struct Free {
        std::size_t pages = 0;
        std::size_t blocks = 0;
        std::size_t suitable = 0; ///< blocks of the order that could be split off
    };

    [[nodiscard]] Free freeFor(std::size_t order) const noexcept {
        Free free;
        for (std::size_t each = 0; each < pageOrders; ++each) {
            const std::size_t blocks = freeBlocks(each);
            free.blocks += blocks;
            free.pages += blocks << each;
            free.suitable += each >= order ? blocks << (each - order) : 0;
        }
        return free;
    }

    [[nodiscard]] List& listOf(std::size_t order, Mobility mobility) noexcept {
        return free_[order][static_cast<std::size_t>(mobility)];
    }

    // --- lists ---

    void beFree(Page& page, std::size_t order, Mobility mobility) noexcept {
        page.state = Page::State::free;
        page.order = static_cast<std::uint8_t>(order);
        page.mobility = mobility; // the mobility of its list
        page.ahead = 0;
        PageSection::of(&page).freePages += std::size_t{1} << order;
    }

    void pushFront(Page& page, std::size_t order, Mobility mobility) noexcept {
        beFree(page, order, mobility);
        List& list = listOf(order, mobility);
        page.previous = nullptr;
        page.next = list.first;
        (list.first != nullptr ? list.first->previous : list.last) = &page;
        list.first = &page;
        ++list.count;
    }

    void pushBack(Page& page, std::size_t order, Mobility mobility) noexcept {
        beFree(page, order, mobility);
        List& list = listOf(order, mobility);
        page.next = nullptr;
        page.previous = list.last;
        (list.last != nullptr ? list.last->next : list.first) = &page;
        list.last = &page;
        ++list.count;
    }

    void unlink(Page& page) noexcept {
        List& list = listOf(page.order, page.mobility);
        (page.previous != nullptr ? page.previous->next : list.first) = page.next;
        (page.next != nullptr ? page.next->previous : list.last) = page.previous;
        --list.count;
        PageSection::of(&page).freePages -= std::size_t{1} << page.order;
    }

    /// The block that would merge with the one at `index`, if it is free as a whole.
    [[nodiscard]] static Page* freeBuddy(PageSection& section, std::size_t index,
                                         std::size_t order) noexcept {
        Page& buddy = section.pages[index ^ (std::size_t{1} << order)];
        const bool free = buddy.state == Page::State::free && buddy.order == order;
        return free ? &buddy : nullptr;
    }

    // --- taking ---

    static void markTaken(Page& block, std::size_t order, Mobility mobility) noexcept {
        const std::size_t count = std::size_t{1} << order;
        block.state = Page::State::taken;
        block.order = static_cast<std::uint8_t>(order);
        block.mobility = mobility;
        block.next = block.previous = nullptr;
        Page* const pages = &block;
        for (std::size_t each = 0; each < count; ++each) {
            pages[each].ahead = static_cast<std::uint16_t>(each);
        }
    }

    /// A block split from the smallest one of a mobility that is large enough.
    [[nodiscard]] Page* smallest(std::size_t order, Mobility mobility) noexcept {
        for (std::size_t found = order; found < pageOrders; ++found) {
            Page* const page = listOf(found, mobility).first;
            if (page != nullptr) {
                unlink(*page);
                page->state = Page::State::inside;
                while (found > order) {
                    --found;
                    pushFront(*(page + (std::size_t{1} << found)), found, mobility);
                }
                return page;
            }
        }
        return nullptr;
    }

    // --- falling back ---

    /// The mobilities that a request tries when its own lists are empty.
    static constexpr std::array<std::array<Mobility, 2>, mobilities> others = {
        {{Mobility::reclaimable, Mobility::movable},
         {Mobility::reclaimable, Mobility::unmovable},
         {Mobility::unmovable, Mobility::movable}}};

    [[nodiscard]] Page* otherBlock(std::size_t order, Mobility mobility) noexcept {
        for (const Mobility other : others[static_cast<std::size_t>(mobility)]) {
            if (Page* const page = listOf(order, other).first) {
                return page;
            }
        }
        return nullptr;
    }

    [[nodiscard]] static bool mayClaim(std::size_t order, Mobility mobility) noexcept {
        return order >= groupOrder / 2 || mobility != Mobility::movable;
    }

    /// Moves a block of another mobility to the lists of this one; false if there is none.
    [[nodiscard]] bool fallBack(std::size_t order, Mobility mobility) noexcept {
        for (std::size_t found = pageOrders; found-- > order;) {
            Page* page = otherBlock(found, mobility);
            if (page == nullptr) {
                continue;
            }
            const bool claims = mayClaim(found, mobility);
            if (!claims) {
                for (found = order; (page = otherBlock(found, mobility)) == nullptr;) {
                    ++found; // exists, because it was just found
                }
            }
            ++fallbacks_.events[order][found];
            bring(*page, mobility, claims);
            return true;
        }
        return false;
    }

    void bring(Page& page, Mobility mobility, bool claims) noexcept {
        const std::size_t order = page.order;
        if (order >= groupOrder) {
            for (std::size_t at = 0; at < std::size_t{1} << order;
                 at += std::size_t{1} << groupOrder) {
                Mobility& group = PageSection::groupOf(*(&page + at));
                fallbacks_.claimed += group != mobility ? 1U : 0U;
                group = mobility;
            }
            move(page, mobility);
        } else if (!claims || !claimGroup(page, mobility)) {
            move(page, mobility);
        }
    }

    void move(Page& page, Mobility mobility) noexcept {
        const std::size_t order = page.order;
        unlink(page);
        pushFront(page, order, mobility);
    }

    /// Moves all free blocks of a group to the lists of a mobility. Returns false if the block is
    /// larger than the group.
    [[nodiscard]] bool claimGroup(Page& page, Mobility mobility) noexcept {
        constexpr std::size_t size = std::size_t{1} << groupOrder;
        PageSection& section = PageSection::of(&page);
        const std::size_t start = PageSection::indexOf(page) / size * size;
        std::size_t free = 0;
        std::size_t movable = 0;
        const std::size_t own = PageSection::ownPages();
        for (std::size_t index = start < own ? own : start; index < start + size;) {
            Page& each = section.pages[index];
            const std::size_t count = std::size_t{1} << each.order;
            if (each.state == Page::State::free) {
                move(each, mobility);
                free += count;
                index += count;
            } else if (each.state == Page::State::taken) {
                movable += each.mobility == Mobility::movable ? count : 0;
                index += count;
            } else {
                ++index; // part of a larger block
            }
        }
        if (free == 0) {
            return false;
        }
        Mobility& group = PageSection::groupOf(page);
        const std::size_t alike = mobility == Mobility::movable ? movable
                                  : group == Mobility::movable  ? size - (free + movable)
                                                                : 0;
        if (free + alike >= size / 2 && group != mobility) {
            group = mobility;
            ++fallbacks_.claimed;
        }
        return true;
    }

    std::array<std::array<List, mobilities>, pageOrders> free_{};
    std::size_t pages_ = 0;
    PageFallbacks fallbacks_;
};

} // namespace heapwright
