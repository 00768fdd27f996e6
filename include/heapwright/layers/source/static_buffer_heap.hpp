// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Memory from a buffer inside the heap object, without any system call. It is for programs without
// an operating system, and for code that must work before malloc or without it. It can also be the
// first heap of a `TryHeap`.
//
// A bump pointer moves through the buffer. The newest object can grow, and is reused when it is
// freed; the others when no object is live (structure/area/bump.hpp). Each has a tag of 8 bytes
// before it, so that layers that check or align can be above. Requests return null when the buffer
// is full. A `constinit` buffer is zero at compile time and takes no room in the program's file if
// the rest of the heap is zero too. `zalloc` knows which part was ever used.
// Invariant: objects lie in the buffer, so the heap must not move. A heap on a stack takes as much
// stack.
//
// Example: StaticBufferHeap<1 * MiB>
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/introspection.hpp>
#include <heapwright/structure/area/bump.hpp>
#include <heapwright/structure/object/tag.hpp>

#include <array>
#include <cstddef>
#include <string_view>

namespace heapwright {

template <std::size_t Bytes>
class StaticBufferHeap {
    static_assert(Bytes >= 2 * minAlignment && Bytes % minAlignment == 0);

public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool tagged = true;
    static constexpr Tags writes = Tags::plain;
    /// `resize` usually extends the newest object, with zero bytes.
    static constexpr bool contiguous = true;
    static constexpr std::string_view caption = "gives out a buffer inside itself";
    using Below = Heaps<>;

    constexpr StaticBufferHeap() noexcept = default;
    StaticBufferHeap(const StaticBufferHeap&) = delete;
    StaticBufferHeap& operator=(const StaticBufferHeap&) = delete;
    ~StaticBufferHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept { return bump_.malloc(all(), size); }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept { return bump_.zalloc(all(), size); }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        return bump_.memalign(all(), align, size);
    }

    void free(void* object) noexcept { bump_.free(all(), object); }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return Tag::of(object).size() - Tag::bytes;
    }

    [[nodiscard]] bool resize(void* object, std::size_t size) noexcept {
        return bump_.resize(all(), object, size);
    }

    [[nodiscard]] bool owns(const void* object) const noexcept { return bump_.owns(all(), object); }

    void clear() noexcept { bump_.clear(); }

    /// The whole buffer counts as taken.
    void measure(MemoryUsage& usage) const noexcept {
        usage.mapped += Bytes;
        usage.held += Bytes - bump_.used();
        usage.heldCount += bump_.used() < Bytes ? 1U : 0U;
    }

private:
    [[nodiscard]] Stretch all() const noexcept { return {addressOf(buffer_.data()), Bytes}; }

    alignas(minAlignment) std::array<std::byte, Bytes> buffer_{};
    Bump bump_;
};

static_assert(SizedHeap<StaticBufferHeap<1024>> && TaggedHeap<StaticBufferHeap<1024>>);
static_assert(OwningHeap<StaticBufferHeap<1024>> && ResizableHeap<StaticBufferHeap<1024>>);

} // namespace heapwright
