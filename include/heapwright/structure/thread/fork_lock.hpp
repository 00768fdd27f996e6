// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A lock that a fork can count as held although its holder waits for another lock further down.
//
// A signal handler that interrupted the holder of a lock may fork. Other threads may wait for that
// lock and hold locks of their own. The fork needs all locks, and would wait for ever. Therefore a
// holder reports when it may wait: between `goBelow` and `comeBack` it does not access what the
// lock protects, and leaves it consistent. A fork may then claim the lock as if it held it. The
// holder has to wait in `comeBack` until the fork is over. Meanwhile it must hold no lock taken
// below: `lockBelow` releases such a lock and takes it again. A fork skips the locks that its own
// thread holds, and leaves them as they are in parent and child.
//
// Invariant: `claimed_` is written by the thread that forks, one at a time. A claimed lock stays
// locked by its holder.
// Cost: none beside the lock without waiting, and two exchanges on the way down.
//
// Limit: two handlers that fork at once, each of which interrupted a holder, still wait for each
// other.
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

    // --- for the holder ---

    /// From now until `comeBack`, the protected data is consistent and not accessed.
    void goBelow() noexcept { below_.store(isBelow, std::memory_order_release); }

    /// True if no fork has claimed the lock. Otherwise the holder is still below.
    [[nodiscard]] bool mayComeBack() noexcept {
        std::uint32_t expected = isBelow;
        return below_.compare_exchange_strong(expected, isHere, std::memory_order_acquire,
                                              std::memory_order_relaxed);
    }

    /// Pre: the thread holds no lock that it took below.
    void comeBack() noexcept {
        while (!mayComeBack()) [[unlikely]] {
            platform::futexWait(below_, isClaimed);
        }
    }

    /// Takes a lock that is after this one in the lock order.
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

    // --- for the fork ---

    /// Holds the lock for the fork of a number other than 0, unless this thread has it already.
    /// Returns false if that fails for some time.
    [[nodiscard]] bool holdFor(std::uint32_t fork) noexcept {
        for (int attempt = 0; attempt < patience; ++attempt) {
            const bool own = !platform::singleThreaded() && lock_.heldByThisThread();
            if (own || below_.load(std::memory_order_relaxed) == isClaimed) {
                return true; // the interrupted request holds it, or an outer fork
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

    /// Releases what that fork holds, in the parent.
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

    /// Resets the lock in the child, where its holder does not exist.
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
    std::uint32_t fork_ = 0; ///< number of the fork that holds it
};

/// Holds a lock over a scope, below another lock.
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

/// The holder of a lock is below during this scope.
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
