// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Finds the rebuilt code: the loaded objects that import this library's access functions.
//
// Invariant: one thread at a time scans. A reader sees complete entries. Cost of a query: linear in
// the objects, mostly one.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

struct dl_phdr_info;

namespace heapwright::drag {

class Rebuilt {
public:
    [[nodiscard]] bool has(std::uintptr_t code) const noexcept {
        const std::size_t count = count_.load(std::memory_order_acquire);
        return std::any_of(objects_.begin(), objects_.begin() + count,
                           [code](const Object& each) { return code - each.begin < each.size; });
    }

    /// Scans the loaded objects. Objects beyond the maximum count as not rebuilt.
    void look() noexcept;

private:
    static constexpr std::size_t most = 256;

    struct Object {
        std::uintptr_t begin;
        std::uintptr_t size;
    };

    static int add(dl_phdr_info* object, std::size_t, void* self) noexcept;

    std::array<Object, most> objects_{};
    std::atomic<std::size_t> count_{0};
};

} // namespace heapwright::drag
