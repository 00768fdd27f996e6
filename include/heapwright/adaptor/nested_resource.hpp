// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A nested heap as a C++ object and as a `std::pmr::memory_resource`. It lives as long as its
// scope, alone or inside another one.
//
//   NestedResource<NestedReap<MallocHeap>> request;          // alone
//   NestedResource<NestedReap<MallocHeap>> query(request);   // inside `request`
//   std::pmr::vector<int> rows(&query);
//   auto* const row = query.make<Row>(1, 2);                 // freed with the query
//
// Clearing one frees all its objects and clears those nested in it, which stay nested. Destroying
// one does the same, and those nested in it then have no parent. No destructors run for the objects
// in it. Containers must not use or free memory from it after that. Without memory, `allocate` and
// `make` throw `std::bad_alloc`, and `malloc` returns null. It is as thread-safe as the heap. Cost:
// a virtual call as a memory resource; otherwise the cost of the heap.
#pragma once

#include <heapwright/adaptor/object_memory.hpp>
#include <heapwright/core/concepts.hpp>

#include <concepts>
#include <cstddef>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>

namespace heapwright {

/// A heap that can be constructed inside another heap of its type (`NestedHeap`).
template <class H>
concept NestableHeap = GeneralHeap<H> && ClearableHeap<H> && requires(H heap) {
    H(heap);
    { heap.parent() } -> std::same_as<H*>;
};

template <NestableHeap H>
class NestedResource final : public std::pmr::memory_resource {
public:
    NestedResource() = default;
    /// Creates a heap nested in `parent`. This is not a copy.
    explicit NestedResource(NestedResource& parent) noexcept : heap_(parent.heap_) {}
    NestedResource(const NestedResource&) = delete;
    NestedResource& operator=(const NestedResource&) = delete;
    ~NestedResource() override = default;

    /// The heap itself, to measure it or to hold it over a fork.
    [[nodiscard]] H& heap() noexcept { return heap_; }

    [[nodiscard]] bool isInside(NestedResource& other) noexcept {
        return heap_.parent() == &other.heap_;
    }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return heap_.malloc(detail::atLeastOne(size));
    }

    /// Frees an object.
    /// Pre: it is null or from this heap.
    void free(void* object) noexcept {
        if (object != nullptr) {
            heap_.free(object);
        }
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept
        requires SizedHeap<H>
    {
        return heap_.getSize(object);
    }

    /// Creates an object by a constructor, or as an aggregate from its members. It needs no
    /// destructor, because none runs when its memory is freed.
    template <class T, class... Arguments>
        requires std::is_trivially_destructible_v<T>
    [[nodiscard]] T* make(Arguments&&... arguments) {
        void* const place = do_allocate(sizeof(T), alignof(T));
        if constexpr (std::constructible_from<T, Arguments...>) {
            return ::new (place) T(std::forward<Arguments>(arguments)...);
        } else {
            return ::new (place) T{std::forward<Arguments>(arguments)...};
        }
    }

    /// Frees all objects of this heap and of those nested in it.
    void clear() noexcept { heap_.clear(); }

private:
    void* do_allocate(std::size_t bytes, std::size_t align) override {
        void* const object = takeObject(heap_, bytes, align);
        if (object == nullptr) [[unlikely]] {
            throw std::bad_alloc();
        }
        return object;
    }

    void do_deallocate(void* object, std::size_t bytes, std::size_t align) override {
        giveObjectBack(heap_, object, bytes, align);
    }

    [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    H heap_;
};

} // namespace heapwright
