// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Fills an object with one byte, and tests whether an object consists of one byte. For sizes of 16
// to 128 bytes, pairs of stores or loads of 16 bytes work inwards from both ends. They may overlap
// in the middle. Other sizes go to the C library, whose call costs more than that work.
// Cost: 2, 4 or 8 stores or loads, and at most three compares.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heapwright {

class ShortFill {
    using Part = std::uint64_t __attribute__((vector_size(16)));
    static constexpr std::size_t part = sizeof(Part);
    static constexpr std::size_t longest = 8 * part;

public:
    [[gnu::always_inline]] static void fill(void* object, unsigned char byte,
                                            std::size_t size) noexcept {
        if (!isShort(size)) {
            fillOther(object, byte, size);
            return;
        }
        const Part value = all(byte);
        auto* const first = static_cast<std::byte*>(object);
        std::byte* const last = first + size - part;
        store(first, value);
        store(last, value);
        if (size > 2 * part) {
            store(first + part, value);
            store(last - part, value);
            if (size > 4 * part) {
                store(first + 2 * part, value);
                store(first + 3 * part, value);
                store(last - 2 * part, value);
                store(last - 3 * part, value);
            }
        }
    }

    /// Pre: the size is a multiple of 8, and not 0.
    [[nodiscard, gnu::always_inline]] static bool consistsOf(const void* object, unsigned char byte,
                                                             std::size_t size) noexcept {
        const Part value = all(byte);
        const auto* const first = static_cast<const std::byte*>(object);
        if (!isShort(size)) {
            return otherConsistsOf(first, value[0], size);
        }
        const std::byte* const last = first + size - part;
        Part other = differs(first, value) | differs(last, value);
        if (size > 2 * part) {
            other |= differs(first + part, value) | differs(last - part, value);
            if (size > 4 * part) {
                other |= differs(first + 2 * part, value) | differs(first + 3 * part, value) |
                         differs(last - 2 * part, value) | differs(last - 3 * part, value);
            }
        }
        return (other[0] | other[1]) == 0;
    }

private:
    static constexpr bool isShort(std::size_t size) noexcept {
        return size - part <= longest - part; // false also for less than a part
    }
    // Out of line: the compiler would warn of lengths that it cannot exclude.
    [[gnu::noinline]] static void fillOther(void* object, unsigned char byte,
                                            std::size_t size) noexcept {
        std::memset(object, byte, size);
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
    static void store(std::byte* place, Part value) noexcept { std::memcpy(place, &value, part); }
    static Part differs(const std::byte* place, Part value) noexcept {
        Part seen{};
        std::memcpy(&seen, place, part);
        return seen ^ value;
    }
};

} // namespace heapwright
