// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Pages of blocks of any size, as in SLOB. The first words of a free block hold its size in units
// of 8 bytes and the place of the next one. A page's free blocks are linked in the order of their
// addresses, and neighbours are merged. The first block that is large enough serves.
//
// Pages with room are on three lists: for requests below 256 bytes, below 1,024, and for larger
// ones. The list is rotated so that the page that served is first, and the next search starts
// there. A full page in which a block is freed goes to the list for the block's size. A free page
// is returned. It is not for several threads at once.
// Invariant: in a page with room, `used` is the number of its free units and `objects` its first
// free block. A full page is on no list.
// Cost: the search through pages and blocks.
// Source: mm/slob.c of Linux 6.1 (Mackall 2005).
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/structure/kernel/kernel_cache.hpp>
#include <heapwright/structure/kernel/page_section.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

namespace heapwright {

class SlobPages {
public:
    static constexpr std::size_t unit = 8;
    static constexpr std::size_t lists = 3;

    constexpr SlobPages() noexcept = default;
    SlobPages(const SlobPages&) = delete;
    SlobPages& operator=(const SlobPages&) = delete;
    ~SlobPages() = default;

    static constexpr std::size_t anyNode = ~std::size_t{0};

    /// A block of `size` bytes whose address plus `lead` is a multiple of `align`, in a page of a
    /// node. Null if no page has one.
    /// Pre: `size` is at most a page.
    [[nodiscard]] void* take(std::size_t size, std::size_t align, std::size_t lead,
                             std::size_t node = anyNode) noexcept {
        SlabList& list = listFor(size);
        const std::size_t units = unitsFor(size);
        for (Page* page = list.first; page != nullptr; page = page->next) {
            const bool there = node == anyNode || PageSection::of(page).node == node;
            if (!there || page->used < units) {
                continue;
            }
            void* const block = takeFrom(*page, units, align, lead);
            if (block == nullptr) {
                continue;
            }
            if (page->used == 0) {
                list.remove(*page);
            } else {
                rotate(list, *page);
            }
            return block;
        }
        return nullptr;
    }

    /// Adds a page, which serves requests of such a size first.
    void add(Page& page, std::size_t size) noexcept {
        void* const start = PageSection::addressOfPage(page);
        page.used = unitsIn;
        page.count = unitsIn;
        page.objects = start;
        write(start, unitsIn, none);
        listFor(size).addFront(page);
        page.mark = markFor(size);
        ++pages_;
    }

    /// Frees a block. Returns true if its page is free as a whole; the page is then removed.
    [[nodiscard]] bool give(void* block, std::size_t size) noexcept {
        Page& page = PageSection::pageAt(block);
        const std::size_t units = unitsFor(size);
        if (page.used + units == unitsIn) {
            if (page.used != 0) {
                lists_[page.mark].remove(page);
            }
            --pages_;
            return true;
        }
        if (page.used == 0) {
            page.used = static_cast<std::uint32_t>(units);
            page.objects = block;
            write(block, units, none);
            page.mark = markFor(size);
            listFor(size).addFront(page);
            return false;
        }
        page.used += static_cast<std::uint32_t>(units);
        insert(page, block, units);
        return false;
    }

    /// The number of pages, and of their free bytes.
    [[nodiscard]] std::size_t pages() const noexcept { return pages_; }
    [[nodiscard]] std::size_t freeBytes() const noexcept {
        std::size_t sum = 0;
        for (const SlabList& list : lists_) {
            for (const Page* page = list.first; page != nullptr; page = page->next) {
                sum += page->used * unit;
            }
        }
        return sum;
    }

    /// Removes all pages.
    void clear() noexcept {
        lists_ = {};
        pages_ = 0;
    }

private:
    /// The first words of a free block.
    struct Free {
        std::uint16_t units;
        std::uint16_t next; ///< in units from the start of the page
    };
    static constexpr std::uint32_t unitsIn = bytesOfPage / unit;
    static constexpr std::uint16_t none = 0xFFFF;

    [[nodiscard]] static constexpr std::size_t unitsFor(std::size_t size) noexcept {
        return (size + unit - 1) / unit;
    }
    [[nodiscard]] static constexpr std::uint8_t markFor(std::size_t size) noexcept {
        return size < 256 ? 0 : size < 1024 ? 1 : 2;
    }
    [[nodiscard]] SlabList& listFor(std::size_t size) noexcept { return lists_[markFor(size)]; }

    [[nodiscard]] static Free read(const void* block) noexcept {
        return *static_cast<const Free*>(block);
    }
    static void write(void* block, std::size_t units, std::uint16_t next) noexcept {
        ::new (block) Free{static_cast<std::uint16_t>(units), next};
    }
    [[nodiscard]] static std::uint16_t placeOf(const void* block) noexcept {
        return static_cast<std::uint16_t>(addressOf(block) % bytesOfPage / unit);
    }
    [[nodiscard]] static void* blockAt(const Page& page, std::uint16_t place) noexcept {
        return place == none ? nullptr : forward(PageSection::addressOfPage(page), place * unit);
    }

    /// Changes the link of the block before, or of the page if there is none.
    static void relink(Page& page, void* before, std::uint16_t next) noexcept {
        if (before == nullptr) {
            page.objects = blockAt(page, next);
        } else {
            write(before, read(before).units, next);
        }
    }

    [[nodiscard]] static void* takeFrom(Page& page, std::size_t units, std::size_t align,
                                        std::size_t lead) noexcept {
        void* before = nullptr;
        for (void* block = page.objects; block != nullptr;) {
            Free free = read(block);
            const Address wanted = roundUp(addressOf(block) + lead, align) - lead;
            const std::size_t gap = (wanted - addressOf(block)) / unit;
            if (free.units >= units + gap) {
                if (gap != 0) { // the gap before the block stays free
                    void* const later = pointerTo(wanted);
                    write(later, free.units - gap, free.next);
                    write(block, gap, placeOf(later));
                    before = block;
                    block = later;
                    free = read(block);
                }
                std::uint16_t next = free.next;
                if (free.units != units) {
                    void* const rest = forward(block, units * unit);
                    write(rest, free.units - units, next);
                    next = placeOf(rest);
                }
                relink(page, before, next);
                page.used -= static_cast<std::uint32_t>(units);
                return block;
            }
            before = block;
            block = blockAt(page, free.next);
        }
        return nullptr;
    }

    /// Inserts a free block by its address and merges it with its neighbours.
    static void insert(Page& page, void* block, std::size_t units) noexcept {
        void* before = nullptr;
        void* after = page.objects;
        while (after != nullptr && after < block) {
            before = after;
            after = blockAt(page, read(after).next);
        }
        std::uint16_t next = after == nullptr ? none : placeOf(after);
        if (after == forward(block, units * unit)) {
            units += read(after).units;
            next = read(after).next;
        }
        if (before != nullptr && forward(before, read(before).units * unit) == block) {
            write(before, read(before).units + units, next);
            return;
        }
        write(block, units, next);
        relink(page, before, placeOf(block));
    }

    /// Rotates the list so that it begins with this page.
    static void rotate(SlabList& list, Page& page) noexcept {
        if (list.first == &page) {
            return;
        }
        list.last->next = list.first;
        list.first->previous = list.last;
        list.last = page.previous;
        list.last->next = nullptr;
        page.previous = nullptr;
        list.first = &page;
    }

    std::array<SlabList, lists> lists_{};
    std::size_t pages_ = 0;
};

} // namespace heapwright
