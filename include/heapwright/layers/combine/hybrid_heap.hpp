// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Requests up to `Limit` bytes go to one heap, larger ones to another. The size of an object
// determines which heap frees it.
//
// Both heaps tag their objects, and the size is read from the tag.
// Invariant: an object from `Small` is never larger than `Limit`. If `Small` rounds a request
// beyond, the object is freed at once and the superheap serves the request.
// Cost: one compare for each request.
//
// Example: HybridHeap<1 * KiB, SizeHeap<ChunkHeap<64 * KiB, 8, MmapHeap>>, MmapHeap>
#pragma once

#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace heapwright {

template <std::size_t Limit, TaggedHeap Small, TaggedHeap SuperHeap>
class HybridHeap : private SuperHeap {
public:
    static constexpr std::size_t alignment = std::min(Small::alignment, SuperHeap::alignment);
    static constexpr bool tagged = true;
    static constexpr bool concurrent = ConcurrentHeap<Small> && ConcurrentHeap<SuperHeap>;
    static constexpr bool acceptsForeignObjects =
        ForeignFreeHeap<Small> && ForeignFreeHeap<SuperHeap>;
    static constexpr std::string_view caption = "one heap for small objects, another for large";
    using Below = Heaps<Small, SuperHeap>;

    constexpr HybridHeap() noexcept = default;
    ~HybridHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        if (size <= Limit) {
            void* const object = small_.malloc(size);
            if (object == nullptr || isSmall(object)) [[likely]] {
                return object;
            }
            small_.free(object);
        }
        return large(size);
    }

    void free(void* object) noexcept {
        if (isSmall(object)) {
            small_.free(object);
        } else {
            SuperHeap::free(object);
        }
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return isSmall(object) ? small_.getSize(object) : SuperHeap::getSize(object);
    }

    void clear() noexcept
        requires ClearableHeap<Small> && ClearableHeap<SuperHeap>
    {
        small_.clear();
        SuperHeap::clear();
    }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<Small> && MeasurableHeap<SuperHeap>
    {
        small_.measure(usage);
        SuperHeap::measure(usage);
    }

    [[nodiscard]] bool owns(const void* object) noexcept
        requires OwningHeap<Small> && OwningHeap<SuperHeap>
    {
        return small_.owns(object) || SuperHeap::owns(object);
    }

private:
    static bool isSmall(void* object) noexcept {
        return Tag::of(object).size() <= Limit + Tag::bytes;
    }

    /// An object from the superheap. It is larger than `Limit` even if the request is not.
    void* large(std::size_t size) noexcept {
        return SuperHeap::malloc(size <= Limit ? Limit + 1 : size);
    }

    Small small_;
};

} // namespace heapwright
