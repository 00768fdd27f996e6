// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Text in memory of a fixed size, for code inside a heap: no allocation, no locale, no failure.
// Text beyond the capacity is cut off, and this is recorded.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright {

template <std::size_t Capacity>
class FixedText {
public:
    constexpr FixedText() noexcept = default;

    constexpr FixedText& put(std::string_view text) noexcept {
        for (const char c : text) {
            put(c);
        }
        return *this;
    }

    constexpr FixedText& put(char c) noexcept {
        if (length_ < Capacity) {
            characters_[length_++] = c;
        } else {
            cut_ = true;
        }
        return *this;
    }

    /// A number with at least `digits` decimal digits.
    constexpr FixedText& putNumber(std::uint64_t number, unsigned digits = 1) noexcept {
        return putDigits(number, 10, digits);
    }

    /// A number in hexadecimal digits, after 0x.
    constexpr FixedText& putHex(std::uint64_t number) noexcept {
        return put("0x").putDigits(number, 16, 1);
    }

    /// The quotient of two numbers with three decimals, rounded down; "-" if there is none.
    constexpr FixedText& putRatio(std::uint64_t over, std::uint64_t under) noexcept {
        if (under == 0) {
            return put('-');
        }
        // Divides by a thousandth of the denominator if the multiplication by 1000 would overflow.
        const std::uint64_t rest = over % under;
        const bool fits = rest <= UINT64_MAX / 1000;
        const std::uint64_t thousandths = fits ? rest * 1000 / under : rest / (under / 1000);
        return putNumber(over / under).put('.').putNumber(thousandths < 999 ? thousandths : 999, 3);
    }

    [[nodiscard]] constexpr std::string_view view() const noexcept {
        return {characters_.data(), length_};
    }
    [[nodiscard]] constexpr bool cut() const noexcept { return cut_; }
    constexpr void clear() noexcept {
        length_ = 0;
        cut_ = false;
    }

private:
    constexpr FixedText& putDigits(std::uint64_t number, unsigned base, unsigned least) noexcept {
        std::array<char, 20> digits{};
        std::size_t count = 0;
        while (count < digits.size() && (number != 0 || count < least)) {
            digits[count++] = "0123456789abcdef"[number % base];
            number /= base;
        }
        while (count != 0) {
            put(digits[--count]);
        }
        return *this;
    }

    std::array<char, Capacity> characters_{};
    std::size_t length_ = 0;
    bool cut_ = false;
};

} // namespace heapwright
