// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The end of a thread: a function that runs in it as late as the system offers, and whether a
// thread of this process is over.
//
// POSIX calls the destructors of a thread's keys in rounds, as long as they set values anew. Ours
// does so until the last round, for the destructors of others may allocate and free in each of
// them; those of C++ (thread_local) ran before. Nothing here allocates as long as the key is among
// the first 32 of the process, which it is when it is asked for in an early malloc; later the C
// library allocates a table, once a thread, and whoever calls this must bear that.
//
// A thread may still free after all of them, and for the first time: one that nobody waits for
// clears the stacks away that others have left. Its end is not told any more.
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

/// The system's number of the calling thread: not 0, and another thread's once this one is over.
[[nodiscard]] inline std::uint32_t systemThread() noexcept {
    return static_cast<std::uint32_t>(::syscall(SYS_gettid));
}

/// Whether no thread of this process has such a number any more.
[[nodiscard]] inline bool systemThreadIsOver(std::uint32_t thread) noexcept {
    const ErrnoKeeper keeper;
    return ::syscall(SYS_tgkill, ::getpid(), static_cast<int>(thread), 0) != 0 && errno == ESRCH;
}

/// Whether the calling thread is past the destructors of its keys. From there on glibc (since 2.35)
/// lets no signal through, and not the one by which threads are cancelled either, which a program
/// cannot keep out through it. Where it makes a thread it does so for a moment, too.
[[nodiscard]] inline bool pastItsDestructors() noexcept {
    const ErrnoKeeper keeper;
    constexpr auto bit = [](unsigned signal) { return std::uint64_t{1} << (signal - 1); };
    constexpr std::uint64_t upToCancellation = UINT32_MAX; // which is the 32nd
    constexpr std::uint64_t all = upToCancellation & ~(bit(SIGKILL) | bit(SIGSTOP));
    std::uint64_t blocked = 0;
    return ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &blocked, sizeof blocked) == 0 &&
           (blocked & all) == all;
}

/// In which round of the destructors of a thread's keys its end is told. ThreadSanitizer forgets a
/// thread in the last one, and must not meet it again.
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

/// `Before` rounds earlier than the last one; so what others do in their last round finds it done.
template <void (*Function)() noexcept, unsigned Before = 0>
class AtThreadExit {
    static constexpr unsigned rounds = exitRound - Before;
    static_assert(rounds >= 1 && rounds <= exitRound);

public:
    /// Has `Function` called when the calling thread ends; false if that cannot be had. (A thread
    /// that asks in the second round of the destructors or later may end without it.)
    [[nodiscard]] static bool arrange() noexcept {
        const ErrnoKeeper keeper;
        pthread_key_t key = 0;
        return !pastItsDestructors() && hasKey(key) && ::pthread_setspecific(key, marks) == 0;
    }

private:
    /// The value of the key points to here, as many places on as rounds have been.
    static inline constinit char marks[rounds] = {};

    static void round(void* value) noexcept {
        char* const next = static_cast<char*>(value) + 1;
        pthread_key_t key = 0;
        if (next == marks + rounds || !hasKey(key) || ::pthread_setspecific(key, next) != 0) {
            Function();
        }
    }

    /// The key, made when it is first asked for.
    static bool hasKey(pthread_key_t& key) noexcept {
        std::uint64_t known = key_.load(std::memory_order_acquire);
        if (known == 0) [[unlikely]] {
            if (::pthread_key_create(&key, &round) != 0) {
                return false;
            }
            if (key_.compare_exchange_strong(known, std::uint64_t{key} + 1)) {
                return true;
            }
            ::pthread_key_delete(key); // another thread was faster
        }
        key = static_cast<pthread_key_t>(known - 1);
        return true;
    }

    static inline constinit std::atomic<std::uint64_t> key_{0}; ///< one more than the key
};

} // namespace heapwright::platform
