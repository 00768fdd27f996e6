// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A lock that a fork can count as held although its holder waits for another one further down.
//
// A signal handler may fork that interrupted who holds a lock. Others then wait for that one, with
// locks of their own in their hands, and the fork, which needs all, would wait for them for ever.
// So the holder says where he may have to wait: between `goBelow` and `comeBack` he does not touch
// what the lock protects, and leaves it whole. There a fork may claim the lock as if it held it;
// who comes back then has to wait until the fork is over, and may hold nothing meanwhile that was
// taken below: `lockBelow` lets such a lock go and takes it anew. What this thread holds itself a
// fork passes over and leaves as it is, on both sides.
//
// Invariants: `claimed_` is written by whose turn it is to fork, one thread at a time; a claimed
// lock stays locked by its holder. Cost where nothing waits: nothing beside the lock; on the way
// down two exchanges. Two handlers that fork at once, each having interrupted a holder, still wait
// for each other.
#pragma once

#include <heapwright/platform/thread.hpp>
#include <heapwright/sync/lock.hpp>

#include <atomic>
#include <cstdint>

namespace heapwright {

template <Lock Mutex>
class ForkLock {
public:
    constexpr ForkLock() noexcept = default;
    ForkLock(const ForkLock&) = delete;
    ForkLock& operator=(const ForkLock&) = delete;
    ~ForkLock() = default;

    void lock() noexcept { lock_.lock(); }
    [[nodiscard]] bool tryLock() noexcept { return lock_.tryLock(); }
    void unlock() noexcept { lock_.unlock(); }
    void reset() noexcept {
        below_.store(isHere, std::memory_order_relaxed);
        lock_.reset();
    }
    [[nodiscard]] bool heldByThisThread() const noexcept { return lock_.heldByThisThread(); }

    // --- the holder ---

    /// From here on what the lock protects is whole, and left alone until `comeBack`.
    void goBelow() noexcept { below_.store(isBelow, std::memory_order_release); }

    /// True if no fork had claimed the lock meanwhile; else the holder is still below.
    [[nodiscard]] bool mayComeBack() noexcept {
        std::uint32_t expected = isBelow;
        return below_.compare_exchange_strong(expected, isHere, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }

    /// Pre: nothing is held that was taken below.
    void comeBack() noexcept {
        while (!mayComeBack()) [[unlikely]] {
            platform::futexWait(below_, isClaimed);
        }
    }

    /// Takes a lock that stands after this one in the order of all.
    template <class Inner>
    void lockBelow(Inner& inner) noexcept {
        if (inner.tryLock()) [[likely]] {
            return;
        }
        goBelow();
        inner.lock();
        while (!mayComeBack()) {
            inner.unlock();
            platform::futexWait(below_, isClaimed);
            inner.lock();
        }
    }

    // --- the fork ---

    /// Holds the lock for the fork of a number other than 0, unless this thread has it already.
    /// False if that does not succeed in some time.
    [[nodiscard]] bool holdFor(std::uint32_t fork) noexcept {
        for (int attempt = 0; attempt < patience; ++attempt) {
            const bool own = !platform::singleThreaded() && lock_.heldByThisThread();
            if (own || below_.load(std::memory_order_relaxed) == isClaimed) {
                return true; // it is the interrupted request's, or an outer fork's
            }
            std::uint32_t expected = isBelow;
            if (lock_.tryLock() ||
                below_.compare_exchange_strong(expected, isClaimed, std::memory_order_acquire,
                                               std::memory_order_relaxed)) {
                fork_ = fork;
                return true;
            }
            platform::yieldProcessor();
        }
        return false;
    }

    /// Lets go what that fork holds, in the parent.
    void letGo(std::uint32_t fork) noexcept {
        if (fork_ != fork) {
            return;
        }
        fork_ = 0;
        if (below_.load(std::memory_order_relaxed) == isClaimed) {
            below_.store(isBelow, std::memory_order_release);
            platform::futexWakeOne(below_);
        } else {
            lock_.unlock();
        }
    }

    /// In the child, where whoever it was claimed from is gone.
    void letGoInChild(std::uint32_t fork) noexcept {
        if (fork_ == fork) {
            fork_ = 0;
            reset();
        }
    }

private:
    static constexpr int patience = 1000;
    static constexpr std::uint32_t isHere = 0;
    static constexpr std::uint32_t isBelow = 1;
    static constexpr std::uint32_t isClaimed = 2;

    Mutex lock_;
    std::atomic<std::uint32_t> below_{isHere};
    std::uint32_t fork_ = 0; ///< which fork holds it
};

/// Holds a lock over a scope that was taken below another.
template <class Outer, class Inner>
class GuardBelow {
public:
    GuardBelow(Outer& outer, Inner& inner) noexcept : inner_(inner) { outer.lockBelow(inner); }
    GuardBelow(const GuardBelow&) = delete;
    GuardBelow& operator=(const GuardBelow&) = delete;
    ~GuardBelow() { inner_.unlock(); }

private:
    Inner& inner_;
};

/// Over its scope the holder of a lock is below.
template <class Outer>
class GoneBelow {
public:
    explicit GoneBelow(Outer& outer) noexcept : outer_(outer) { outer_.goBelow(); }
    GoneBelow(const GoneBelow&) = delete;
    GoneBelow& operator=(const GoneBelow&) = delete;
    ~GoneBelow() { outer_.comeBack(); }

private:
    Outer& outer_;
};

} // namespace heapwright
