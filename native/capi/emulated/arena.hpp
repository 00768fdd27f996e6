// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The base of the emulated regions and reaps. Every object is one of malloc's. The records and the
// regions themselves are in mapped memory that malloc does not manage. All have a lock, which is a
// plain store in a process with one thread, so a shared reap is like any other.
#pragma once

#include <heapwright/platform/errno_keeper.hpp>

#include <heapwright/allocators/emulated_region.hpp>
#include <heapwright/layers/source/malloc_heap.hpp>

#include <cstddef>
#include <cstdlib>
#include <new>

namespace heapwright::capi::emulated {

/// The process's malloc, and its realloc.
class Objects : private MallocHeap {
public:
    static constexpr std::size_t alignment = MallocHeap::alignment;
    static constexpr bool concurrent = MallocHeap::concurrent;
    static constexpr std::string_view caption = "asks the system's malloc";
    using Below = Heaps<>;

    /// A size of 0 becomes 1, because some mallocs return null for 0.
    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return MallocHeap::malloc(size == 0 ? 1 : size);
    }
    [[nodiscard]] void* zalloc(std::size_t size) noexcept {
        return MallocHeap::zalloc(size == 0 ? 1 : size);
    }
    [[nodiscard]] void* relocate(void* object, std::size_t size) noexcept {
        const platform::ErrnoKeeper keeper;
        return std::realloc(object, size == 0 ? 1 : size);
    }
    using MallocHeap::free;
    using MallocHeap::getSize;
    using MallocHeap::memalign;
};

using Region = LockedHeap<FutexLock, allocators::EmulatedRegion<Objects>>;
using Nested = NestedHeap<Region>;
using Records = allocators::emulated::Records;

/// The handle of an arena: its face, and right behind it the heap, both in the records' memory. The
/// face stays zero, so the inline functions see no memory and call the library for every object.
template <class Face>
class Arena {
    static constexpr std::size_t faceBytes = roundUp(sizeof(Face), minAlignment);
    static_assert(alignof(Nested) <= minAlignment);

public:
    static Nested& heapOf(const Face* face) noexcept {
        return *static_cast<Nested*>(forward(const_cast<Face*>(face), faceBytes));
    }

    static Face* create(Face* parent) noexcept {
        const platform::ErrnoKeeper keeper;
        void* const memory = Records().malloc(faceBytes + sizeof(Nested));
        if (memory == nullptr) {
            return nullptr;
        }
        void* const place = forward(memory, faceBytes);
        if (parent == nullptr) {
            ::new (place) Nested;
        } else {
            static_cast<void>(heapOf(parent).makeChildAt(place, release));
        }
        return ::new (memory) Face{};
    }

    /// Null is ignored.
    static void destroy(Face* face) noexcept {
        if (face == nullptr) {
            return;
        }
        const platform::ErrnoKeeper keeper;
        heapOf(face).~Nested(); // this removes it from its parent
        Records().free(face);
    }

    static void clear(Face* face) noexcept {
        const platform::ErrnoKeeper keeper;
        heapOf(face).clear();
    }

    static Face* parentOf(const Face* face) noexcept {
        Nested* const parent = heapOf(face).parent();
        return parent == nullptr ? nullptr : static_cast<Face*>(faceOf(parent));
    }

    static std::size_t memoryUsed(const Face* face) noexcept {
        MemoryUsage usage;
        heapOf(face).measure(usage);
        return usage.mapped;
    }

private:
    static void* faceOf(Nested* heap) noexcept { return backward(heap, faceBytes); }
    static void release(Nested* heap) noexcept { Records().free(faceOf(heap)); }
};

} // namespace heapwright::capi::emulated
