// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A mutual-exclusion lock of one word. The word is 0, or it holds the owner and a bit for sleeping
// waiters. A waiter spins for a short time with backoff, then sleeps in the kernel. The lock keeps
// errno, allocates nothing and needs no destructor. Unlike `std::mutex`, it tells a signal handler
// whether its thread holds it, and the child of a fork can reset it.
//
// While the process has one thread, the lock uses plain stores and no atomic read-modify-write.
// This stays safe when a second thread starts. The word is always written, and a thread cannot
// start another one while it is inside `lock` or `unlock`. `unlock` tests for other threads again.
//
// Cost: one compare-and-swap to lock and one exchange to unlock, if uncontended.
// Source: Drepper, "Futexes are tricky" (mutex 2).
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/platform/thread.hpp>
#include <heapwright/sync/events.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

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

    /// Takes the lock if it is free.
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

    /// Makes the lock free.
    /// Pre: the caller is the only thread, in the child after a fork.
    void reset() noexcept { word_.store(free, std::memory_order_relaxed); }

    /// Whether the calling thread holds the lock. The answer is also right in a signal handler,
    /// because word and owner change in one step.
    /// Pre: the process has more than one thread.
    [[nodiscard]] bool heldByThisThread() const noexcept {
        return (word_.load(std::memory_order_relaxed) & ~contended) == self();
    }

    /// Wakes one more waiter of the lock for which the calling thread waits; none if it waits for
    /// none. `unlock` wakes one waiter, and a signal handler may interrupt that one before it has
    /// the lock. A handler that waits for another thread calls this first.
    static void passWake() noexcept {
        if (Word* const awaited = Awaited::mine()) {
            platform::futexWakeOne(*awaited);
        }
    }

private:
    using Word = std::atomic<std::uint32_t>;
    using Awaited = platform::PerThread<FutexLock, Word*>; ///< of the lock that the thread awaits

    static constexpr std::uint32_t free = 0;
    static constexpr std::uint32_t contended = 1; ///< a bit: a thread sleeps, or did
    static constexpr std::uint32_t taken = 2;     ///< a bit: the lock is taken
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

    /// Out of line, as `lockSlowly` is, because a system call would add a stack frame to the fast
    /// path.
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
        const Waiting waiting(word_);
        for (;;) {
            std::uint32_t seen = word_.load(std::memory_order_relaxed);
            note(Event::lockAtomic, &word_);
            if (seen == free) {
                // Other threads may sleep, so the bit must be set with the lock.
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

    /// Notes the awaited lock. A handler that interrupts the wait may wait for another lock
    /// meanwhile.
    class Waiting {
    public:
        explicit Waiting(Word& word) noexcept : outer_(std::exchange(Awaited::mine(), &word)) {}
        Waiting(const Waiting&) = delete;
        Waiting& operator=(const Waiting&) = delete;
        ~Waiting() { Awaited::mine() = outer_; }

    private:
        Word* outer_;
    };

    /// The owner as a number: the address of a thread-local variable, cut to the size of the word.
    static std::uint32_t self() noexcept {
        static_assert(alignof(Word*) > (taken | contended));
        return static_cast<std::uint32_t>(addressOf(&Awaited::mine())) | taken;
    }

    Word word_{free};
};

} // namespace heapwright
