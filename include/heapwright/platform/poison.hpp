// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Reports to AddressSanitizer which memory of a heap is in use. An access to poisoned memory is
// reported as an error. AddressSanitizer replaces malloc, but it does not know how a heap divides
// its memory. In a build without it, both functions do nothing, and `poisons` is false, so that
// code that only serves poisoning is not compiled.
//
// AddressSanitizer keeps its state per process. Memory that several processes share is therefore
// never poisoned, because one process would not see that another has unpoisoned it.
// Invariant: a heap unpoisons memory before it returns it to a caller or to the heap below, and
// before it reads memory that it keeps.
#pragma once

#include <heapwright/core/address.hpp>

#include <array>
#include <atomic>
#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define HEAPWRIGHT_UNDER_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEAPWRIGHT_UNDER_ASAN 1
#endif
#endif

#ifdef HEAPWRIGHT_UNDER_ASAN
#undef HEAPWRIGHT_UNDER_ASAN

#include <sanitizer/asan_interface.h>

namespace heapwright::platform {

inline constexpr bool poisons = true;

namespace detail {

/// A range of shared memory; of size 0 if the entry is free.
struct SharedRange {
    std::atomic<Address> start{0};
    std::atomic<std::size_t> bytes{0};
};
inline constinit std::array<SharedRange, 64> sharedRanges{};

[[nodiscard]] inline bool isShared(const void* memory) noexcept {
    for (const SharedRange& range : sharedRanges) {
        if (addressOf(memory) - range.start.load() < range.bytes.load()) {
            return true;
        }
    }
    return false;
}

} // namespace detail

/// Stops poisoning in this range, because other processes see it.
inline void beginSharing(const void* memory, std::size_t size) noexcept {
    for (detail::SharedRange& range : detail::sharedRanges) {
        Address expected = 0;
        if (range.start.compare_exchange_strong(expected, addressOf(memory))) {
            range.bytes.store(size);
            return;
        }
    }
}

/// Ends the sharing of the range that starts here.
inline void endSharing(const void* memory) noexcept {
    for (detail::SharedRange& range : detail::sharedRanges) {
        if (range.start.load() == addressOf(memory)) {
            range.bytes.store(0);
            range.start.store(0);
        }
    }
}

/// Poisons memory unless it is shared.
/// Pre: its start is 8-aligned.
inline void poison(void* memory, std::size_t size) noexcept {
    if (!detail::isShared(memory)) {
        __asan_poison_memory_region(memory, size);
    }
}

/// Unpoisons exactly `size` bytes.
/// Pre: the start is 8-aligned.
inline void unpoison(void* memory, std::size_t size) noexcept {
    __asan_unpoison_memory_region(memory, size);
}

} // namespace heapwright::platform

#else

namespace heapwright::platform {

inline constexpr bool poisons = false;

inline void beginSharing(const void* /*memory*/, std::size_t /*size*/) noexcept {}
inline void endSharing(const void* /*memory*/) noexcept {}
inline void poison(void* /*memory*/, std::size_t /*size*/) noexcept {}
inline void unpoison(void* /*memory*/, std::size_t /*size*/) noexcept {}

} // namespace heapwright::platform

#endif
