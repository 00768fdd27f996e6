// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The contract of a dictionary. It keeps freed objects, linked through their own memory, until a
// request takes one. `AdaptHeap` makes a free list of any dictionary.
//
//  - `insert(object, size)`: adds the object, whose first `leastObject` bytes then belong to the
//    dictionary. A dictionary that is not `bySize` may ignore the size.
//  - `take(size)`: removes and returns an object for a request of that size, or null. A `bySize`
//    dictionary returns only an object that is large enough. Others rely on equal objects.
//    `take(0)` is null only if the dictionary is empty.
//  - `remove(object)`: removes this object. Pre: it is in the dictionary.
//  - `clear()`: removes all objects. `count()`: their number. A `bySize` dictionary also has
//    `bytes()`, the sum of their sizes.
//  - `full()`, if it is bounded: whether it takes no more. Pre of `insert`: it is not full.
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

/// A dictionary that compares sizes and so serves requests of any size.
template <class D>
concept SizedDictionary = PlainDictionary<D> && D::bySize && requires(const D& still) {
    { still.bytes() } -> std::same_as<std::size_t>;
};

template <class D>
concept Dictionary = SizedDictionary<D> || (PlainDictionary<D> && !D::bySize);

/// A dictionary that can be full.
template <class D>
concept BoundedDictionary = Dictionary<D> && requires(const D& still) {
    { still.full() } -> std::same_as<bool>;
};

} // namespace heapwright
