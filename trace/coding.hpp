// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the encoder and the decoder of events agree on: the bits of the tags, the lengths of fields,
// zigzag numbers, and the table of shapes. A shape is what most allocations of a program share with
// many others: requested size, usable size and stack. The table keeps one shape for each hash; both
// sides fill it alike, so that a shape which was there is one byte in the file.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "trace/event.hpp"
#include "trace/layout.hpp"

namespace heapwright::trace::coding {

// The tag of an event. It is never zero: of frees, which have form 0, the one of null says
// length 1.
constexpr unsigned formFree = 0;
constexpr unsigned formMalloc = 1;
constexpr unsigned formNew = 2;
constexpr unsigned formOther = 3;
constexpr unsigned timeShift = 2;
constexpr unsigned addressShift = 4;
constexpr unsigned shapeShift = 6;
/// Which of the frees it is stands where allocations have the way of their shape.
constexpr unsigned freeNull = 0;
constexpr unsigned freePlain = 1;
constexpr unsigned freeDelete = 2;
constexpr unsigned freeDeleteSized = 3;
constexpr unsigned freeOther = 4; ///< none of these: another form

// The second byte of the other form.
constexpr unsigned routineMask = 31;
constexpr unsigned crooked = 32; ///< the address is not a multiple of 16
constexpr unsigned hasAlignmentField = 64;

// The third byte, of a realloc.
constexpr unsigned oldShift = 2;
constexpr unsigned oldCrooked = 16;

// How a shape is said.
constexpr unsigned shapeKnown = 0;
constexpr unsigned shapeSmall = 1;
constexpr unsigned shapeMedium = 2;
constexpr unsigned shapeLarge = 3;
/// In place of usable − size: the usable size is 0, which is not known, or the call failed.
constexpr std::uint64_t noneSmall = 0xFF;
constexpr std::uint64_t noneMedium = 0xFF'FFFF;

constexpr unsigned grain = 16; ///< addresses are counted in this where they are multiples of it

/// Bytes of a field by its code. The code is the length, modulo 4: 1, 2, 3, and 0 for 8.
constexpr unsigned lengthOf(unsigned code) {
    return code == 0 ? 8 : code;
}

namespace detail {
constexpr std::array<std::uint8_t, 64> makeLengths() {
    std::array<std::uint8_t, 64> lengths{};
    for (unsigned bit = 0; bit < 64; ++bit)
        lengths[bit] = static_cast<std::uint8_t>(bit < 8 ? 1 : bit < 16 ? 2 : bit < 24 ? 3 : 8);
    return lengths;
}
static constexpr std::array<std::uint8_t, 64> lengths = makeLengths();
} // namespace detail

/// The bytes that a value needs in a file.
inline std::size_t fieldLength(std::uint64_t value) noexcept {
    return detail::lengths[static_cast<unsigned>(std::bit_width(value | 1)) - 1];
}

constexpr std::uint64_t zigzag(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

constexpr std::int64_t unzigzag(std::uint64_t value) {
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
}

struct Shape {
    std::uint32_t size;
    std::uint32_t usable;
    std::uint32_t stack;
};

class ShapeTable {
public:
    static constexpr std::size_t count = 256;

    static unsigned place(std::uint32_t size, std::uint32_t stack) noexcept {
        return ((size + stack * 0x9E37'79B1U) * 0x85EB'CA6BU) >> 24;
    }
    Shape& at(unsigned where) noexcept { return shapes_[where]; }
    void clear() noexcept { std::memset(shapes_, 0, sizeof shapes_); }

private:
    Shape shapes_[count];
};

} // namespace heapwright::trace::coding
