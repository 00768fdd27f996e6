// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Purge policies decide when free memory returns to the system, and whether the heap uses huge
// pages. `PurgeAfter<N>` is a delay fixed at compile time. GranarySettings
// (structure/settings/granary_settings.hpp) is a delay that the user sets while the program runs.
//
// Cost: a constant, or the load of a word.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace heapwright {

/// Special delays, in milliseconds.
inline constexpr std::uint32_t purgeAtOnce = 0;
inline constexpr std::uint32_t purgeNever = UINT32_MAX;

/// `returnDelay`: the time for which free memory is kept, in milliseconds. `hugePages`: whether
/// densely used memory requests huge pages.
template <class R>
concept PurgePolicy = requires {
    { R::returnDelay() } -> std::same_as<std::uint32_t>;
    { R::hugePages() } -> std::same_as<bool>;
};

/// A rule that is notified when memory begins to wait for its purge: whether it is the first, and
/// the bytes that wait now.
template <class R>
concept NotifiedPurgePolicy = PurgePolicy<R> && requires(bool first, std::size_t bytes) {
    { R::memoryWaits(first, bytes) } -> std::same_as<void>;
};

template <std::uint32_t Milliseconds>
struct PurgeAfter {
    [[nodiscard]] static constexpr std::uint32_t returnDelay() noexcept { return Milliseconds; }
    [[nodiscard]] static constexpr bool hugePages() noexcept { return false; }
};

} // namespace heapwright
