// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Any heap as a standard allocator, for containers with an allocator parameter.
//
//   std::vector<int, StdAllocator<int, Heap>> numbers(heap);        // refers to a heap
//   std::vector<int, StdAllocator<int, UniqueHeap<Mine, ...>>> all; // its type names the heap
//
// The first kind holds a pointer. A move or swap of a container moves the pointer with the memory;
// a copy assignment does not. The second kind has no state, so that any two are equal.
// Pre: the heap outlives the containers. Threads may share it if they may share the heap.
// Cost: that of the heap.
#pragma once

#include <heapwright/adaptor/object_memory.hpp>
#include <heapwright/core/traits.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <type_traits>

namespace heapwright {

namespace detail {

/// Allocates `count` objects of type `T` and throws `std::bad_alloc` if there is no memory.
template <class T, class H>
[[nodiscard]] T* allocateObjects(H& heap, std::size_t count) {
    if (count > PTRDIFF_MAX / sizeof(T)) {
        throw std::bad_array_new_length();
    }
    void* const objects = takeObject(heap, count * sizeof(T), alignof(T));
    if (objects == nullptr) [[unlikely]] {
        throw std::bad_alloc();
    }
    return static_cast<T*>(objects);
}

} // namespace detail

/// The kind that refers to a heap.
template <class T, class H>
class StdAllocator {
    static_assert(GeneralHeap<H>);

public:
    using value_type = T;
    using propagate_on_container_copy_assignment = std::false_type;
    using propagate_on_container_move_assignment = std::true_type;
    using propagate_on_container_swap = std::true_type;
    using is_always_equal = std::false_type;

    /// Implicit, so that a container can be constructed from a heap.
    StdAllocator(H& heap) noexcept : heap_(&heap) {} // NOLINT(google-explicit-constructor)
    template <class U>
    StdAllocator(const StdAllocator<U, H>& other) noexcept // NOLINT(google-explicit-constructor)
        : heap_(&other.heap()) {}

    [[nodiscard]] T* allocate(std::size_t count) {
        return detail::allocateObjects<T>(*heap_, count);
    }
    void deallocate(T* objects, std::size_t count) noexcept {
        giveObjectBack(*heap_, objects, count * sizeof(T), alignof(T));
    }

    [[nodiscard]] H& heap() const noexcept { return *heap_; }

    template <class U>
    [[nodiscard]] bool operator==(const StdAllocator<U, H>& other) const noexcept {
        return heap_ == &other.heap();
    }

private:
    H* heap_;
};

/// The kind whose type names the heap.
template <class T, UniquelyNamedHeap H>
class StdAllocator<T, H> {
    static_assert(GeneralHeap<H>);

public:
    using value_type = T;
    using propagate_on_container_move_assignment = std::true_type;
    using is_always_equal = std::true_type;

    constexpr StdAllocator() noexcept = default;
    template <class U>
    constexpr StdAllocator(const StdAllocator<U, H>& /*other*/) noexcept {} // NOLINT

    [[nodiscard]] T* allocate(std::size_t count) {
        H heap;
        return detail::allocateObjects<T>(heap, count);
    }
    void deallocate(T* objects, std::size_t count) noexcept {
        H heap;
        giveObjectBack(heap, objects, count * sizeof(T), alignof(T));
    }

    template <class U>
    [[nodiscard]] constexpr bool operator==(const StdAllocator<U, H>& /*other*/) const noexcept {
        return true;
    }
};

} // namespace heapwright
