// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A lock for heaps that lie in memory of several processes. `FutexLock` is none: it leaves the
// atomic operations out while its own process has one thread, sleeps where only that can wake it,
// and tells its owner by an address that a forked process has too.
//
// The word is free, or the number of the thread that has it, which no other process has, and
// whether anybody sleeps. Who waits looks now and then whether the owner still exists. If it died
// inside, what it left half done cannot be mended, and rather than wait for ever the program is
// aborted: `heapwright: lock(): the thread that held it has died`.
// Over a fork it belongs to whom it belonged: the parent lets go of it, and the child, for which it
// is the same lock, waits (`reset` does nothing). So it is for shared memory only.
// Cost uncontended: one compare-and-swap and one exchange. From Drepper, "Futexes are tricky".
#pragma once

#include <heapwright/platform/abort.hpp>
#include <heapwright/platform/process.hpp>
#include <heapwright/platform/thread.hpp>

#include <atomic>
#include <cstdint>

namespace heapwright {

class SharedFutexLock {
public:
    /// It keeps one out whatever process it is of.
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

    /// Takes the lock if that needs no waiting.
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

    /// Nothing: the child's lock is the parent's, and its business.
    void reset() noexcept {}

    /// Whether the calling thread has it.
    [[nodiscard]] bool heldByThisThread() const noexcept {
        return (word_.load(std::memory_order_relaxed) & ~contended) == platform::threadId();
    }

private:
    static constexpr std::uint32_t free = 0;
    static constexpr std::uint32_t contended = 1U << 31U; ///< a bit: somebody sleeps, or did
    static constexpr int spins = 64;
    static constexpr unsigned patience = 200; ///< milliseconds from one look to the next

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
                // Others may be asleep, so the mark goes with the lock.
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

    /// Aborts if the word is still the same, and its owner no more.
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
