// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Addresses as numbers, and the operations on them that a heap needs. Every cast between a pointer
// and a number in the library is in this file.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwright {

/// The alignment that the C library guarantees for any object. Every composition gives at least
/// this alignment.
inline constexpr std::size_t minAlignment = 16;

inline constexpr std::size_t KiB = 1024;
inline constexpr std::size_t MiB = 1024 * KiB;
inline constexpr std::size_t GiB = 1024 * MiB;

using Address = std::uintptr_t;

[[nodiscard]] inline Address addressOf(const void* pointer) noexcept {
    return reinterpret_cast<Address>(pointer);
}

[[nodiscard]] inline void* pointerTo(Address address) noexcept {
    return reinterpret_cast<void*>(address); // NOLINT(performance-no-int-to-ptr)
}

/// The pointer `bytes` further on.
[[nodiscard]] inline void* forward(void* pointer, std::size_t bytes) noexcept {
    return static_cast<std::byte*>(pointer) + bytes;
}

/// The pointer `bytes` further back.
[[nodiscard]] inline void* backward(void* pointer, std::size_t bytes) noexcept {
    return static_cast<std::byte*>(pointer) - bytes;
}

/// Rounds `value` up to a multiple of `unit`. Wraps to 0 on overflow.
/// Pre: `unit` is a power of two.
[[nodiscard]] constexpr std::size_t roundUp(std::size_t value, std::size_t unit) noexcept {
    return (value + unit - 1) & ~(unit - 1);
}

/// Rounds `value` down to a multiple of `unit`.
/// Pre: `unit` is a power of two.
[[nodiscard]] constexpr std::size_t roundDown(std::size_t value, std::size_t unit) noexcept {
    return value & ~(unit - 1);
}

/// Returns the least number that is not below `value` and leaves `phase` modulo `unit`.
/// Pre: `unit` is a power of two.
[[nodiscard]] constexpr std::size_t roundUpToPhase(std::size_t value, std::size_t unit,
                                                   std::size_t phase) noexcept {
    return value + ((phase - value) & (unit - 1));
}

/// The position of the highest set bit.
/// Pre: `value` is not 0. (`std::bit_width` would test for 0.)
[[nodiscard]] constexpr std::size_t floorLog2(std::size_t value) noexcept {
    return 63U ^ static_cast<unsigned>(__builtin_clzll(value));
}

} // namespace heapwright
