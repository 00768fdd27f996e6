// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// A set of numbered slots. Each slot is free or has one owner, a number other than 0.
//
// Invariant: a new owner sees all writes that the previous owner made before it released the slot.
// Cost: a claim reads each slot below the claimed one, and does one compare-and-swap.
#pragma once

#include <heapwright/sync/shared_word.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace heapwright {

template <std::size_t Count>
class SlotSet {
public:
    static constexpr std::uint32_t none = 0xFFFFFFFEU;

    constexpr SlotSet() noexcept = default;

    /// Claims the smallest free slot; `none` if all are taken.
    [[nodiscard]] std::uint32_t claim(std::uint32_t tenant) noexcept {
        return claim(tenant, [](std::uint32_t before) { return before == 0; });
    }

    /// Claims the smallest slot that is free, or whose owner has ended without releasing it.
    template <class IsGone>
    [[nodiscard]] std::uint32_t inherit(std::uint32_t tenant, IsGone isGone) noexcept {
        return claim(tenant,
                     [isGone](std::uint32_t before) { return before == 0 || isGone(before); });
    }

    void release(std::uint32_t slot) noexcept {
        tenants_[slot].store(0, std::memory_order_release);
    }

    /// Frees all slots except those of `tenant`, which get the owner `now`.
    /// Pre: no other thread uses the set.
    void keepOnly(std::uint32_t tenant, std::uint32_t now) noexcept {
        for (SharedWord<std::uint32_t>& place : tenants_) {
            const std::uint32_t one = place.load(std::memory_order_relaxed);
            if (one != 0) {
                place.store(one == tenant ? now : 0, std::memory_order_relaxed);
            }
        }
    }

private:
    template <class MayMoveIn>
    std::uint32_t claim(std::uint32_t tenant, MayMoveIn mayMoveIn) noexcept {
        for (std::uint32_t slot = 0; slot < Count; ++slot) {
            std::uint32_t before = tenants_[slot].load(std::memory_order_relaxed);
            if (mayMoveIn(before) &&
                tenants_[slot].compareExchange(before, tenant, std::memory_order_acquire,
                                               std::memory_order_relaxed)) {
                return slot;
            }
        }
        return none;
    }

    std::array<SharedWord<std::uint32_t>, Count> tenants_{};
};

} // namespace heapwright
