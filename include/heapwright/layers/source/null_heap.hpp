// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Never has memory. Use it below a list that only serves what was freed to it.
//
// Example: NullHeap
#pragma once

#include <heapwright/core/address.hpp>
#include <heapwright/core/concepts.hpp>
#include <heapwright/core/describe.hpp>

#include <cstddef>
#include <string_view>

namespace heapwright {

class NullHeap {
public:
    static constexpr std::size_t alignment = minAlignment;
    static constexpr bool concurrent = true;
    static constexpr bool acceptsForeignObjects = true;
    static constexpr bool memoryless = true;
    static constexpr std::string_view caption = "never has memory";
    using Below = Heaps<>;

    constexpr NullHeap() noexcept = default;
    NullHeap(const NullHeap&) = delete;
    NullHeap& operator=(const NullHeap&) = delete;
    ~NullHeap() = default;

    [[nodiscard]] void* malloc(std::size_t /*size*/) noexcept { return nullptr; }
    void free(void* /*object*/) noexcept {}
    void clear() noexcept {}
};

static_assert(ClearableHeap<NullHeap>);

} // namespace heapwright
