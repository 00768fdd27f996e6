// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the object that contains an address. Objects begin at multiples of 8 and have numbers; 0 is
// no object.
//
// A page of 4 KiB inside one object has one entry. Any other page has a leaf with an entry for
// every 8 bytes. Two tables, indexed by 14 and 22 bits of the address, lead to a page.
// Cost: three or four loads to find an object. To enter or remove one, a store for every 8 bytes at
// its ends and for every page between. Memory: half of the span of the live objects, 1/500 for
// large ones.
//
// Any thread may call `find` at any time. For an address that is being entered or removed, it
// returns the old or the new object. All other functions are for one thread at a time.
#pragma once

#include "drag/account/paged_array.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::drag {

class AddressMap {
public:
    using Number = std::uint32_t;

    AddressMap() : tables_(static_cast<Entry*>(takePages(tableCount * sizeof(Entry)))) {}
    AddressMap(const AddressMap&) = delete;
    AddressMap& operator=(const AddressMap&) = delete;
    ~AddressMap() {
        while (newest_ != nullptr) {
            Table* const next = newest_->next;
            platform::unmapPages(newest_, sizeof(Table));
            newest_ = next;
        }
        platform::unmapPages(tables_, tableCount * sizeof(Entry));
        while (slabs_ != nullptr) {
            Slab* const next = slabs_->next;
            platform::unmapPages(slabs_, sizeof(Slab));
            slabs_ = next;
        }
    }

    Number find(std::uint64_t address) const {
        const Table* const table = tableOf(address);
        const std::uint64_t entry =
            table != nullptr ? table->pages[pageIn(address)].load(std::memory_order_acquire) : 0;
        if ((entry & whole) != 0 || entry == 0) {
            return static_cast<Number>(entry >> 1);
        }
        return leafAt(entry)->numbers[granuleIn(address)].load(std::memory_order_relaxed);
    }

    /// The first address after this one that may belong to another object.
    std::uint64_t next(std::uint64_t address) const {
        const Table* const table = tableOf(address);
        if (table == nullptr) {
            return (address | (tableSpan - 1)) + 1;
        }
        const std::uint64_t entry = table->pages[pageIn(address)].load(std::memory_order_acquire);
        const std::uint64_t span = entry == 0 || (entry & whole) != 0 ? pageSpan : granuleSpan;
        return (address | (span - 1)) + 1;
    }

    /// Assigns [begin, end) to `number`; 0 removes it.
    /// Pre: begin < end <= limit.
    void set(std::uint64_t begin, std::uint64_t end, Number number) {
        for (std::uint64_t at = begin & ~(granuleSpan - 1); at < end;) {
            const std::uint64_t page = at & ~(pageSpan - 1);
            const std::uint64_t stop = std::min(page + pageSpan, end);
            if (at == page && stop == page + pageSpan) {
                setPage(page, number);
            } else {
                setPart(at, stop, number);
            }
            at = page + pageSpan;
        }
    }

    /// All addresses of a program are below this.
    static constexpr std::uint64_t limit = std::uint64_t{1} << 48;

private:
    static constexpr std::uint64_t granuleSpan = 8;
    static constexpr std::uint64_t pageSpan = 4096;
    static constexpr std::size_t pagesPerTable = 1 << 14;
    static constexpr std::uint64_t tableSpan = pageSpan * pagesPerTable; ///< 64 MiB
    static constexpr std::uint64_t whole = 1;

    struct Leaf {
        std::atomic<Number> numbers[pageSpan / granuleSpan];
        Leaf* nextSpare; ///< while the leaf is free for reuse
    };
    struct Table {
        std::atomic<std::uint64_t> pages[pagesPerTable]; ///< 0; number × 2 + 1; or a leaf's address
        /// Number of entries of its leaf that are not 0.
        std::uint16_t used[pagesPerTable];
        Table* next;
    };
    using Entry = std::atomic<Table*>;
    static constexpr std::size_t tableCount = limit / tableSpan;

