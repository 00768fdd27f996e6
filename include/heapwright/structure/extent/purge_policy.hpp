// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// When memory that is free goes back to the system, as a policy: after a delay that is fixed where
// a heap is composed, or one that the user sets while the program runs (granary_settings.hpp).
//
// Cost: a constant, or the load of a word.
#pragma once

#include <concepts>
#include <cstdint>

namespace heapwright {

/// Delays, in milliseconds, with a meaning of their own.
inline constexpr std::uint32_t purgeAtOnce = 0;
inline constexpr std::uint32_t purgeNever = UINT32_MAX;

/// A rule says how long free memory is kept, and whether the system is asked for huge pages.
template <class R>
concept PurgePolicy = requires {
    { R::returnDelay() } -> std::same_as<std::uint32_t>;
    { R::hugePages() } -> std::same_as<bool>;
};

/// A rule that is notified when the first memory begins to wait for its purge.
template <class R>
concept NotifiedPurgePolicy = PurgePolicy<R> && requires {
    { R::memoryWaits() } -> std::same_as<void>;
};

template <std::uint32_t Milliseconds>
struct PurgeAfter {
    [[nodiscard]] static constexpr std::uint32_t returnDelay() noexcept { return Milliseconds; }
    [[nodiscard]] static constexpr bool hugePages() noexcept { return false; }
};

} // namespace heapwright
