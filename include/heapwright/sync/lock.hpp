// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The concept of a lock, and a guard.
#pragma once

#include <concepts>
#include <cstdint>

namespace heapwright {

/// A mutual-exclusion lock that can be made free in the child after a fork.
template <class L>
concept Lock = requires(L lock) {
    { lock.lock() } -> std::same_as<void>;
    { lock.tryLock() } -> std::same_as<bool>;
    { lock.unlock() } -> std::same_as<void>;
    { lock.reset() } -> std::same_as<void>;
    { lock.heldByThisThread() } -> std::same_as<bool>;
};

/// A lock that threads of several processes can share.
template <class L>
concept InterProcessLock = Lock<L> && requires { requires L::betweenProcesses; };

/// A lock that counts how often it was taken, and how often a thread waited for it.
template <class L>
concept CountingLock = Lock<L> && requires(L lock) {
    { lock.takes() } -> std::same_as<std::uint64_t>;
    { lock.waits() } -> std::same_as<std::uint64_t>;
};

/// Holds a lock over a scope.
template <Lock L>
class Guard {
public:
    explicit Guard(L& lock) noexcept : lock_(lock) { lock_.lock(); }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() { lock_.unlock(); }

private:
    L& lock_;
};

} // namespace heapwright
