// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs a function in a thread at the latest moment that the system offers, and reports whether a
// thread of this process has ended.
//
// POSIX calls the destructors of a thread's keys in rounds, as long as they set values again. This
// destructor does so until the last round, because other destructors may allocate and free in each
// round. The C++ destructors (thread_local) run before.
//
// The key is normally among the first 32 of the process, because an early malloc creates it. Then
// nothing here allocates. A later key makes the C library allocate a table once per thread, and the
// caller must tolerate that.
//
// A thread may still free memory after all its destructors. An example is a detached thread that
// removes the stacks of other threads. No hook runs after that.
#pragma once

#include <heapwright/platform/errno_keeper.hpp>
#include <heapwright/platform/thread.hpp>

#include <atomic>
#include <climits>
#include <csignal>
#include <cstdint>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwright::platform {

/// The system's number of the calling thread. It is not 0. The system may reuse it after the thread
/// has ended.
[[nodiscard]] inline std::uint32_t systemThread() noexcept {
    return static_cast<std::uint32_t>(::syscall(SYS_gettid));
}

/// Whether no thread of this process has this number.
[[nodiscard]] inline bool systemThreadIsOver(std::uint32_t thread) noexcept {
    const ErrnoKeeper keeper;
    return ::syscall(SYS_tgkill, ::getpid(), static_cast<int>(thread), 0) != 0 && errno == ESRCH;
}

/// Whether the calling thread has passed the destructors of its keys. glibc (since 2.35) then
/// blocks all signals, including the cancellation signal, which a program cannot block through
/// glibc. glibc also does this for a moment when it creates a thread.
[[nodiscard]] inline bool pastItsDestructors() noexcept {
    const ErrnoKeeper keeper;
    constexpr auto bit = [](unsigned signal) { return std::uint64_t{1} << (signal - 1); };
    // Glibc's cancellation signal is the 32nd.
    constexpr std::uint64_t upToCancellation = UINT32_MAX;
    constexpr std::uint64_t all = upToCancellation & ~(bit(SIGKILL) | bit(SIGSTOP));
    std::uint64_t blocked = 0;
    return ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &blocked, sizeof blocked) == 0 &&
           (blocked & all) == all;
}

/// The round of the key destructors in which the function runs. ThreadSanitizer deletes its state
/// of a thread in the last round, so it must not see the thread after that.
#if defined(__SANITIZE_THREAD__)
inline constexpr unsigned exitRound = PTHREAD_DESTRUCTOR_ITERATIONS - 1;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
inline constexpr unsigned exitRound = PTHREAD_DESTRUCTOR_ITERATIONS - 1;
#else
inline constexpr unsigned exitRound = PTHREAD_DESTRUCTOR_ITERATIONS;
#endif
#else
inline constexpr unsigned exitRound = PTHREAD_DESTRUCTOR_ITERATIONS;
#endif

/// Runs `Function` at the end of each thread that registered for it. `Before` is the number of
/// rounds before the last one, so that destructors of the last round find the work done.
template <void (*Function)() noexcept, unsigned Before = 0>
class AtThreadExit {
    static constexpr unsigned rounds = exitRound - Before;
    static_assert(rounds >= 1 && rounds <= exitRound);

public:
    /// Registers `Function` for the end of the calling thread. Returns false if that is impossible.
    /// A thread that registers in the second round of the destructors or later may end without the
    /// call.
    [[nodiscard]] static bool arrange() noexcept {
        const ErrnoKeeper keeper;
        pthread_key_t key = 0;
        return !pastItsDestructors() && hasKey(key) && ::pthread_setspecific(key, marks) == 0;
    }

    /// Ends all registrations. A thread whose destructors run meanwhile may still call `Function`.
    /// One that registers meanwhile may create the key again.
    static void withdraw() noexcept {
        const std::uint64_t known = key_.exchange(0, std::memory_order_acq_rel);
        if (known != 0) {
            ::pthread_key_delete(static_cast<pthread_key_t>(known - 1));
        }
    }

private:
    /// The key's value points into this array. The index is the number of rounds that have passed.
    static inline constinit char marks[rounds] = {};

    static void round(void* value) noexcept {
        char* const next = static_cast<char*>(value) + 1;
        const std::uint64_t known = key_.load(std::memory_order_acquire); // 0: withdrawn
        if (next == marks + rounds || known == 0 ||
            ::pthread_setspecific(static_cast<pthread_key_t>(known - 1), next) != 0) {
            Function();
        }
    }

    /// Stores the key in `key`, and creates it on the first call.
    static bool hasKey(pthread_key_t& key) noexcept {
        std::uint64_t known = key_.load(std::memory_order_acquire);
        if (known == 0) [[unlikely]] {
            if (::pthread_key_create(&key, &round) != 0) {
                return false;
            }
            if (key_.compare_exchange_strong(known, std::uint64_t{key} + 1)) {
                return true;
            }
            ::pthread_key_delete(key); // another thread has created it
        }
        key = static_cast<pthread_key_t>(known - 1);
        return true;
    }

    /// One more than the key; 0 without a key.
    static inline constinit std::atomic<std::uint64_t> key_{0};
};

} // namespace heapwright::platform
