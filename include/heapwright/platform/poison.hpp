// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What AddressSanitizer is told of memory that a heap holds: poisoned memory is nobody's, and who
// touches it is reported. It owns malloc, but of the pieces that a heap cuts from what it was given
// it knows only what the heap says. In a build without it both do nothing, and `poisons` is false,
// so that what would only be done for it is not compiled.
//
// What is poisoned it keeps for each process apart. So memory that several processes see is never
// poisoned: one of them would not know what another has unpoisoned.
// Invariant: a heap unpoisons what it hands out, up and down, and before it reads what it kept.
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

/// Memory that is shared; of size 0: none. There is room for a few.
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

/// From here on nothing of this range is poisoned, since other processes see it.
inline void beginSharing(const void* memory, std::size_t size) noexcept {
    for (detail::SharedRange& range : detail::sharedRanges) {
        Address expected = 0;
        if (range.start.compare_exchange_strong(expected, addressOf(memory))) {
            range.bytes.store(size);
            return;
        }
    }
}

/// The range that starts here is not shared any more.
inline void endSharing(const void* memory) noexcept {
    for (detail::SharedRange& range : detail::sharedRanges) {
        if (range.start.load() == addressOf(memory)) {
            range.bytes.store(0);
            range.start.store(0);
        }
    }
}

/// Makes memory nobody's, unless it is shared. Its start is 8-aligned.
inline void poison(void* memory, std::size_t size) noexcept {
    if (!detail::isShared(memory)) {
        __asan_poison_memory_region(memory, size);
    }
}

/// Makes memory somebody's, to the byte. Its start is 8-aligned.
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
