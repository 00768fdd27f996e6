// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Which code was rebuilt: the loaded objects that call us at their accesses, which is to be seen in
// what they import.
//
// Invariants: one thread at a time looks; whoever asks sees complete entries. Cost of asking: the
// objects, mostly one.
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

    /// Looks through the loaded objects. What is beyond the most is taken for not rebuilt.
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
