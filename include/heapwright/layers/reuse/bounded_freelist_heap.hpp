// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Freed objects wait on a list, last in, first out, but at most `Most` objects. The rest go below,
// where they may merge or return to the system. A burst of frees thus does not stay with its class.
//
// Use it where every request has one size. A request larger than the smallest request so far goes
// below, so that no object is too small. As the list of a size class, it declines objects beyond
// the bound (`tryRetain`), so that they go to the heap that the classes share. With `Most` zero it
// keeps nothing. Its verbs are those of layers/reuse/adapt_heap.hpp, without `remove`.
// Cost: two compares and a counter more than a plain list.
// Source: tcmalloc and glibc bound their caches per class like this; the layer is from Heap Layers.
//
// Example: BoundedFreelistHeap<64, SizeHeap<MmapHeap>>
#pragma once

#include <heapwright/core/describe.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/layers/reuse/adapt_heap.hpp>
#include <heapwright/structure/list/bounded_list.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <std::size_t Most, AnyOrderHeap SuperHeap>
class BoundedFreelistHeap : public AdaptHeap<BoundedList<Most>, SuperHeap> {
public:
    static constexpr bool uniform = uniformHeap<SuperHeap>;
    /// The requested sizes of another heap's objects are unknown.
    static constexpr bool acceptsForeignObjects = false;
    static constexpr std::string_view caption =
        "keeps a limited number of freed objects for the next requests";
    using Below = Heaps<SuperHeap>;

    constexpr BoundedFreelistHeap() noexcept = default;
    ~BoundedFreelistHeap() = default;

    void remove(void* object) = delete; ///< it would have to search the list
};

} // namespace heapwright
