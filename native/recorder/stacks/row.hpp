// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One row of unwinding: at one code address, how to find the caller's stack pointer and frame
// pointer from the current ones. The return address is always in the word below the caller's stack
// pointer. Nearly all rows fit into 16 bits, so that one word of the cache holds address and row.
// The others are kept in full in a list of odd rows, and the cache holds their number.
#pragma once

#include <cstdint>
#include <optional>

namespace heapwright::recorder::stacks {

struct Row {
    /// Where the caller's stack pointer is.
    enum class Base : std::uint8_t {
        lost,      ///< not known: the chain cannot be followed
        end,       ///< there is no caller
        foreign,   ///< the address is not in code
        stack,     ///< stack pointer + offset
        frame,     ///< frame pointer + offset
        frameWord, ///< the word at frame pointer + offset
        signal,    ///< in the registers that the kernel saved for a signal handler
    };
    /// Where the caller's frame pointer is.
    enum class Saved : std::uint8_t {
        same,    ///< where it was
        atCfa,   ///< at the caller's stack pointer + savedOffset
        atFrame, ///< at one's own frame pointer + savedOffset
        lost,    ///< not known
    };

    Base base = Base::lost;
    Saved saved = Saved::same;
    std::int32_t offset = 0;
    std::int32_t savedOffset = 0;

    bool operator==(const Row&) const = default;
};

/// As a frame pointer tells it: what compilers make of code that has one.
inline constexpr Row framePointerRow{Row::Base::frame, Row::Saved::atCfa, 16, -16};

/// A row in 16 bits. Bit 0: the base is the frame pointer. Bits 1 to 3 are 0 if the frame pointer
/// is unchanged. They are n if it is saved n + 1 words below the caller's stack pointer. Bits 4 to
/// 15: the offset in words. 7 in bits 1 to 3 marks the number of an odd row.
using ShortRow = std::uint16_t;

inline constexpr ShortRow noRow = 0; // an offset of 0 is no row
inline constexpr unsigned oddMark = 7;
inline constexpr std::uint32_t mostOddRows = 1U << 13;

[[nodiscard]] constexpr bool usesFrame(ShortRow row) {
    return (row & 1U) != 0;
}
[[nodiscard]] constexpr unsigned savedWords(ShortRow row) {
    return (row >> 1U) & 7U;
}
[[nodiscard]] constexpr std::uint64_t offsetBytes(ShortRow row) {
    return (static_cast<std::uint64_t>(row) >> 4U) * 8;
}
[[nodiscard]] constexpr std::uint32_t oddNumber(ShortRow row) {
    return (static_cast<std::uint32_t>(row) >> 4U) | ((row & 1U) << 12U);
}
[[nodiscard]] constexpr ShortRow oddRow(std::uint32_t number) {
    return static_cast<ShortRow>((number & 0xFFFU) << 4U | oddMark << 1U | number >> 12U);
}

/// The row in 16 bits, if it fits.
[[nodiscard]] constexpr std::optional<ShortRow> shortened(const Row& row) {
    const bool plain = row.base == Row::Base::stack || row.base == Row::Base::frame;
    if (!plain || row.offset <= 0 || row.offset % 8 != 0 || row.offset / 8 > 0xFFF) {
        return std::nullopt;
    }
    unsigned saved = 0;
    if (row.saved == Row::Saved::atCfa) {
        if (row.savedOffset % 8 != 0 || row.savedOffset > -16 || row.savedOffset < -56) {
            return std::nullopt;
        }
        saved = static_cast<unsigned>(-row.savedOffset / 8 - 1);
    } else if (row.saved != Row::Saved::same) {
        return std::nullopt;
    }
    const unsigned frame = row.base == Row::Base::frame ? 1 : 0;
    return static_cast<ShortRow>(static_cast<unsigned>(row.offset / 8) << 4U | saved << 1U | frame);
}

/// A row in one word, never 0, for the list of odd rows; nothing if its offsets are beyond 2^27.
[[nodiscard]] constexpr std::uint64_t packed(const Row& row) {
    constexpr std::int32_t most = 1 << 27;
    if (row.offset < -most || row.offset >= most || row.savedOffset < -most ||
        row.savedOffset >= most) {
        return packed(Row{});
    }
    const auto bits = [](std::int32_t number) {
        return static_cast<std::uint64_t>(static_cast<std::uint32_t>(number) & 0xFFF'FFFFU);
    };
    return std::uint64_t{1} << 63U | static_cast<std::uint64_t>(row.base) << 60U |
           static_cast<std::uint64_t>(row.saved) << 58U | bits(row.offset) << 28U |
           bits(row.savedOffset);
}

[[nodiscard]] constexpr Row unpacked(std::uint64_t word) {
    const auto number = [](std::uint64_t bits) {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(bits << 4U)) >> 4;
    };
    return {static_cast<Row::Base>(word >> 60U & 7U), static_cast<Row::Saved>(word >> 58U & 3U),
            number(word >> 28U & 0xFFF'FFFFU), number(word & 0xFFF'FFFFU)};
}

} // namespace heapwright::recorder::stacks
