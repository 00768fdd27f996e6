// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The verbs of the contract as values, for layers that count them or write them down.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace heapwright {

/// In the order of core/concepts.hpp. Both forms of `free` are one verb.
enum class Verb : std::uint8_t {
    malloc,
    free,
    getSize,
    clear,
    memalign,
    zalloc,
    resize,
    relocate,
    mallocHeld,
    memalignHeld,
    flush,
    trim,
};

inline constexpr std::size_t verbCount = 12;

/// The verb's position, for tables by verb.
[[nodiscard]] constexpr std::size_t indexOf(Verb verb) noexcept {
    return static_cast<std::size_t>(verb);
}

/// The verb as the contract spells it.
[[nodiscard]] constexpr std::string_view nameOf(Verb verb) noexcept {
    constexpr std::array<std::string_view, verbCount> names = {
        "malloc", "free",     "getSize",    "clear",        "memalign", "zalloc",
        "resize", "relocate", "mallocHeld", "memalignHeld", "flush",    "trim"};
    return names[indexOf(verb)];
}

} // namespace heapwright
