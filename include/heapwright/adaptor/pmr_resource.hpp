// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Any heap as a `std::pmr::memory_resource`.
//
//   PmrResource<RegionHeap<...>> resource;   // contains the heap
//   PmrResource resource(heap);              // refers to a heap
//
// Without memory it throws `std::bad_alloc`. Two resources of the same type are equal if they use
// the same heap. Threads may share it if they may share the heap. The destructor of a contained
// heap frees all memory that containers have not freed.
//
// Cost: a virtual call.
#pragma once

#include <heapwright/adaptor/object_memory.hpp>
#include <heapwright/core/traits.hpp>

#include <cstddef>
#include <memory_resource>
#include <new>
#include <type_traits>

namespace heapwright {

/// `H` is a heap, or a reference to one.
template <class H>
    requires GeneralHeap<std::remove_reference_t<H>>
class PmrResource final : public std::pmr::memory_resource {
    using Target = std::remove_reference_t<H>;

public:
    PmrResource() noexcept
        requires(!std::is_reference_v<H>)
        : heap_() {}
    explicit PmrResource(Target& heap) noexcept
        requires std::is_reference_v<H>
        : heap_(heap) {}
    PmrResource(const PmrResource&) = delete;
    PmrResource& operator=(const PmrResource&) = delete;
    ~PmrResource() override = default;

    /// The heap itself, to clear it, measure it or hold it over a fork.
    [[nodiscard]] Target& heap() noexcept { return heap_; }

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
        const auto* const same = dynamic_cast<const PmrResource*>(&other);
        return same != nullptr && (UniquelyNamedHeap<Target> || &same->heap_ == &heap_);
    }

    H heap_;
};

template <class H>
PmrResource(H& heap) -> PmrResource<H&>;

} // namespace heapwright
