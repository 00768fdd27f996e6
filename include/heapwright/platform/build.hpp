// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The kind of build. An ordinary build has no macro. A counting build (-DHEAPWRIGHT_COUNT_EVENTS)
// counts what threads do to each other. In a scheduled build (-DHEAPWRIGHT_SCHEDULE) a scheduler of
// the tests runs the threads step by step.
//
// Invariant: these are the library's only configuration macros, and only this file reads them. All
// files of a program are compiled with the same one, or with none.
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

/// Whether the build has ThreadSanitizer, which reports plain loads that race, even harmless ones.
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

static_assert(!(countsEvents && scheduled), "a build counts or is scheduled, not both");

} // namespace heapwright::platform
