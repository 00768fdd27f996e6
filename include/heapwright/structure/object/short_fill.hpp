// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Fills an object with one byte, and tests whether an object consists of one byte. For sizes of 16
// to 256 bytes, pairs of stores or loads of 16 bytes work inwards from both ends. They may overlap
// in the middle. Smaller sizes take one to three stores. Larger sizes go to the C library.
// Cost: 2, 4, 8 or 16 stores or loads, and at most four compares.
#pragma once

#include <heapwright/platform/rarely.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapwright {

class ShortFill {
    using Part = std::uint64_t __attribute__((vector_size(16)));
    static constexpr std::size_t part = sizeof(Part);

public:
    /// The largest size that needs no call of the C library.
    static constexpr std::size_t longest = 16 * part;

    [[gnu::always_inline]] static void fill(void* object, unsigned char byte,
                                            std::size_t size) noexcept {
        if (platform::rarely(!isShort(size))) {
            fillOther(object, byte, size);
        } else {
            fillParts(static_cast<std::byte*>(object), byte, size);
        }
    }

    /// As `fill`, without a call.
    /// Pre: the size is at most `longest`.
    [[gnu::always_inline]] static void fillShort(void* object, unsigned char byte,
                                                 std::size_t size) noexcept {
        auto* const first = static_cast<std::byte*>(object);
        if (size < part) {
            fillTiny(first, all(byte)[0], size);
        } else {
            fillParts(first, byte, size);
        }
    }

    /// Pre: the size is a multiple of 8, and not 0.
    [[nodiscard, gnu::always_inline]] static bool consistsOf(const void* object, unsigned char byte,
                                                             std::size_t size) noexcept {
        const Part value = all(byte);
        const auto* const first = static_cast<const std::byte*>(object);
        if (platform::rarely(!isShort(size))) {
            return otherConsistsOf(first, value[0], size);
        }
        Part other{};
        forEachPart(first, size, [&other, value](const std::byte* place) {
            Part seen{};
            std::memcpy(&seen, place, part);
            other |= seen ^ value;
        });
        return (other[0] | other[1]) == 0;
    }

private:
    static constexpr bool isShort(std::size_t size) noexcept {
        return size - part <= longest - part; // false also for less than a part
    }

    /// Runs `use` on parts that cover an object.
    /// Pre: the size is short.
    template <class Byte, class Use>
    [[gnu::always_inline]] static void forEachPart(Byte* first, std::size_t size,
                                                   Use use) noexcept {
        Byte* const last = first + size - part;
        use(first);
        use(last);
        if (size <= 2 * part) {
            return;
        }
        use(first + part);
        use(last - part);
        if (size <= 4 * part) {
            return;
        }
        use(first + 2 * part);
        use(first + 3 * part);
        use(last - 2 * part);
        use(last - 3 * part);
        if (size <= 8 * part) {
            return;
        }
        use(first + 4 * part);
        use(first + 5 * part);
        use(first + 6 * part);
        use(first + 7 * part);
        use(last - 4 * part);
        use(last - 5 * part);
        use(last - 6 * part);
        use(last - 7 * part);
    }

    [[gnu::always_inline]] static void fillParts(std::byte* first, unsigned char byte,
                                                 std::size_t size) noexcept {
        const Part value = all(byte);
        forEachPart(first, size, [value](std::byte* place) { std::memcpy(place, &value, part); });
    }
    // Out of line: the compiler would warn of lengths that it cannot exclude.
    [[gnu::noinline]] static void fillOther(void* object, unsigned char byte,
                                            std::size_t size) noexcept {
        if (size < part) {
            fillTiny(static_cast<std::byte*>(object), all(byte)[0], size);
        } else {
            std::memset(object, byte, size);
        }
    }
    /// Less than a part: stores that may overlap.
    [[gnu::always_inline]] static void fillTiny(std::byte* first, std::uint64_t word,
                                                std::size_t size) noexcept {
        constexpr std::size_t half = sizeof(std::uint32_t);
        if (size >= sizeof word) {
            std::memcpy(first, &word, sizeof word);
            std::memcpy(first + size - sizeof word, &word, sizeof word);
        } else if (size >= half) {
            std::memcpy(first, &word, half);
            std::memcpy(first + size - half, &word, half);
        } else if (size != 0) {
            const auto byte = static_cast<std::byte>(word & 0xFFU);
            first[0] = byte;
            first[size / 2] = byte;
            first[size - 1] = byte;
        }
    }
    [[gnu::noinline]] static bool otherConsistsOf(const std::byte* first, std::uint64_t value,
                                                  std::size_t size) noexcept {
        std::uint64_t start = 0;
        std::memcpy(&start, first, sizeof start);
        return start == value && std::memcmp(first, first + sizeof start, size - sizeof start) == 0;
    }
    static Part all(unsigned char byte) noexcept {
        const std::uint64_t word = 0x0101010101010101U * byte;
        return Part{word, word};
    }
};

} // namespace heapwright
