// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// One stretch of `Bytes` bytes, which a heap takes once. Any thread and any signal handler may ask
// at any time whether an address lies in it.
// Cost: a load, a subtraction and a compare.
#pragma once

#include <heapwright/core/address.hpp>

#include <atomic>
#include <cstddef>

namespace heapwright {

template <std::size_t Bytes>
class KnownArea {
public:
    static constexpr std::size_t bytes = Bytes;

    /// False for null, too.
    [[nodiscard]] bool has(const void* object) const noexcept {
        return addressOf(object) - begin() < Bytes;
    }

    [[nodiscard]] bool isTaken() const noexcept { return begin() != none; }
    /// Pre: it is taken.
    [[nodiscard]] Address begin() const noexcept { return begin_.load(std::memory_order_relaxed); }

    void take(void* memory) noexcept { begin_.store(addressOf(memory), std::memory_order_relaxed); }

private:
    /// No address of a program is within `Bytes` behind this one.
    static constexpr Address none = Address{1} << 63U;

    std::atomic<Address> begin_{none};
};

} // namespace heapwright
