// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What a heap must offer to stand in for malloc: the whole set of verbs under the C rules, and to
// be there before any constructor runs. `ANSIWrapper` at the top of a composition gives the verbs.
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>

#include <cstddef>
#include <type_traits>

namespace heapwright::preload {

/// A complete allocator answers all that the entry points ask.
template <class A>
concept CompleteAllocator =
    SizedHeap<A> && AlignedHeap<A> && TrimmableHeap<A> && MeasurableHeap<A> && ForkableHeap<A> &&
    std::is_nothrow_default_constructible_v<A> &&
    requires(A allocator, void* object, std::size_t size) {
        { allocator.calloc(size, size) } -> std::same_as<void*>;
        { allocator.realloc(object, size) } -> std::same_as<void*>;
    };

} // namespace heapwright::preload
