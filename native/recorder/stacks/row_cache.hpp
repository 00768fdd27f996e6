// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows of known return addresses, shared by all threads without a lock. An entry is one word:
// 48 bits of the address and 16 of the row. A reader therefore sees both or neither. An address has
// two possible entries. Neighbouring code addresses share a line, one for each 64 bytes of code, so
// that frequent entries stay in the processor's caches. Some entries are contended. A row evicted
// from them is found in a second table, which spreads addresses evenly.
//
// Cost: a multiplication and one or two loads for a cached row; 2 MiB.
#pragma once

#include "row.hpp"
#include "table_pages.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::recorder::stacks {

class RowCache {
public:
    static constexpr unsigned bits = 17;

    /// False where the system has no memory.
    bool begin(const Host& host) noexcept {
        constexpr std::size_t all = places + spreadPlaces + mostOddRows;
        rows_ = static_cast<Place*>(reserveTable(all * sizeof(Place)));
        if (rows_ == nullptr) {
            return false;
        }
        announceTable(host, rows_, all * sizeof(Place));
        second_ = rows_ + places;
        odd_ = second_ + spreadPlaces;
        return true;
    }

    /// The row of an address, or `noRow` if it is not there.
    [[nodiscard]] ShortRow find(std::uint64_t address) const noexcept {
        return findIn(rows_, placeOf(address), address);
    }

    /// Finds a row that is missing in the first table in the second, and moves it to the first.
    [[nodiscard]] ShortRow findAgain(std::uint64_t address) noexcept {
        const ShortRow row = findIn(second_, spreadPlaceOf(address), address);
        if (row != noRow) {
            addTo(rows_, placeOf(address), address << 16U | row);
        }
        return row;
    }

    /// The row in 16 bits, be it as the number of an odd one; `noRow` where there are too many.
    ShortRow shorten(const Row& row) noexcept {
        const auto plain = shortened(row);
        return plain ? *plain : addOdd(packed(row));
    }

    void add(std::uint64_t address, ShortRow row) noexcept {
        addTo(rows_, placeOf(address), address << 16U | row);
        addTo(second_, spreadPlaceOf(address), address << 16U | row);
    }

    [[nodiscard]] Row odd(ShortRow row) const noexcept {
        return unpacked(odd_[oddNumber(row)].load(std::memory_order_acquire));
    }

    /// Forgets all addresses.
    void clear() noexcept {
        for (std::size_t place = 0; place < places; ++place) {
            rows_[place].store(0, std::memory_order_relaxed);
        }
        for (std::size_t place = 0; place < spreadPlaces; ++place) {
            second_[place].store(0, std::memory_order_relaxed);
        }
    }

private:
    using Place = std::atomic<std::uint64_t>;
    static constexpr std::size_t places = std::size_t{1} << bits;
    static constexpr unsigned spreadBits = 16;
    static constexpr std::size_t spreadPlaces = std::size_t{1} << spreadBits;
    static constexpr std::uint64_t multiplier = 0x9E37'79B9'7F4A'7C15ULL;

    /// Pairs of places lie side by side.
    [[nodiscard]] static std::size_t placeOf(std::uint64_t address) noexcept {
        const std::uint64_t line = (address >> 6U) * multiplier >> (64 - bits);
        return static_cast<std::size_t>((line & ~std::uint64_t{7}) | (address >> 3U & 7U));
    }

    [[nodiscard]] static std::size_t spreadPlaceOf(std::uint64_t address) noexcept {
        return static_cast<std::size_t>(address * multiplier >> (64 - spreadBits));
    }

    [[nodiscard]] static ShortRow findIn(const Place* table, std::size_t place,
                                         std::uint64_t address) noexcept {
        const std::uint64_t first = table[place].load(std::memory_order_acquire);
        if (first >> 16U == address) {
            return static_cast<ShortRow>(first);
        }
        const std::uint64_t second = table[place ^ 1U].load(std::memory_order_acquire);
        return second >> 16U == address ? static_cast<ShortRow>(second) : noRow;
    }

    /// The older of two goes.
    static void addTo(Place* table, std::size_t place, std::uint64_t word) noexcept {
        const std::uint64_t before = table[place].load(std::memory_order_relaxed);
        table[place ^ 1U].store(before, std::memory_order_release);
        table[place].store(word, std::memory_order_release);
    }

    ShortRow addOdd(std::uint64_t row) noexcept {
        for (std::uint32_t i = 0; i < mostOddRows; ++i) {
            std::uint64_t there = odd_[i].load(std::memory_order_acquire);
            if (there == 0 && odd_[i].compare_exchange_strong(there, row)) {
                return oddRow(i);
            }
            if (there == row) {
                return oddRow(i);
            }
        }
        return noRow;
    }

    Place* rows_ = nullptr;
    Place* second_ = nullptr;
    Place* odd_ = nullptr;
};

} // namespace heapwright::recorder::stacks
