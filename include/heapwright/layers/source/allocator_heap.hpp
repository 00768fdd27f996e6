// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes memory from any standard allocator: `std::allocator<T>`, one of a library, or one of the
// program. Its `T` does not matter, because it is rebound to units of 16 bytes.
//
// The allocator needs the size of a block on deallocation. The 16 bytes before the object hold the
// number of units and the tag. An exception becomes null. The heap default-constructs its
// allocator. Each heap has its own, with its state.
// Cost: that of the allocator, and 16 bytes for each object.
//
// Example: AllocatorHeap<std::allocator<std::byte>>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/platform/exceptions.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>

namespace heapwright {

/// A default-constructible allocator of the standard library's kind.
template <class A>
concept DefaultAllocator = std::default_initializable<A> && requires(A allocator, std::size_t n) {
    typename A::value_type;
    allocator.deallocate(allocator.allocate(n), n);
};

template <DefaultAllocator Allocator>
class AllocatorHeap {
    struct alignas(minAlignment) Unit {
        std::byte bytes[minAlignment];
    };
    using Units = typename std::allocator_traits<Allocator>::template rebind_alloc<Unit>;
    using Traits = std::allocator_traits<Units>;
    using Pointer = typename Traits::pointer;

    /// One unit, before the object.
    struct Header {
        std::size_t units;
        Tag tag;
    };
    static_assert(sizeof(Header) == sizeof(Unit));

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::plain;
    static constexpr bool acceptsForeignObjects = Traits::is_always_equal::value;
    static constexpr std::string_view caption = "asks a standard allocator";
    using Below = Heaps<>;

    constexpr AllocatorHeap() noexcept = default;
    AllocatorHeap(const AllocatorHeap&) = delete;
    AllocatorHeap& operator=(const AllocatorHeap&) = delete;
    ~AllocatorHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        if (size > PTRDIFF_MAX - 2 * minAlignment) {
            return nullptr;
        }
        // `block` is the tag and the object in multiples of 16. The first word of the header is one
        // more unit.
        const std::size_t block = roundUp(size + Tag::bytes, minAlignment);
        const std::size_t units = block / minAlignment + 1;
        Unit* const first =
            platform::nullIfThrown([&] { return std::to_address(allocate(units)); });
        if (first == nullptr) {
            return nullptr;
        }
        mapped_ += units * minAlignment;
        return forward(::new (static_cast<void*>(first)) Header{units, Tag(block, State::live)},
                       sizeof(Header));
    }

    void free(void* object) noexcept {
        void* const memory = backward(object, sizeof(Header));
        const std::size_t units = static_cast<Header*>(memory)->units;
        Unit* const first = ::new (memory) Unit;
        mapped_ -= units * minAlignment;
        Traits::deallocate(allocator_, std::pointer_traits<Pointer>::pointer_to(*first), units);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return Tag::of(object).size() - Tag::bytes;
    }

    void measure(MemoryUsage& usage) const noexcept { usage.mapped += mapped_; }

private:
    Pointer allocate(std::size_t units) { return Traits::allocate(allocator_, units); }

    [[no_unique_address]] Units allocator_;
    std::size_t mapped_ = 0;
};

static_assert(SizedHeap<AllocatorHeap<std::allocator<std::byte>>>);
static_assert(TaggedHeap<AllocatorHeap<std::allocator<std::byte>>>);

} // namespace heapwright
