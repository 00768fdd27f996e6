// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// The system's own malloc and free as a heap, to put layers over it or to compare with it. It
// cannot be the source of an allocator that replaces malloc.
//
// Example: MallocHeap
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>
#include <heapwright/core/requests.hpp>
#include <heapwright/platform/errno_keeper.hpp>

#include <cstddef>
#include <cstdlib>
#include <malloc.h>
#include <string_view>

namespace heapwright {

class MallocHeap {
public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool concurrent = true;
    static constexpr bool acceptsForeignObjects = true;
    static constexpr std::string_view caption = "asks the system's malloc";
    using Below = Heaps<>;

    constexpr MallocHeap() noexcept = default;
    MallocHeap(const MallocHeap&) = delete;
    MallocHeap& operator=(const MallocHeap&) = delete;
    ~MallocHeap() = default;

    [[nodiscard]] void* malloc(std::size_t size) noexcept {
        const platform::ErrnoKeeper keeper;
        return std::malloc(size);
    }

    [[nodiscard]] void* zalloc(std::size_t size) noexcept {
        const platform::ErrnoKeeper keeper;
        return std::calloc(1, size);
    }

    [[nodiscard]] void* memalign(std::size_t align, std::size_t size) noexcept {
        void* object = nullptr;
        const std::size_t least = align < alignment ? alignment : align;
        return ::posix_memalign(&object, least, size) == 0 ? object : nullptr;
    }

    void free(void* object) noexcept { std::free(object); }

    [[nodiscard]] std::size_t getSize(void* object) noexcept {
        return ::malloc_usable_size(object);
    }
};

static_assert(SizedHeap<MallocHeap> && AlignedHeap<MallocHeap> && ZeroingHeap<MallocHeap>);

} // namespace heapwright
