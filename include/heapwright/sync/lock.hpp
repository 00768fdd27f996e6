// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What a layer needs of a lock.
#pragma once

#include <concepts>

namespace heapwright {

/// A lock keeps all but one out, and can be made free in the child after a fork.
template <class L>
concept Lock = requires(L lock) {
    { lock.lock() } -> std::same_as<void>;
    { lock.tryLock() } -> std::same_as<bool>;
    { lock.unlock() } -> std::same_as<void>;
    { lock.reset() } -> std::same_as<void>;
    { lock.heldByThisThread() } -> std::same_as<bool>;
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
