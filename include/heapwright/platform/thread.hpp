// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the heaps need to know of threads: whether there is more than one, how to sleep until a word
// changes, a variable that each thread has for itself, and a number that tells a thread from most
// others. All keep errno, none allocates.
#pragma once

#include <heapwright/platform/errno_keeper.hpp>

#include <atomic>
#include <cstdint>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace heapwright::platform {

/// True only while no other thread exists; false may also mean that nobody knows.
[[nodiscard]] inline bool singleThreaded() noexcept {
#if __has_include(<sys/single_threaded.h>)
    return __libc_single_threaded != 0;
#else
    return false;
#endif
}

/// Sleeps while `word` is `expected`, until woken. It may also return for no reason.
inline void futexWait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    const ErrnoKeeper keeper;
    ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

/// Wakes one thread that sleeps on `word`.
inline void futexWakeOne(std::atomic<std::uint32_t>& word) noexcept {
    const ErrnoKeeper keeper;
    ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

/// Tells the processor that this thread spins.
inline void pauseBriefly() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield" ::: "memory");
#endif
}

/// One variable of type `T` per thread and `Owner`, zero at first, in the initial-exec model: no
/// call, no allocation, usable in a signal handler and before any constructor has run.
template <class Owner, class T>
struct PerThread {
    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local T value{};
};

/// The number of the calling thread: 0, 1, 2 … in the order in which threads first ask, never given
/// to another. Cost: a load and a compare. (A signal handler that interrupts the very first call of
/// its thread may take a number that is then passed over.)
[[nodiscard]] inline std::uint32_t threadNumber() noexcept {
    struct Asked {};
    using Mine = PerThread<Asked, std::uint32_t>;
    static constinit std::atomic<std::uint32_t> asked{0};
    if (Mine::value == 0) [[unlikely]] {
        Mine::value = asked.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    return Mine::value - 1;
}

} // namespace heapwright::platform
