// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The concept of a heap that can replace malloc. It has the whole set of verbs with the rules of C.
// It has constant initialisation, so that it exists before any constructor runs. `ANSIWrapper` at
// the top of a composition provides the verbs.
#pragma once

#include <heapwright/core/bulk.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/fork_and_signals.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/requests.hpp>

#include <cstddef>
#include <type_traits>

namespace heapwright::preload {

/// A complete allocator has all verbs that the entry points call.
template <class A>
concept CompleteAllocator =
    SizedHeap<A> && AlignedHeap<A> && TrimmableHeap<A> && MeasurableHeap<A> && ForkableHeap<A> &&
    std::is_nothrow_default_constructible_v<A> &&
    requires(A allocator, void* object, std::size_t size) {
        { allocator.calloc(size, size) } -> std::same_as<void*>;
        { allocator.realloc(object, size) } -> std::same_as<void*>;
    };

} // namespace heapwright::preload
