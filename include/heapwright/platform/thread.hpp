// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads, as the heaps need them. The functions report whether there is more than one, sleep until
// a word changes, give each thread a unique number, and declare thread-local variables. All
// functions keep errno. None allocates. In a scheduled build, the scheduler of the test defines the
// threads.
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
#if defined(HEAPWRIGHT_OLD_GLIBC)
// A wheel finds __libc_single_threaded when it is loaded: an old glibc lacks it (packaging/wheel/).
extern "C" [[gnu::visibility("hidden")]] const char* heapwright_single_threaded;
#endif

namespace heapwright::platform {

/// True only while no other thread exists. False may also mean that the C library does not report
/// it.
[[nodiscard]] inline bool singleThreaded() noexcept {
    if constexpr (scheduled) {
        return false;
    }
#if defined(HEAPWRIGHT_OLD_GLIBC)
    return *heapwright_single_threaded != 0;
#elif __has_include(<sys/single_threaded.h>)
    return __libc_single_threaded != 0;
#else
    return false;
#endif
}

/// Sleeps while `word` is `expected`, until another thread wakes it. It may also return without a
/// reason.
inline void futexWait(std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept {
    const ErrnoKeeper keeper;
    ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

/// Wakes one thread that sleeps on `word`.
inline void futexWakeOne(std::atomic<std::uint32_t>& word) noexcept {
    const ErrnoKeeper keeper;
    ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

/// Hints to the processor that this thread spins.
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

/// A thread of a scheduled build. `place` is one of a few reused places. `life` grows from run to
/// run and is never 0. `number` is the number of the thread in its run.
struct ScheduledThread {
    static constexpr std::size_t most = 16;
    std::size_t place;
    std::uint64_t life;
    std::uint32_t number;
};

/// The running thread. The scheduler defines this function.
ScheduledThread scheduledThread() noexcept;

/// One variable of type `T` per thread and `Owner`, initially zero. It uses the initial-exec model:
/// no call and no allocation. It is usable in a signal handler and before any constructor runs.
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
#if defined(__SANITIZE_ADDRESS__) || defined(HEAPWRIGHT_LATE_LIBRARY)
    // The compiler's model: g++ would treat the address as null in a checked reference. A library
    // that dlopen loads, whose heap is not malloc, may find no room for the other model.
    static inline constinit thread_local T value_{};
#else
    [[gnu::tls_model("initial-exec")]] static inline constinit thread_local T value_{};
#endif
    static inline constinit std::array<Scheduled, ScheduledThread::most> each_{};
};

/// The number of the calling thread: 0, 1, 2 … in the order of the first calls, never reused. A
/// signal handler that interrupts the very first call of its thread may take a number that is then
/// skipped.
/// Cost: a load and a compare.
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
