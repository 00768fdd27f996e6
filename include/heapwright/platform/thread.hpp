// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What the heaps need to know of threads: whether there is more than one, how to sleep until a word
// changes, a variable that each thread has for itself, and a number that tells a thread from all
// others. All keep errno, none allocates. In a scheduled build a thread is what the scheduler of
// the test says it is.
#pragma once

#include <heapwright/platform/build.hpp>
#include <heapwright/platform/errno_keeper.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#endif

namespace heapwright::platform {

/// True only while no other thread exists; false may also mean that nobody knows.
[[nodiscard]] inline bool singleThreaded() noexcept {
    if constexpr (scheduled) {
        return false;
    }
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

/// Lets other threads run first.
inline void yieldProcessor() noexcept {
    const ErrnoKeeper keeper;
    ::sched_yield();
}

/// A thread of a scheduled build: one of few places, a number that grows from run to run and is
/// never 0, and the number that the thread has in its run.
struct ScheduledThread {
    static constexpr std::size_t most = 16;
    std::size_t place;
    std::uint64_t life;
    std::uint32_t number;
};

/// Defined by the scheduler: the one that runs.
ScheduledThread scheduledThread() noexcept;

/// One variable of type `T` per thread and `Owner`, zero at first, in the initial-exec model: no
/// call, no allocation, usable in a signal handler and before any constructor has run.
template <class Owner, class T>
struct PerThread {
    [[nodiscard]] static T& mine() noexcept {
        if constexpr (scheduled) {
            const ScheduledThread thread = scheduledThread();
            Scheduled& here = each_[thread.place];
            if (here.life != thread.life) {
                here = {thread.life, T{}};
            }
            return here.value;
        } else {
            return value_;
        }
    }

private:
    struct Scheduled {
        std::uint64_t life = 0;
        T value{};
    };
#if defined(__SANITIZE_ADDRESS__)
    // g++ would take it for null where a reference to it is checked; nothing of this is preloaded.
    static inline constinit thread_local T value_{};
#else
    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local T value_{};
#endif
    static inline constinit std::array<Scheduled, ScheduledThread::most> each_{};
};

/// The number of the calling thread: 0, 1, 2 … in the order in which threads first ask, never given
/// to another. Cost: a load and a compare. (A signal handler that interrupts the very first call of
/// its thread may take a number that is then passed over.)
[[nodiscard]] inline std::uint32_t threadNumber() noexcept {
    if constexpr (scheduled) {
        return scheduledThread().number;
    }
    struct Asked {};
    using Mine = PerThread<Asked, std::uint32_t>;
    static constinit std::atomic<std::uint32_t> asked{0};
    if (Mine::mine() == 0) [[unlikely]] {
        Mine::mine() = asked.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    return Mine::mine() - 1;
}

} // namespace heapwright::platform
