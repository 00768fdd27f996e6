// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A mutual-exclusion lock of one word: free, or who has taken it, and whether anybody sleeps. A
// short spin that backs off, then sleep in the kernel. It keeps errno, allocates nothing and needs
// no destruction.
//
// While the process has one thread, no atomic read-modify-write is done. That is safe across the
// start of a second thread: the word is still written, only with plain stores, and a thread cannot
// start others while it is inside the lock and at the same time be elsewhere; `unlock` looks
// afresh. What happens to it is told (`events.hpp`). From Drepper, "Futexes are tricky" (mutex 2).
// Cost uncontended: one exchange and one on unlock.
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/sync/events.hpp>

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
        note(Event::lockTaking, &word_);
        if (!attempt()) [[unlikely]] {
            lockSlowly();
        }
        note(Event::lockTaken, &word_);
    }

    /// Takes the lock if that needs no waiting.
    [[nodiscard]] bool tryLock() noexcept {
        note(Event::lockTrying, &word_);
        const bool success = attempt();
        if (success) {
            note(Event::lockTaken, &word_);
        }
        return success;
    }

    void unlock() noexcept {
        note(Event::lockFreeing, &word_);
        if (platform::singleThreaded()) {
            word_.store(free, std::memory_order_relaxed);
            return;
        }
        note(Event::lockAtomic, &word_);
        if ((word_.exchange(free, std::memory_order_release) & contended) != 0) [[unlikely]] {
            wake();
        }
    }

    /// Makes the lock free whoever held it: in the child after a fork, where nobody else is left.
    void reset() noexcept { word_.store(free, std::memory_order_relaxed); }

    /// Whether the calling thread has it. Pre: the process has more than one thread. The answer is
    /// right in a signal handler too, wherever that came: word and owner change in one step.
    [[nodiscard]] bool heldByThisThread() const noexcept {
        return (word_.load(std::memory_order_relaxed) & ~contended) == self();
    }

private:
    using Mark = platform::PerThread<FutexLock, std::uint32_t>;

    static constexpr std::uint32_t free = 0;
    static constexpr std::uint32_t contended = 1; ///< a bit: somebody sleeps, or did
    static constexpr std::uint32_t taken = 2;     ///< a bit: set unless it is free
    static constexpr int spins = 64;

    [[nodiscard]] bool attempt() noexcept {
        if (platform::singleThreaded() && word_.load(std::memory_order_relaxed) == free) {
            word_.store(taken, std::memory_order_relaxed);
            return true;
        }
        note(Event::lockAtomic, &word_);
        std::uint32_t expected = free;
        return word_.compare_exchange_strong(expected, self(), std::memory_order_acquire,
                                             std::memory_order_relaxed);
    }

    /// Out of line, as `lockSlowly` is: a system call would cost the fast path a stack frame.
    [[gnu::cold, gnu::noinline]] void wake() noexcept { platform::futexWakeOne(word_); }

    [[gnu::cold, gnu::noinline]] void lockSlowly() noexcept {
        note(Event::lockWaiting, &word_);
        for (int i = 1; i <= spins; i *= 2) {
            for (int j = 0; j < i; ++j) {
                platform::pauseBriefly();
            }
            if (word_.load(std::memory_order_relaxed) == free && attempt()) {
                return;
            }
        }
        for (;;) {
            std::uint32_t seen = word_.load(std::memory_order_relaxed);
            note(Event::lockAtomic, &word_);
            if (seen == free) {
                // Others may be asleep, so the mark goes with the lock.
                if (word_.compare_exchange_weak(seen, self() | contended, std::memory_order_acquire,
                                                std::memory_order_relaxed)) {
                    return;
                }
            } else if ((seen & contended) != 0 ||
                       word_.compare_exchange_weak(seen, seen | contended,
                                                   std::memory_order_relaxed)) {
                platform::futexWait(word_, seen | contended);
            }
        }
    }

    /// The thread as a number: where a variable of its own lies, in as many bits as the word has.
    static std::uint32_t self() noexcept {
        static_assert(alignof(std::uint32_t) > (taken | contended));
        return static_cast<std::uint32_t>(addressOf(&Mark::mine())) | taken;
    }

    std::atomic<std::uint32_t> word_{free};
};

} // namespace heapwright
