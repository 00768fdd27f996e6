// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Throws `std::bad_alloc` when the heap below returns null. It is for C++ code that uses a heap
// directly and does not handle a lack of memory at the call.
//
// `resize` and `relocate` still report failure in their result, because callers expect it. A heap
// does not throw, so the layer is no `Heap`, and no layer can be above it: it is the top of a
// composition.
// Cost: a compare for each request.
//
// Example: ThrowExceptionHeap<MmapHeap>
#pragma once

#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/platform/exceptions.hpp>
#include <heapwright/structure/forwarding.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <Heap SuperHeap>
class ThrowExceptionHeap : private Forwarding<SuperHeap> {
    using Forwards = Forwarding<SuperHeap>;

public:
    static constexpr std::size_t alignment = SuperHeap::alignment;
    static constexpr std::size_t alignmentOffset = alignmentOffsetOf<SuperHeap>;
    static constexpr std::string_view caption = "throws an exception when there is no memory";
    using Below = Heaps<SuperHeap>;

    [[nodiscard]] void* malloc(std::size_t size) { return orThrow(SuperHeap::malloc(size)); }

    [[nodiscard]] void* zalloc(std::size_t size)
        requires ZeroingHeap<SuperHeap>
    {
        return orThrow(SuperHeap::zalloc(size));
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size)
        requires AlignedHeap<SuperHeap>
    {
        return orThrow(SuperHeap::memalign(align, size));
    }

    void free(void* object) noexcept { SuperHeap::free(object); }

    using Forwards::afterForkInChild;
    using Forwards::afterForkInParent;
    using Forwards::beforeFork;
    using Forwards::clear;
    using Forwards::flush;
    using Forwards::free;
    using Forwards::getSize;
    using Forwards::measure;
    using Forwards::owns;
    using Forwards::relocate;
    using Forwards::resize;
    using Forwards::trim;

private:
    static void* orThrow(void* object) {
        if (object == nullptr) [[unlikely]] {
            platform::throwBadAlloc();
        }
        return object;
    }
};

} // namespace heapwright
