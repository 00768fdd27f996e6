// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The definitions shared by the encoder and the decoder of events: bits of the tags, lengths of
// fields, zigzag numbers, and the table of shapes. A shape is requested size, usable size and
// stack. Most allocations of a program share it with many others. The table keeps one shape for
// each hash. Both sides fill it in the same way, so that a known shape takes one byte in the file.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "trace/event.hpp"
#include "trace/layout.hpp"

namespace heapwright::trace::coding {

// The tag is the first byte of an event. It is never zero. A free of null has form 0 and no
// address, so it states the address length 1.
constexpr unsigned formFree = 0;
constexpr unsigned formMalloc = 1;
constexpr unsigned formNew = 2;
constexpr unsigned formOther = 3;
constexpr unsigned timeShift = 2;
constexpr unsigned addressShift = 4;
constexpr unsigned shapeShift = 6;
/// The kind of a free. It uses the bits that code the shape of an allocation.
constexpr unsigned freeNull = 0;
constexpr unsigned freePlain = 1;
constexpr unsigned freeDelete = 2;
constexpr unsigned freeDeleteSized = 3;
constexpr unsigned freeOther = 4; ///< any other free, which has `formOther`

// The second byte of the other form.
constexpr unsigned routineMask = 31;
constexpr unsigned unaligned = 32; ///< the address is not a multiple of `grain`
constexpr unsigned hasAlignmentField = 64;
constexpr unsigned far = 128; ///< with stacks: the address has 8 bytes

// The third byte, of a realloc.
constexpr unsigned oldShift = 2;
constexpr unsigned oldUnaligned = 16;
constexpr unsigned oldFar = 32;

// How the tag codes the shape of an allocation.
constexpr unsigned shapeKnown = 0;
constexpr unsigned shapeSmall = 1;
constexpr unsigned shapeMedium = 2;
constexpr unsigned shapeLarge = 3;
// The codes of a block with stacks.
constexpr unsigned shapeRemembered = 1; ///< u16, an index of the larger table
constexpr unsigned shapeNew = 2;        ///< a small shape in the short form below
constexpr unsigned shapeOther = 3;      ///< all fields in full
// The first byte of the short form. Bits 0 and 1 are the length of the stack number (0 means 4).
constexpr unsigned wideSize = 4;   ///< set if the size has two bytes, else it has one
constexpr unsigned extraShift = 3; ///< position of usable − size
constexpr unsigned extraByte = 31; ///< value of usable − size that says: it has its own byte
/// Value of usable − size for a usable size of 0: it is unknown, or the call failed.
constexpr std::uint64_t noneSmall = 0xFF;
constexpr std::uint64_t noneMedium = 0xFF'FFFF;

constexpr unsigned grain = 16; ///< unit in bytes of aligned addresses

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

/// The length in bytes of the shortest field for a value: 1, 2, 3 or 8.
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

/// The hash of a shape. Each table of shapes takes its index from the upper bits.
inline std::uint32_t shapeHash(std::uint32_t size, std::uint32_t stack) noexcept {
    return (size + stack * 0x9E37'79B1U) * 0x85EB'CA6BU;
}

class ShapeTable {
public:
    static constexpr std::size_t count = 256;

    static unsigned place(std::uint32_t size, std::uint32_t stack) noexcept {
        return shapeHash(size, stack) >> 24;
    }
    Shape& at(unsigned where) noexcept { return shapes_[where]; }
    void clear() noexcept { std::memset(shapes_, 0, sizeof shapes_); }

private:
    Shape shapes_[count];
};

/// Further tables that code events with stacks. The caller provides their memory. The larger table
/// of shapes has 2^`bits` places; the block's header states `bits`.
class StackTables {
public:
    static constexpr std::size_t addresses = 256;

    /// Limits the tables to about the size of the block.
    static constexpr unsigned bitsFor(unsigned sizeShift) noexcept {
        return sizeShift < 7 ? 9 + sizeShift : mostStackBits;
    }
    static constexpr std::size_t bytes(unsigned bits) noexcept {
        return (addresses + (std::size_t{1} << bits)) * sizeof(std::uint64_t);
    }

    void begin(void* memory, unsigned bits) noexcept {
        addresses_ = static_cast<std::uint64_t*>(memory);
        shapes_ = addresses_ + addresses;
        bits_ = bits;
        top_ = 0;
        std::memset(memory, 0, bytes(bits));
    }

    /// The index of an address. The table keeps the last address for each index.
    static unsigned addressPlace(std::uint64_t address) noexcept {
        return (static_cast<std::uint32_t>(address >> 4) * 0x85EB'CA6BU) >> 24;
    }
    /// The bytes are kept in reverse order. A tool that searches the program's memory for pointers
    /// to its blocks must not find these.
    std::uint64_t address(unsigned place) const noexcept {
        return __builtin_bswap64(addresses_[place]);
    }
    void remember(unsigned place, std::uint64_t address) noexcept {
        addresses_[place] = __builtin_bswap64(address);
    }

    /// A small shape as one word. `extra` is usable − size, or `noneSmall`.
    static std::uint64_t word(std::uint64_t size, std::uint64_t extra,
                              std::uint32_t stack) noexcept {
        return size | extra << 16 | std::uint64_t{stack} << 24;
    }
    static Shape shape(std::uint64_t word) noexcept {
        const auto size = static_cast<std::uint32_t>(word & 0xFFFF);
        const auto extra = static_cast<std::uint32_t>(word >> 16 & 0xFF);
        return {size, extra == noneSmall ? 0 : size + extra,
                static_cast<std::uint32_t>(word >> 24)};
    }
    unsigned shapePlace(std::uint32_t size, std::uint32_t stack) const noexcept {
        return shapeHash(size, stack) >> (32 - bits_);
    }
    /// `place` may be read from a damaged file, so it is reduced to the table.
    std::uint64_t& shapeAt(std::size_t place) noexcept {
        return shapes_[place & ((std::size_t{1} << bits_) - 1)];
    }

    /// The highest stack so far. New stacks are coded relative to it.
    std::uint32_t top() const noexcept { return top_; }
    void said(std::uint32_t stack) noexcept { top_ = stack > top_ ? stack : top_; }

private:
    std::uint64_t* addresses_;
    std::uint64_t* shapes_;
    unsigned bits_;
    std::uint32_t top_;
};

/// The distance from one stack's number to another's, small if they are near.
constexpr std::uint32_t zigzagStack(std::uint32_t from, std::uint32_t to) {
    const auto distance = static_cast<std::int32_t>(to - from);
    return static_cast<std::uint32_t>(distance) << 1 ^ static_cast<std::uint32_t>(distance >> 31);
}
constexpr std::uint32_t unzigzagStack(std::uint32_t from, std::uint32_t value) {
    return from + ((value >> 1) ^ (~(value & 1) + 1));
}

} // namespace heapwright::trace::coding
