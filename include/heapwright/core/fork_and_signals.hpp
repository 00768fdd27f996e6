// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The contract of a heap: fork and signals. How a heap becomes quiescent while the process forks,
// and how a thread avoids a lock that it, or the request that its handler interrupted, holds.
#pragma once

#include <heapwright/core/concepts.hpp>

#include <concepts>

namespace heapwright {

/// A forkable heap can be made quiescent while the process forks, and released on both sides.
template <class H>
concept ForkableHeap = Heap<H> && requires(H heap) {
    { heap.beforeFork() } -> std::same_as<void>;
    { heap.afterForkInParent() } -> std::same_as<void>;
    { heap.afterForkInChild() } -> std::same_as<void>;
};

/// What is held over a fork, a heap or a lock, and knows whether the calling thread holds all that
/// `beforeFork` takes.
template <class H>
concept ReentryDetecting = requires(const H heap) {
    { heap.heldByThisThread() } -> std::same_as<bool>;
};

/// A heap that detects re-entry by the calling thread.
template <class H>
concept ReentryDetectingHeap = Heap<H> && ReentryDetecting<H>;

/// Stands for any body in `AttemptingHeap`.
struct AnyAttempt {
    void operator()(auto& inside) const noexcept;
};

/// An attempting heap runs `body` on the heap inside its lock if the lock is free; else it returns
/// false.
template <class H>
concept AttemptingHeap = Heap<H> && requires(H heap, AnyAttempt body) {
    { heap.attempt(body) } -> std::same_as<bool>;
};

} // namespace heapwright
