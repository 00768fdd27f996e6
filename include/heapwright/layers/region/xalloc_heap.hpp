// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One area of `Size` bytes, in which a new object always follows the last one in use. Freeing the
// last object moves the pointer back over all dead objects before it. An object freed in the middle
// stays until then. It suits stack-like programs. A program that never frees its last object never
// gets memory back.
//
// The first request takes the area from below. When it is full, malloc returns null.
// Cost: 8 bytes for each object, and a few instructions.
// Source: the custom allocator of 197.parser; the layer is from Heap Layers (Berger, 2002, 4.2.1).
//
// Example: XallocHeap<16 * MiB, MmapHeap>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/core/traits.hpp>
#include <heapwright/structure/area/xalloc_area.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

template <std::size_t Size, MaxAlignedHeap SuperHeap>
class XallocHeap : private SuperHeap {
    static_assert(Size >= XallocArea::least);

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool uniform = false;         ///< only the area has one size
    static constexpr bool stackDiscipline = false; ///< an object freed in the middle stays
    static constexpr std::string_view caption = "goes on after the last object in use, in one area";
    using Below = Heaps<SuperHeap>;

    constexpr XallocHeap() noexcept = default;
    ~XallocHeap() { clear(); }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        void* const object = area_.malloc(size);
        if (object != nullptr) [[likely]] {
            return object;
        }
        return begin(size, *this);
    }

    void free(void* object) noexcept { area_.free(object); }

    /// Only the last object in use can grow or shrink.
    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        return area_.resize(object, size);
    }

    /// Frees all objects and the area.
    void clear() noexcept {
        if constexpr (ClearableHeap<SuperHeap>) {
            SuperHeap::clear();
        } else if (area_.memory() != nullptr) {
            SuperHeap::free(area_.memory());
        }
        area_ = XallocArea();
    }

    [[nodiscard]] bool owns(const void* object) const noexcept { return area_.owns(object); }

    void measure(MemoryUsage& usage) noexcept
        requires MeasurableHeap<SuperHeap>
    {
        SuperHeap::measure(usage);
        if (area_.memory() != nullptr) {
            usage.held += Size - area_.used();
            ++usage.heldCount;
        }
    }

private:
    /// The first request takes the area. Later calls find it full. Out of line and static, so that
    /// `malloc` needs no stack frame.
    [[gnu::cold, gnu::noinline]] static void* begin(std::size_t size, XallocHeap& heap) noexcept {
        if (heap.area_.memory() != nullptr) {
            return nullptr;
        }
        void* const memory = static_cast<SuperHeap&>(heap).malloc(Size);
        if (memory == nullptr) {
            return nullptr;
        }
        heap.area_.adopt(memory, Size);
        return heap.area_.malloc(size);
    }

    XallocArea area_;
};

} // namespace heapwright
