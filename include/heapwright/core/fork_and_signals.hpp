// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The contract of a heap: fork and signals. These verbs make a heap quiescent while the process
// forks. They also let a signal handler avoid a lock that the interrupted request holds.
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

/// A heap or a lock that is held over a fork, and reports whether the calling thread holds
/// everything that `beforeFork` takes.
template <class H>
concept ReentryDetecting = requires(const H heap) {
    { heap.heldByThisThread() } -> std::same_as<bool>;
};

/// A heap that detects re-entry by the calling thread.
template <class H>
concept ReentryDetectingHeap = Heap<H> && ReentryDetecting<H>;

/// A body of any type in `AttemptingHeap`.
struct AnyAttempt {
    void operator()(auto& inside) const noexcept;
};

/// An attempting heap runs `body` on the heap inside its lock if the lock is free. Otherwise it
/// returns false.
template <class H>
concept AttemptingHeap = Heap<H> && requires(H heap, AnyAttempt body) {
    { heap.attempt(body) } -> std::same_as<bool>;
};

} // namespace heapwright
