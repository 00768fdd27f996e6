// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads the numbers of DWARF out of a range of bytes. Nothing is read beyond the range: a read that
// would go there gives 0 and makes the reader fail from then on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapwright::recorder::stacks {

class Bytes {
public:
    constexpr Bytes() noexcept = default;
    Bytes(const std::uint8_t* at, const std::uint8_t* end) noexcept : at_(at), end_(end) {}

    [[nodiscard]] bool failed() const noexcept { return failed_; }
    [[nodiscard]] bool empty() const noexcept { return failed_ || at_ >= end_; }
    [[nodiscard]] const std::uint8_t* at() const noexcept { return at_; }
    [[nodiscard]] const std::uint8_t* end() const noexcept { return end_; }

    /// The next number of a plain type.
    template <class T>
    T take() noexcept {
        T value{};
        if (const std::uint8_t* const from = skip(sizeof value)) {
            std::memcpy(&value, from, sizeof value);
        }
        return value;
    }

    std::uint64_t uleb() noexcept {
        std::uint64_t value = 0;
        unsigned shift = 0;
        std::uint8_t byte = 0;
        do {
            byte = take<std::uint8_t>();
            value |= shift < 64 ? static_cast<std::uint64_t>(byte & 0x7FU) << shift : 0;
            shift += 7;
        } while ((byte & 0x80U) != 0);
        return value;
    }

    std::int64_t sleb() noexcept {
        std::uint64_t value = 0;
        unsigned shift = 0;
        std::uint8_t byte = 0;
        do {
            byte = take<std::uint8_t>();
            value |= shift < 64 ? static_cast<std::uint64_t>(byte & 0x7FU) << shift : 0;
            shift += 7;
        } while ((byte & 0x80U) != 0);
        if (shift < 64 && (byte & 0x40U) != 0) {
            value |= ~std::uint64_t{0} << shift;
        }
        return static_cast<std::int64_t>(value);
    }

    /// Skips the next `count` bytes and returns their begin; null if fewer are left.
    const std::uint8_t* skip(std::uint64_t count) noexcept {
        if (failed_ || count > static_cast<std::uint64_t>(end_ - at_)) {
            failed_ = true;
            at_ = end_;
            return nullptr;
        }
        const std::uint8_t* const from = at_;
        at_ += count;
        return from;
    }

    /// A reader of the next `count` bytes alone.
    Bytes cut(std::uint64_t count) noexcept {
        const std::uint8_t* const from = skip(count);
        return from != nullptr ? Bytes(from, from + count) : Bytes();
    }

    void fail() noexcept { failed_ = true; }

private:
    const std::uint8_t* at_ = nullptr;
    const std::uint8_t* end_ = nullptr;
    bool failed_ = false;
};

} // namespace heapwright::recorder::stacks
