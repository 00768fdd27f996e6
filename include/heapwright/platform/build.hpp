// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What this build is for: ordinary use; counting what threads do to each other
// (-DHEAPWRIGHT_COUNT_EVENTS); or being driven step by step by a scheduler of the tests
// (-DHEAPWRIGHT_SCHEDULE). These are the only two macros there are, and this is the only place that
// looks at them; a program is built with one of them throughout, or with none.
#pragma once

namespace heapwright::platform {

#if defined(HEAPWRIGHT_COUNT_EVENTS)
inline constexpr bool countsEvents = true;
#else
inline constexpr bool countsEvents = false;
#endif

#if defined(HEAPWRIGHT_SCHEDULE)
inline constexpr bool scheduled = true;
#else
inline constexpr bool scheduled = false;
#endif

/// Whether ThreadSanitizer watches, which wants to be told of each load that needs no lock.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool watchesThreads = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr bool watchesThreads = true;
#else
inline constexpr bool watchesThreads = false;
#endif
#else
inline constexpr bool watchesThreads = false;
#endif

static_assert(!(countsEvents && scheduled), "a build counts or is driven, not both");

} // namespace heapwright::platform
