// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The contract of a dictionary: where freed objects wait, linked through their own memory, until a
// request takes one. `AdaptHeap` makes a freelist of any of them.
//
// What it must do:
//  - `insert(object, size)`: the object waits; its first `leastObject` bytes are the dictionary's
//    from now on. Those that are not `bySize` may ignore the size.
//  - `take(size)`: an object for a request of that size, no longer waiting, or null. Who is
//  `bySize`
//    gives only what is large enough; the others rely on all being alike. `take(0)` is null only
//    when nothing waits.
//  - `remove(object)`: that one no longer waits. It must have been waiting.
//  - `clear()`: forgets them all. `count()`: how many wait. Who is `bySize` also has `bytes()`, the
//    sum of their sizes.
//  - `full()`, if it has a bound: whether it takes no more. Nothing is inserted into a full one.
#pragma once

#include <concepts>
#include <cstddef>

namespace heapwright {

template <class D>
concept PlainDictionary = requires(D waiting, const D& still, void* object, std::size_t size) {
    { D::leastObject } -> std::convertible_to<std::size_t>;
    { D::bySize } -> std::convertible_to<bool>;
    { waiting.insert(object, size) } -> std::same_as<void>;
    { waiting.take(size) } -> std::same_as<void*>;
    { waiting.remove(object) } -> std::same_as<void>;
    { waiting.clear() } -> std::same_as<void>;
    { still.count() } -> std::same_as<std::size_t>;
};

/// One that compares sizes and so serves requests of any size.
template <class D>
concept SizedDictionary = PlainDictionary<D> && D::bySize && requires(const D& still) {
    { still.bytes() } -> std::same_as<std::size_t>;
};

template <class D>
concept Dictionary = SizedDictionary<D> || (PlainDictionary<D> && !D::bySize);

/// One that may be full.
template <class D>
concept BoundedDictionary = Dictionary<D> && requires(const D& still) {
    { still.full() } -> std::same_as<bool>;
};

} // namespace heapwright
