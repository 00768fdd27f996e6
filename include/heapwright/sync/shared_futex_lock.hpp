// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A lock for heaps in memory that several processes share. `FutexLock` does not work there. It
// omits atomic operations while its own process has one thread. Its sleepers can be woken only
// within the process, and a forked process has the same owner addresses.
//
// The word is 0, or the machine-wide number of the owner and a bit for sleeping waiters. A waiter
// checks now and then whether the owner still exists. If the owner died inside the lock, the
// protected data may be inconsistent. The waiter then aborts with `heapwright: lock(): the thread
// that held it has died`.
//
// A fork does not change the owner: the parent releases the lock, and the child waits for it.
// `reset` does nothing. Use it in shared memory only.
//
// Cost: one compare-and-swap and one exchange, if uncontended.
// Source: Drepper, "Futexes are tricky".
#pragma once

#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/process.hpp>
#include <heapwright/platform/thread.hpp>

#include <atomic>
#include <cstdint>

namespace heapwright {

class SharedFutexLock {
public:
    /// The lock excludes threads of all processes.
    static constexpr bool betweenProcesses = true;

    constexpr SharedFutexLock() noexcept = default;
    SharedFutexLock(const SharedFutexLock&) = delete;
    SharedFutexLock& operator=(const SharedFutexLock&) = delete;
    ~SharedFutexLock() = default;

    void lock() noexcept {
        if (!tryLock()) [[unlikely]] {
            lockSlowly();
        }
    }

    /// Takes the lock if it is free.
    [[nodiscard]] bool tryLock() noexcept {
        std::uint32_t expected = free;
        return word_.compare_exchange_strong(expected, platform::threadId(),
                                             std::memory_order_acquire, std::memory_order_relaxed);
    }

    void unlock() noexcept {
        if ((word_.exchange(free, std::memory_order_release) & contended) != 0) [[unlikely]] {
            wake();
        }
    }

    /// Does nothing: the child shares the parent's lock, and the parent releases it.
    void reset() noexcept {}

    /// Whether the calling thread holds the lock.
    [[nodiscard]] bool heldByThisThread() const noexcept {
        return (word_.load(std::memory_order_relaxed) & ~contended) == platform::threadId();
    }

private:
    static constexpr std::uint32_t free = 0;
    static constexpr std::uint32_t contended = 1U << 31U; ///< a bit: a thread sleeps, or did
    static constexpr int spins = 64;
    static constexpr unsigned patience = 200; ///< milliseconds between two checks of the owner

    [[gnu::cold, gnu::noinline]] void wake() noexcept { platform::sharedFutexWakeOne(word_); }

    [[gnu::cold, gnu::noinline]] void lockSlowly() noexcept {
        for (int i = 1; i <= spins; i *= 2) {
            for (int j = 0; j < i; ++j) {
                platform::pauseBriefly();
            }
            if (word_.load(std::memory_order_relaxed) == free && tryLock()) {
                return;
            }
        }
        for (;;) {
            std::uint32_t seen = word_.load(std::memory_order_relaxed);
            if (seen == free) {
                // Other threads may sleep, so the bit must be set with the lock.
                if (word_.compare_exchange_weak(seen, platform::threadId() | contended,
                                                std::memory_order_acquire,
                                                std::memory_order_relaxed)) {
                    return;
                }
            } else if ((seen & contended) != 0 ||
                       word_.compare_exchange_weak(seen, seen | contended,
                                                   std::memory_order_relaxed)) {
                platform::sharedFutexWait(word_, seen | contended, patience);
                abortIfDead(seen | contended);
            }
        }
    }

    /// Aborts if the word is unchanged and its owner no longer exists.
    void abortIfDead(std::uint32_t seen) const noexcept {
        if (word_.load(std::memory_order_relaxed) == seen &&
            platform::threadIsGone(seen & ~contended) &&
            word_.load(std::memory_order_relaxed) == seen) {
            platform::abortWithMessage("lock", "the thread that held it has died");
        }
    }

    std::atomic<std::uint32_t> word_{free};
};

} // namespace heapwright
