// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A mutual-exclusion lock of one word: free, taken, or taken with sleepers. A short spin that backs
// off, then sleep in the kernel. It keeps errno, allocates nothing and needs no destruction.
//
// While the process has one thread, no atomic read-modify-write is done. That is safe across the
// start of a second thread: the word is still written, only with plain stores, and a thread cannot
// start others while it is inside the lock and at the same time be elsewhere; `unlock` looks
// afresh. From Drepper, "Futexes are tricky" (mutex 2). Cost uncontended: one exchange and one on
// unlock.
#pragma once

#include <heapwright/platform/thread.hpp>

#include <atomic>
#include <cstdint>

namespace heapwright {

class FutexLock {
public:
    constexpr FutexLock() noexcept = default;
    FutexLock(const FutexLock&) = delete;
    FutexLock& operator=(const FutexLock&) = delete;
    ~FutexLock() = default;

    void lock() noexcept {
        if (!tryLock()) [[unlikely]] {
            lockSlowly();
        }
    }

    /// Takes the lock if that needs no waiting.
    [[nodiscard]] bool tryLock() noexcept {
        if (platform::singleThreaded() && word_.load(std::memory_order_relaxed) == free) {
            word_.store(taken, std::memory_order_relaxed);
            return true;
        }
        std::uint32_t expected = free;
        return word_.compare_exchange_strong(expected, taken, std::memory_order_acquire,
                                             std::memory_order_relaxed);
    }

    void unlock() noexcept {
        if (platform::singleThreaded()) {
            word_.store(free, std::memory_order_relaxed);
            return;
        }
        if (word_.exchange(free, std::memory_order_release) == contended) [[unlikely]] {
            wake();
        }
    }

    /// Makes the lock free whoever held it: in the child after a fork, where nobody else is left.
    void reset() noexcept { word_.store(free, std::memory_order_relaxed); }

private:
    static constexpr std::uint32_t free = 0;
    static constexpr std::uint32_t taken = 1;
    static constexpr std::uint32_t contended = 2;
    static constexpr int spins = 64;

    /// Out of line, as `lockSlowly` is: a system call would cost the fast path a stack frame.
    [[gnu::cold, gnu::noinline]] void wake() noexcept { platform::futexWakeOne(word_); }

    [[gnu::cold, gnu::noinline]] void lockSlowly() noexcept {
        for (int i = 1; i <= spins; i *= 2) {
            for (int j = 0; j < i; ++j) {
                platform::pauseBriefly();
            }
            if (word_.load(std::memory_order_relaxed) == free && tryLock()) {
                return;
            }
        }
        while (word_.exchange(contended, std::memory_order_acquire) != free) {
            platform::futexWait(word_, contended);
        }
    }

    std::atomic<std::uint32_t> word_{free};
};

} // namespace heapwright
