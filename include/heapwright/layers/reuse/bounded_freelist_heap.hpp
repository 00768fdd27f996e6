// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// What is freed waits on a list, the last in first out, but no more than `Most` objects: the rest
// go below, where they may merge or return to the system. So a burst of frees does not stay with
// the class that it came from. The bound is what the caches of tcmalloc and glibc have per class.
//
// It belongs where every request is for one size; a request for more than the smallest object was
// asked for with goes below, so that none is ever too small. As the list of a size class it
// declines what is beyond the bound (`tryRetain`), so that it goes to the heap which the classes
// share. Its verbs are those of layers/reuse/adapt_heap.hpp, but that none is taken out of its
// turn. Cost: two compares and a count beyond the list's. The layer is from Heap Layers.
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
    /// Of another heap's objects it is not known with what size they were asked for.
    static constexpr bool acceptsForeignObjects = false;
    static constexpr std::string_view caption =
        "keeps a limited number of freed objects for the next requests";
    using Below = Heaps<SuperHeap>;

    constexpr BoundedFreelistHeap() noexcept = default;
    ~BoundedFreelistHeap() = default;

    void remove(void* object) = delete; ///< the list would have to be walked
};

} // namespace heapwright
