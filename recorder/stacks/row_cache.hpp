// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows of the return addresses that have been met, shared by all threads without a lock. A
// place is one word: 48 bits of the address, 16 of the row, so that a reader sees both or neither.
// Two places serve an address; the older of two goes.
//
// Cost: a multiplication and one or two loads for a row that is there; 512 KiB of address space,
// touched as it fills.
#pragma once

#include "row.hpp"

#include <heapwright/platform/pages.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwright::stacks {

class RowCache {
public:
    static constexpr unsigned bits = 16;

    /// False where the system has no memory.
    bool begin() noexcept {
        void* const rows = platform::reservePages(places * sizeof(Place));
        void* const odd = platform::reservePages(mostOddRows * sizeof(Place));
        rows_ = static_cast<Place*>(rows);
        odd_ = static_cast<Place*>(odd);
        return rows != nullptr && odd != nullptr;
    }

    /// The row of an address, or `noRow` if it is not there.
    [[nodiscard]] ShortRow find(std::uint64_t address) const noexcept {
        const std::size_t place = placeOf(address);
        const std::uint64_t first = rows_[place].load(std::memory_order_acquire);
        if (first >> 16U == address) {
            return static_cast<ShortRow>(first);
        }
        const std::uint64_t second = rows_[place ^ 1U].load(std::memory_order_acquire);
        return second >> 16U == address ? static_cast<ShortRow>(second) : noRow;
    }

    /// The row in 16 bits, be it as the number of an odd one; `noRow` where there are too many.
    ShortRow shorten(const Row& row) noexcept {
        const auto plain = shortened(row);
        return plain ? *plain : addOdd(packed(row));
    }

    void add(std::uint64_t address, ShortRow row) noexcept {
        const std::size_t place = placeOf(address);
        const std::uint64_t before = rows_[place].load(std::memory_order_relaxed);
        rows_[place ^ 1U].store(before, std::memory_order_release);
        rows_[place].store(address << 16U | row, std::memory_order_release);
    }

    [[nodiscard]] Row odd(ShortRow row) const noexcept {
        return unpacked(odd_[oddNumber(row)].load(std::memory_order_acquire));
    }

    /// Forgets all addresses.
    void clear() noexcept {
        for (std::size_t place = 0; place < places; ++place) {
            rows_[place].store(0, std::memory_order_relaxed);
        }
    }

private:
    using Place = std::atomic<std::uint64_t>;
    static constexpr std::size_t places = std::size_t{1} << bits;

    /// Pairs of places lie side by side.
    [[nodiscard]] static std::size_t placeOf(std::uint64_t address) noexcept {
        return static_cast<std::size_t>(address * 0x9E37'79B9'7F4A'7C15ULL >> (64 - bits));
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
    Place* odd_ = nullptr;
};

} // namespace heapwright::stacks
