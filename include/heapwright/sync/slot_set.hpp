// SPDX-FileCopyrightText: The Heapwright authors
// SPDX-License-Identifier: Apache-2.0
//
// Numbered places, each of which has one tenant at most, who is a number and not 0.
//
// Who moves into a place sees all that the tenant before it did before moving out. Cost of a claim:
// a look at each place below the one that is given out, and one compare-and-swap.
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

    /// The smallest free place, which is the tenant's from now on; `none` if there is none.
    [[nodiscard]] std::uint32_t claim(std::uint32_t tenant) noexcept {
        return claim(tenant, [](std::uint32_t before) { return before == 0; });
    }

    /// The smallest place whose tenant has gone without leaving it.
    template <class IsGone>
    [[nodiscard]] std::uint32_t inherit(std::uint32_t tenant, IsGone isGone) noexcept {
        return claim(tenant,
                     [isGone](std::uint32_t before) { return before == 0 || isGone(before); });
    }

    void release(std::uint32_t slot) noexcept {
        tenants_[slot].store(0, std::memory_order_release);
    }

    /// Frees all places but those of one tenant, who has a new number. Pre: nobody else is here.
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
