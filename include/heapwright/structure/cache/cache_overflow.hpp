// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Policies of a thread's cache: how many objects move at once, and which ones leave a full cache.
//
// `Batches<N>`: an empty list receives up to N objects. A full cache returns up to N objects of the
// freed object's class, then of other classes. `Singles`: a miss takes one object. A full cache
// returns the freed object itself. `Ages<A>`: a miss takes one object. The age of an object is the
// number of later frees of its thread. A full cache returns all objects of age A or more. It halves
// the age until there is room.
//
// Source: `Singles` is the buffer of Hoard 3.8, `Ages` the cache of nedmalloc.
#pragma once

#include <heapwright/structure/cache/cached_object.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>

namespace heapwright {

template <class O>
concept CacheOverflow = requires {
    { O::batch } -> std::convertible_to<std::size_t>;
    { O::age } -> std::convertible_to<std::uint32_t>;
};

template <std::size_t Most>
struct Batches {
    static_assert(Most >= 1);
    static constexpr std::size_t batch = Most;
    static constexpr std::uint32_t age = 0; ///< objects have no age
};

struct Singles {
    static constexpr std::size_t batch = 1;
    static constexpr std::uint32_t age = 0;
};

template <std::uint32_t First>
struct Ages {
    static_assert(First >= 1);
    static constexpr std::size_t batch = 1;
    static constexpr std::uint32_t age = First;
};

/// A waiting object that stores at which free of its thread it came.
struct AgedObject : CachedObject {
    std::uint64_t frees;

    /// Writes the third word of an object that does not wait yet.
    static void stamp(void* object, std::uint32_t frees) noexcept {
        static_cast<AgedObject*>(object)->frees = frees;
    }
    /// Not checked by AddressSanitizer, because a waiting object is poisoned.
    [[nodiscard, gnu::no_sanitize_address]] static std::uint32_t
    stampOf(const ObjectLink* object) noexcept {
        return static_cast<std::uint32_t>(static_cast<const AgedObject*>(object)->frees);
    }
};

} // namespace heapwright
