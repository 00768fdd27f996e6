// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Futex waits, and the number of times that a thread polls a word before it sleeps.
#pragma once

#include <atomic>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwright::replayer {

constexpr int spins = 200; ///< about as long as it takes to go to sleep and be woken

inline void pauseProcessor() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Sleeps until another thread wakes the sleepers of the word. Returns at once if the word is not
/// `expected`.
inline void sleepWhile(const void* word, std::uint32_t expected) {
    ::syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

inline void wakeAll(const void* word) {
    ::syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}

} // namespace heapwright::replayer
