// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What AddressSanitizer is told of memory that a heap holds: poisoned memory is nobody's, and who
// touches it is reported. It owns malloc, but of the pieces that a heap cuts from what it was given
// it knows only what the heap says. In a build without it both do nothing, and `poisons` is false,
// so that what would only be done for it is not compiled.
//
// Invariant: a heap unpoisons what it hands out, up and down, and before it reads what it kept.
#pragma once

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

/// Makes memory nobody's. Its start is 8-aligned.
inline void poison(void* memory, std::size_t size) noexcept {
    __asan_poison_memory_region(memory, size);
}

/// Makes memory somebody's, to the byte. Its start is 8-aligned.
inline void unpoison(void* memory, std::size_t size) noexcept {
    __asan_unpoison_memory_region(memory, size);
}

} // namespace heapwright::platform

#else

namespace heapwright::platform {

inline constexpr bool poisons = false;

inline void poison(void* /*memory*/, std::size_t /*size*/) noexcept {}
inline void unpoison(void* /*memory*/, std::size_t /*size*/) noexcept {}

} // namespace heapwright::platform

#endif