    struct Slab { ///< of leaves
        static constexpr std::size_t count = 127;
        Leaf leaves[count];
        Slab* next;
    };

    static std::size_t pageIn(std::uint64_t address) {
        return static_cast<std::size_t>(address / pageSpan % pagesPerTable);
    }
    static std::size_t granuleIn(std::uint64_t address) {
        return static_cast<std::size_t>(address % pageSpan / granuleSpan);
    }
    static Leaf* leafAt(std::uint64_t entry) {
        return static_cast<Leaf*>(pointerTo(static_cast<Address>(entry)));
    }

    const Table* tableOf(std::uint64_t address) const {
        return address < limit ? tables_[address / tableSpan].load(std::memory_order_acquire)
                               : nullptr;
    }

    Table& makeTable(std::uint64_t address) {
        Entry& entry = tables_[address / tableSpan];
        if (entry.load(std::memory_order_relaxed) == nullptr) {
            Table* const table = static_cast<Table*>(takePages(sizeof(Table)));
            table->next = newest_;
            newest_ = table;
            entry.store(table, std::memory_order_release);
        }
        return *entry.load(std::memory_order_relaxed);
    }

    /// Sets a whole page.
    void setPage(std::uint64_t page, Number number) {
        Table& table = makeTable(page);
        const std::size_t at = pageIn(page);
        const std::uint64_t old = table.pages[at].load(std::memory_order_relaxed);
        table.pages[at].store(number == 0 ? 0 : std::uint64_t{number} << 1 | whole,
                              std::memory_order_release);
        if (old != 0 && (old & whole) == 0) {
            giveBack(leafAt(old));
            table.used[at] = 0;
        }
    }

    /// Sets a part of a page.
    void setPart(std::uint64_t begin, std::uint64_t end, Number number) {
        Table& table = makeTable(begin);
        const std::size_t at = pageIn(begin);
        const std::uint64_t old = table.pages[at].load(std::memory_order_relaxed);
        if (old == 0 && number == 0) {
            return;
        }
        Leaf* leaf = leafAt(old);
        if (old == 0 || (old & whole) != 0) {
            leaf = take();
            for (auto& each : leaf->numbers) {
                each.store(static_cast<Number>(old >> 1), std::memory_order_relaxed);
            }
            table.used[at] = old == 0 ? 0 : pageSpan / granuleSpan;
            table.pages[at].store(addressOf(leaf), std::memory_order_release);
        }
        for (std::uint64_t each = begin; each < end; each += granuleSpan) {
            auto& entry = leaf->numbers[granuleIn(each)];
            const bool before = entry.load(std::memory_order_relaxed) != 0;
            table.used[at] = static_cast<std::uint16_t>(table.used[at] + (number != 0) - before);
            entry.store(number, std::memory_order_relaxed);
        }
        if (table.used[at] == 0) {
            table.pages[at].store(0, std::memory_order_release);
            giveBack(leaf);
        }
    }

    /// Takes a leaf; the caller overwrites it. Memory of leaves stays leaves, because another
    /// thread may be reading it.
    Leaf* take() {
        if (spare_ != nullptr) {
            Leaf* const leaf = spare_;
            spare_ = leaf->nextSpare;
            return leaf;
        }
        if (fresh_ == Slab::count) {
            Slab* const slab = static_cast<Slab*>(takePages(sizeof(Slab)));
            slab->next = slabs_;
            slabs_ = slab;
            fresh_ = 0;
        }
        return &slabs_->leaves[fresh_++];
    }

    void giveBack(Leaf* leaf) {
        leaf->nextSpare = spare_;
        spare_ = leaf;
    }

    Entry* tables_;
    Table* newest_ = nullptr;
    Leaf* spare_ = nullptr;
    Slab* slabs_ = nullptr;
    std::size_t fresh_ = Slab::count; ///< number of leaves taken from the newest slab
};

} // namespace heapwright::drag
