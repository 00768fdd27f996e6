// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A lock that counts how often it was taken and how often a thread had to wait for it. Only the
// holder of the lock writes the counts, on a cache line that it has just fetched. The counts are
// exact for a reader that holds the lock.
//
// Cost: one addition for each acquisition, and one more attempt if the lock is not free.
#pragma once

#include <heapwright/sync/lock.hpp>

#include <cstdint>

namespace heapwright {

template <Lock Mutex>
class CountedLock {
public:
    static constexpr bool counted = true;
    static constexpr bool betweenProcesses = InterProcessLock<Mutex>;

    constexpr CountedLock() noexcept = default;
    CountedLock(const CountedLock&) = delete;
    CountedLock& operator=(const CountedLock&) = delete;
    ~CountedLock() = default;

    void lock() noexcept {
        if (!mutex_.tryLock()) [[unlikely]] {
            mutex_.lock();
            ++waits_;
        }
        ++takes_;
    }

    [[nodiscard]] bool tryLock() noexcept {
        const bool success = mutex_.tryLock();
        if (success) [[likely]] {
            ++takes_;
        }
        return success;
    }

    void unlock() noexcept { mutex_.unlock(); }
    void reset() noexcept { mutex_.reset(); }
    [[nodiscard]] bool heldByThisThread() const noexcept { return mutex_.heldByThisThread(); }

    /// Pre: the caller holds the lock, or no other thread uses it.
    [[nodiscard]] std::uint64_t takes() const noexcept { return takes_; }
    [[nodiscard]] std::uint64_t waits() const noexcept { return waits_; }

private:
    Mutex mutex_;
    std::uint64_t takes_ = 0;
    std::uint64_t waits_ = 0;
};

} // namespace heapwright
