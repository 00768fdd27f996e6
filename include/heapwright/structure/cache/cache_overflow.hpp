// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Policies of a thread's cache: how many objects move at once, which ones leave a full cache, and
// which ones it may keep.
//
// `Batches<N>`: an empty list receives up to N objects. A full cache returns up to N objects of the
// freed object's class, then of other classes. `Singles`: a miss takes one object. A full cache
// returns the freed object itself. `Ages<A>`: a miss takes one object. The age of an object is the
// number of later frees of its thread. A full cache returns all objects of age A or more. It halves
// the age until there is room. `SlowStart<B, N>`: the first miss of a class takes B bytes of
// objects, at least one object. Each later miss takes one more object, up to N. A full cache
// returns objects as with `Batches<N>`. `OwnArena<B, P>`: as the policy P, with one more condition
// for objects below B bytes. The cache keeps such an object only if it is of the heap that serves
// the thread now (`HomeHeap`).
//
// With B of a cache line, the last two are the remedies of Fischer 2018 against false sharing. The
// first fetch of `SlowStart` then fills whole lines if the class divides a line. Later fetches may
// end inside a line.
//
// Source: `Singles` is the buffer of Hoard 3.8, `Ages` the cache of nedmalloc. `SlowStart<1, N>` is
// the fetch of TCMalloc.
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
    { O::firstBytes } -> std::convertible_to<std::size_t>;
    { O::ownBelow } -> std::convertible_to<std::size_t>;
};

struct Singles {
    static constexpr std::size_t batch = 1;
    static constexpr std::uint32_t age = 0;      ///< 0: objects have no age
    static constexpr std::size_t firstBytes = 0; ///< bytes of the first fetch; 0: no slow start
    static constexpr std::size_t ownBelow = 0;   ///< 0: objects of any arena are kept
};

template <std::size_t Most>
struct Batches : Singles {
    static_assert(Most >= 1);
    static constexpr std::size_t batch = Most;
};

template <std::uint32_t First>
struct Ages : Singles {
    static_assert(First >= 1);
    static constexpr std::uint32_t age = First;
};

template <std::size_t FirstBytes, std::size_t Most>
struct SlowStart : Batches<Most> {
    static_assert(FirstBytes >= 1);
    static constexpr std::size_t firstBytes = FirstBytes;
};

template <std::size_t Below, CacheOverflow Overflow>
struct OwnArena : Overflow {
    static_assert(Below >= 1);
    static constexpr std::size_t ownBelow = Below;
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
