// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A nested heap as an object of a C++ program, and as a `std::pmr::memory_resource`: it lives as
// long as its scope, alone or inside another.
//
//   NestedResource<NestedReap<MallocHeap>> request;          // by itself
//   NestedResource<NestedReap<MallocHeap>> query(request);   // inside it
//   std::pmr::vector<int> rows(&query);
//   auto* const row = query.make<Row>(1, 2);                 // goes with the query
//
// Clearing or destroying one frees all that is in it and clears those inside. Such a one is then by
// itself, as long as its own scope lasts. Nobody runs the destructors of what is in it; memory that
// containers hold in it must not be used after that, nor given back. Where there is no memory,
// `allocate` and `make` throw `std::bad_alloc`, `malloc` answers null. It is for as many threads as
// the heap. Cost: as a memory resource the virtual call, otherwise that of the heap.
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

/// A heap of which one can be made inside another (`NestedHeap`).
template <class H>
concept NestableHeap = GeneralHeap<H> && ClearableHeap<H> && requires(H heap) {
    H(heap);
    { heap.parent() } -> std::same_as<H*>;
};

template <NestableHeap H>
class NestedResource final : public std::pmr::memory_resource {
public:
    NestedResource() = default;
    /// Inside `parent`; not a copy.
    explicit NestedResource(NestedResource& parent) noexcept : heap_(parent.heap_) {}
    NestedResource(const NestedResource&) = delete;
    NestedResource& operator=(const NestedResource&) = delete;
    ~NestedResource() override = default;

    /// The heap itself: to measure, to hold still over a fork.
    [[nodiscard]] H& heap() noexcept { return heap_; }

    [[nodiscard]] bool isInside(NestedResource& other) noexcept {
        return heap_.parent() == &other.heap_;
    }

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        return heap_.malloc(detail::atLeastOne(size));
    }

    /// Of this very one; null is nothing.
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

    /// An object that needs no destructor: it ends when its memory goes. Made by a constructor, or
    /// as an aggregate from its parts.
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

    /// Frees all that is in it, and in those inside.
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
