// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// At most `Most` batches of objects that all threads share. A whole batch is added or removed in
// constant time under a lock, and its objects are not accessed. A depot has cache lines of its own,
// so that depots of different size classes do not disturb each other.
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/structure/object/object_chain.hpp>
#include <heapwright/sync/futex_lock.hpp>
#include <heapwright/sync/lock.hpp>

#include <array>
#include <cstddef>

namespace heapwright {

template <std::size_t Most>
class alignas(64) BatchDepot {
    static_assert(Most >= 1);

public:
    constexpr BatchDepot() noexcept = default;
    BatchDepot(const BatchDepot&) = delete;
    BatchDepot& operator=(const BatchDepot&) = delete;
    ~BatchDepot() = default;

    /// False if the depot is full.
    [[nodiscard]] bool put(ObjectLink* batch) noexcept {
        const Guard<FutexLock> hold(lock_);
        if (count_ == Most) {
            return false;
        }
        batches_[count_++] = batch;
        return true;
    }

    /// The newest batch, or null.
    [[nodiscard]] ObjectLink* take() noexcept {
        const Guard<FutexLock> hold(lock_);
        return count_ == 0 ? nullptr : batches_[--count_];
    }

    [[nodiscard]] std::size_t count() noexcept {
        const Guard<FutexLock> hold(lock_);
        return count_;
    }

    void beforeFork() noexcept { lock_.lock(); }
    void afterForkInParent() noexcept { lock_.unlock(); }
    void afterForkInChild() noexcept { lock_.reset(); }
    [[nodiscard]] bool heldByThisThread() const noexcept { return lock_.heldByThisThread(); }

private:
    FutexLock lock_;
    std::size_t count_ = 0;
    std::array<ObjectLink*, Most> batches_{};
};

} // namespace heapwright
