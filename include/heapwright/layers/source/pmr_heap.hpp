// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Takes memory from a `std::pmr::memory_resource` that is chosen at run time.
//
// `Resource` is a type with `static std::pmr::memory_resource* get() noexcept`, called on every
// request. `DefaultResource` returns the default of the standard library. The result may change at
// any time, because each object records its resource. Layout: 32 bytes before the object (or its
// alignment, if that is more) hold the resource, the size, the alignment and the tag. An exception
// becomes null. It is for one thread at a time unless there is a lock above.
// Cost: two virtual calls and 32 bytes for each object. As a source it serves chunks.
//
// Example: PmrHeap<DefaultResource>
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
#include <memory_resource>
#include <new>
#include <string_view>

namespace heapwright {

/// The standard library's default: `std::pmr::get_default_resource()`.
struct DefaultResource {
    [[nodiscard]] static std::pmr::memory_resource* get() noexcept {
        return std::pmr::get_default_resource();
    }
};

/// Names a memory resource.
template <class R>
concept NamedResource = requires {
    { R::get() } noexcept;
    requires std::convertible_to<decltype(R::get()), std::pmr::memory_resource*>;
};

template <NamedResource Resource>
class PmrHeap {
    struct Header {
        std::pmr::memory_resource* resource;
        std::size_t bytes; ///< size of the block
        std::size_t lead;  ///< the block's alignment, and the object's offset in it
        Tag tag;
    };
    static constexpr std::size_t header = sizeof(Header);
    static_assert(header == 2 * minAlignment);

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::plain;
    static constexpr bool acceptsForeignObjects = true;
    static constexpr std::string_view caption = "asks a polymorphic memory resource";
    using Below = Heaps<>;

    constexpr PmrHeap() noexcept = default;
    PmrHeap(const PmrHeap&) = delete;
    PmrHeap& operator=(const PmrHeap&) = delete;
    ~PmrHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept { return take(size, header); }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        return take(size, align < header ? header : align);
    }

    void free(void* object) noexcept {
        const Header mark = headerOf(object);
        mapped_ -= mark.bytes;
        mark.resource->deallocate(backward(object, mark.lead), mark.bytes, mark.lead);
    }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return Tag::of(object).size() - Tag::bytes;
    }

    void measure(MemoryUsage& usage) const noexcept { usage.mapped += mapped_; }

private:
    static constexpr std::size_t largest = PTRDIFF_MAX / 2;

    static Header& headerOf(void* object) noexcept {
        return *static_cast<Header*>(backward(object, header));
    }

    /// A block in multiples of 16 with the object at `lead`.
    /// Pre: `lead` is a power of two.
    void* take(std::size_t size, std::size_t lead) noexcept {
        if (size > largest || lead > largest) {
            return nullptr;
        }
        const std::size_t block = roundUp(size + Tag::bytes, minAlignment);
        const std::size_t bytes = lead + block - Tag::bytes;
        std::pmr::memory_resource* const resource = Resource::get();
        void* const memory =
            platform::nullIfThrown([&] { return resource->allocate(bytes, lead); });
        if (memory == nullptr) {
            return nullptr;
        }
        void* const object = forward(memory, lead);
        ::new (backward(object, header)) Header{resource, bytes, lead, Tag(block, State::live)};
        mapped_ += bytes;
        return object;
    }

    std::size_t mapped_ = 0;
};

static_assert(SizedHeap<PmrHeap<DefaultResource>> && AlignedHeap<PmrHeap<DefaultResource>>);
static_assert(TaggedHeap<PmrHeap<DefaultResource>>);

} // namespace heapwright
